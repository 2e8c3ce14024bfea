//! Recorded commands: arguments, templates, order, dead handles.

use super::super::{Command, DescriptorValue, MemoryBarrier, NoopDesc};
use super::Context;
use ash::vk::{self, Handle};

/// A slot of an update template's data, as the engine lays it out: 24 bytes, any kind of descriptor.
#[repr(C)]
#[derive(Clone, Copy)]
union Slot {
    image: vk::DescriptorImageInfo,
    buffer: vk::DescriptorBufferInfo,
}

#[test]
fn barriers_pushes_and_work_are_kept_with_their_arguments() {
    let context = Context::new(NoopDesc::default());
    let (buffer, memory) = context.buffer(4096);
    let device = &context.device;
    // SAFETY: all valid.
    let layout = unsafe {
        let ranges = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::COMPUTE,
            offset: 0,
            size: 8,
        }];
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&ranges);
        device.create_pipeline_layout(&info, None).unwrap()
    };
    // SAFETY: all valid.
    let commands = context.record(|commands| unsafe {
        let barrier = vk::MemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER)
            .src_access_mask(vk::AccessFlags2::SHADER_STORAGE_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::DRAW_INDIRECT)
            .dst_access_mask(vk::AccessFlags2::INDIRECT_COMMAND_READ);
        let barriers = [barrier];
        device.cmd_pipeline_barrier2(
            commands,
            &vk::DependencyInfo::default().memory_barriers(&barriers),
        );
        device.cmd_push_constants(
            commands,
            layout,
            vk::ShaderStageFlags::COMPUTE,
            4,
            &[1, 2, 3, 4],
        );
        device.cmd_fill_buffer(commands, buffer, 16, 32, 0xffff_ffff);
        device.cmd_dispatch(commands, 3, 2, 1);
        device.cmd_dispatch_indirect(commands, buffer, 64);
    });
    context.submit(commands, None);
    let submissions = context.driver.take_submissions();
    assert_eq!(
        (submissions.len(), context.driver.submissions().len()),
        (1, 0)
    );
    assert_eq!(submissions[0].buffers[0].handle, commands);
    assert_eq!(
        (submissions[0].queue, submissions[0].family),
        (context.queue, 0)
    );
    let list: Vec<&Command> = submissions[0].commands().collect();
    assert_eq!(list.len(), 5);
    assert_eq!(context.driver.commands(commands).len(), 5);
    let Command::PipelineBarrier(dependency) = list[0] else {
        panic!("{:?}", list[0])
    };
    let expected = MemoryBarrier {
        src_stages: vk::PipelineStageFlags2::COMPUTE_SHADER,
        src_access: vk::AccessFlags2::SHADER_STORAGE_WRITE,
        dst_stages: vk::PipelineStageFlags2::DRAW_INDIRECT,
        dst_access: vk::AccessFlags2::INDIRECT_COMMAND_READ,
    };
    assert_eq!(
        (dependency.memory.as_slice(), dependency.images.len()),
        ([expected].as_slice(), 0)
    );
    let pushed =
        matches!(list[1], Command::PushConstants { offset: 4, data, .. } if *data == [1, 2, 3, 4]);
    let filled = matches!(
        list[2],
        Command::FillBuffer {
            offset: 16,
            size: 32,
            data: 0xffff_ffff,
            ..
        }
    );
    assert!(pushed && filled, "{list:?}");
    assert!(matches!(
        list[3],
        Command::Dispatch {
            base: [0, 0, 0],
            groups: [3, 2, 1]
        }
    ));
    assert!(matches!(
        list[4],
        Command::DispatchIndirect { offset: 64, .. }
    ));
    // SAFETY: all valid.
    unsafe {
        device.destroy_pipeline_layout(layout, None);
        device.destroy_buffer(buffer, None);
        device.free_memory(memory, None);
    }
    context.end_clean();
}

#[test]
fn a_template_is_read_by_its_entries() {
    let context = Context::new(NoopDesc::default());
    let device = &context.device;
    let push = ash::khr::push_descriptor::Device::new(&context.instance, device);
    let (buffer, memory) = context.buffer(4096);
    // SAFETY: all valid.
    unsafe {
        let sampler = device
            .create_sampler(&vk::SamplerCreateInfo::default(), None)
            .unwrap();
        let binding = |binding, kind, count| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(kind)
                .descriptor_count(count)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        };
        let bindings = [
            binding(0, vk::DescriptorType::STORAGE_BUFFER, 1),
            binding(3, vk::DescriptorType::SAMPLER, 2),
        ];
        let info = vk::DescriptorSetLayoutCreateInfo::default()
            .flags(vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR)
            .bindings(&bindings);
        let set_layout = device.create_descriptor_set_layout(&info, None).unwrap();
        let set_layouts = [set_layout];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
        let layout = device.create_pipeline_layout(&info, None).unwrap();
        let size = size_of::<Slot>();
        assert_eq!(size, 24);
        let entry = |slot: usize, binding: &vk::DescriptorSetLayoutBinding<'_>| {
            vk::DescriptorUpdateTemplateEntry {
                dst_binding: binding.binding,
                dst_array_element: 0,
                descriptor_count: binding.descriptor_count,
                descriptor_type: binding.descriptor_type,
                offset: slot * size,
                stride: size,
            }
        };
        let entries = [entry(0, &bindings[0]), entry(1, &bindings[1])];
        let info = vk::DescriptorUpdateTemplateCreateInfo::default()
            .descriptor_update_entries(&entries)
            .template_type(vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR)
            .pipeline_bind_point(vk::PipelineBindPoint::COMPUTE)
            .pipeline_layout(layout)
            .set(0);
        let template = device
            .create_descriptor_update_template(&info, None)
            .unwrap();
        // The members of an image info that a sampler does not use may be garbage.
        let garbage = vk::ImageView::from_raw(0xdead);
        let sampler_slot = Slot {
            image: vk::DescriptorImageInfo {
                sampler,
                image_view: garbage,
                ..Default::default()
            },
        };
        let data = [
            Slot {
                buffer: vk::DescriptorBufferInfo {
                    buffer,
                    offset: 256,
                    range: 512,
                },
            },
            sampler_slot,
            sampler_slot,
        ];
        let commands = context.record(|commands| {
            push.cmd_push_descriptor_set_with_template(
                commands,
                template,
                layout,
                0,
                data.as_ptr().cast(),
            );
        });
        let list = context.driver.commands(commands);
        let Command::PushDescriptorSetWithTemplate {
            writes,
            set: 0,
            bind_point,
            ..
        } = &list[0]
        else {
            panic!("{list:?}")
        };
        assert_eq!(*bind_point, vk::PipelineBindPoint::COMPUTE);
        let places: Vec<_> = writes
            .iter()
            .map(|write| (write.binding, write.element))
            .collect();
        assert_eq!(places, [(0, 0), (3, 0), (3, 1)]);
        let DescriptorValue::Buffer(first) = &writes[0].value else {
            panic!("{writes:?}")
        };
        assert_eq!(
            (first.buffer, first.offset, first.range),
            (buffer, 256, 512)
        );
        let DescriptorValue::Image(last) = &writes[2].value else {
            panic!("{writes:?}")
        };
        assert_eq!(last.sampler, sampler);
        device.destroy_descriptor_update_template(template, None);
        device.destroy_pipeline_layout(layout, None);
        device.destroy_descriptor_set_layout(set_layout, None);
        device.destroy_sampler(sampler, None);
        device.destroy_buffer(buffer, None);
        device.free_memory(memory, None);
    }
    context.end_clean();
}

#[test]
fn graphics_commands_and_labels_are_kept() {
    let context = Context::new(NoopDesc::default());
    let (buffer, memory) = context.buffer(4096);
    let device = &context.device;
    let mesh = ash::ext::mesh_shader::Device::new(&context.instance, device);
    let utils = ash::ext::debug_utils::Device::new(&context.instance, device);
    // SAFETY: all valid.
    let commands = context.record(|commands| unsafe {
        let label = vk::DebugUtilsLabelEXT::default()
            .label_name(c"early draw")
            .color([1.0, 0.5, 0.0, 1.0]);
        utils.cmd_begin_debug_utils_label(commands, &label);
        let depth = vk::RenderingAttachmentInfo::default()
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .clear_value(vk::ClearValue {
                depth_stencil: vk::ClearDepthStencilValue {
                    depth: 0.25,
                    stencil: 0,
                },
            });
        let area = vk::Rect2D {
            offset: vk::Offset2D::default(),
            extent: vk::Extent2D {
                width: 641,
                height: 479,
            },
        };
        let info = vk::RenderingInfo::default()
            .render_area(area)
            .layer_count(1)
            .depth_attachment(&depth);
        device.cmd_begin_rendering(commands, &info);
        device.cmd_set_viewport(
            commands,
            0,
            &[vk::Viewport {
                width: 641.0,
                height: 479.0,
                ..Default::default()
            }],
        );
        mesh.cmd_draw_mesh_tasks(commands, 1, 2, 3);
        mesh.cmd_draw_mesh_tasks_indirect_count(commands, buffer, 8, buffer, 4, 100, 12);
        device.cmd_draw_indexed_indirect_count(commands, buffer, 16, buffer, 0, 7, 20);
        device.cmd_end_rendering(commands);
        utils.cmd_end_debug_utils_label(commands);
    });
    let list = context.driver.commands(commands);
    assert!(
        matches!(&list[0], Command::BeginLabel { name, color } if name == "early draw" && color[1] == 0.5)
    );
    let Command::BeginRendering {
        render_area,
        colors,
        depth: Some(depth),
        stencil: None,
        ..
    } = &list[1]
    else {
        panic!("{list:?}")
    };
    assert_eq!(
        (
            render_area.extent.width,
            colors.len(),
            depth.clear.floats()[0]
        ),
        (641, 0, 0.25)
    );
    assert!(matches!(
        list[3],
        Command::DrawMeshTasks { groups: [1, 2, 3] }
    ));
    let count = matches!(
        list[4],
        Command::DrawMeshTasksIndirectCount {
            offset: 8,
            count_offset: 4,
            max_draw_count: 100,
            stride: 12,
            ..
        }
    );
    let indexed = matches!(
        list[5],
        Command::DrawIndexedIndirectCount {
            max_draw_count: 7,
            stride: 20,
            ..
        }
    );
    assert!(count && indexed, "{list:?}");
    assert_eq!(list.iter().filter(|command| command.is_draw()).count(), 3);
    // SAFETY: all valid.
    unsafe {
        device.destroy_buffer(buffer, None);
        device.free_memory(memory, None);
    }
    context.end_clean();
}

#[test]
fn older_forms_become_the_newer_commands() {
    let context = Context::new(NoopDesc::default());
    let (buffer, memory) = context.buffer(4096);
    let device = &context.device;
    // SAFETY: all valid.
    let commands = context.record(|commands| unsafe {
        let barrier = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
            .dst_access_mask(vk::AccessFlags::SHADER_READ);
        let (src, dst) = (
            vk::PipelineStageFlags::TRANSFER,
            vk::PipelineStageFlags::COMPUTE_SHADER,
        );
        let none = vk::DependencyFlags::empty();
        device.cmd_pipeline_barrier(commands, src, dst, none, &[barrier], &[], &[]);
        device.cmd_pipeline_barrier(commands, src, dst, none, &[], &[], &[]);
        let copy = vk::BufferCopy {
            src_offset: 0,
            dst_offset: 512,
            size: 256,
        };
        device.cmd_copy_buffer(commands, buffer, buffer, &[copy]);
        let regions = [vk::BufferCopy2::default().dst_offset(512).size(256)];
        let info = vk::CopyBufferInfo2::default()
            .src_buffer(buffer)
            .dst_buffer(buffer)
            .regions(&regions);
        device.cmd_copy_buffer2(commands, &info);
    });
    let list = context.driver.commands(commands);
    let barrier = |index: usize| match &list[index] {
        Command::PipelineBarrier(dependency) => dependency.memory.clone(),
        other => panic!("{other:?}"),
    };
    let execution = MemoryBarrier {
        src_stages: vk::PipelineStageFlags2::ALL_TRANSFER,
        dst_stages: vk::PipelineStageFlags2::COMPUTE_SHADER,
        ..MemoryBarrier::default()
    };
    let memory_barrier = MemoryBarrier {
        src_access: vk::AccessFlags2::TRANSFER_WRITE,
        dst_access: vk::AccessFlags2::SHADER_READ,
        ..execution
    };
    assert_eq!(
        (barrier(0), barrier(1)),
        (vec![memory_barrier], vec![execution])
    );
    assert_eq!(format!("{:?}", list[2]), format!("{:?}", list[3]));
    // SAFETY: all valid.
    unsafe {
        device.destroy_buffer(buffer, None);
        device.free_memory(memory, None);
    }
    context.end_clean();
}

#[test]
fn dead_handles_in_commands_are_errors() {
    let context = Context::new(NoopDesc::default());
    let (buffer, memory) = context.buffer(4096);
    let (late, late_memory) = context.buffer(4096);
    let device = &context.device;
    // SAFETY: the no-op driver bears wrong use, which is what is tested.
    unsafe {
        device.destroy_buffer(buffer, None);
        let commands = context.record(|commands| {
            device.cmd_fill_buffer(commands, buffer, 0, 4, 0);
            device.cmd_fill_buffer(commands, late, 0, 4, 0);
        });
        let errors = context.driver.take_errors();
        assert!(
            errors.len() == 2
                && errors[0].contains("was destroyed")
                && errors[1].contains("FillBuffer")
        );
        device.destroy_buffer(late, None);
        context.submit(commands, None);
        let errors = context.driver.take_errors();
        assert_eq!(
            errors.len(),
            2,
            "both are dead at the submission: {errors:#?}"
        );
        device.free_memory(memory, None);
        device.free_memory(late_memory, None);
    }
    context.end_clean();
}

#[test]
fn broken_order_is_an_error() {
    let context = Context::new(NoopDesc::default());
    let device = &context.device;
    // SAFETY: the no-op driver bears wrong use, which is what is tested.
    let commands = context.record(|commands| unsafe {
        device.cmd_begin_rendering(commands, &vk::RenderingInfo::default().layer_count(1));
        device.cmd_dispatch(commands, 1, 1, 1);
        device.cmd_end_rendering(commands);
        device.cmd_draw(commands, 3, 1, 0, 0);
        device.cmd_end_rendering(commands);
        device.cmd_begin_rendering(commands, &vk::RenderingInfo::default().layer_count(1));
    });
    let errors = context.driver.take_errors();
    assert_eq!(errors.len(), 4, "{errors:#?}");
    assert!(
        errors[0].contains("command 1 is not allowed inside rendering"),
        "{errors:#?}"
    );
    assert!(
        errors[1].contains("command 3 draws outside") && errors[2].contains("command 4 ends"),
        "{errors:#?}"
    );
    assert!(errors[3].contains("ends inside rendering"), "{errors:#?}");
    // SAFETY: as above.
    unsafe {
        device.cmd_draw(commands, 3, 1, 0, 0);
        assert!(context.driver.take_errors()[0].contains("not being recorded"));
        device
            .reset_command_pool(context.pool, vk::CommandPoolResetFlags::empty())
            .unwrap();
    }
    assert!(context.driver.commands(commands).is_empty());
    context.submit(commands, None);
    assert!(context.driver.take_errors()[0].contains("not ended"));
    context.end_clean();
}

#[test]
fn a_quiet_driver_keeps_nothing() {
    let context = Context::new(NoopDesc::quiet());
    let device = &context.device;
    // SAFETY: a quiet driver looks at no argument.
    let commands = context.record(|commands| unsafe {
        device.cmd_dispatch(commands, 1, 1, 1);
        device.cmd_fill_buffer(commands, vk::Buffer::from_raw(1), 0, 4, 0);
    });
    context.submit(commands, None);
    assert!(
        context.driver.commands(commands).is_empty() && context.driver.submissions().is_empty()
    );
    context.end_clean();
}

#[test]
fn secondary_command_buffers_go_with_their_commands() {
    let context = Context::new(NoopDesc::default());
    let device = &context.device;
    // SAFETY: all valid.
    let secondary = context.record(|commands| unsafe { device.cmd_dispatch(commands, 5, 1, 1) });
    // SAFETY: all valid.
    let primary =
        context.record(|commands| unsafe { device.cmd_execute_commands(commands, &[secondary]) });
    let list = context.driver.commands(primary);
    let Command::ExecuteCommands { buffers } = &list[0] else {
        panic!("{list:?}")
    };
    assert_eq!(buffers[0].handle, secondary);
    assert!(matches!(
        buffers[0].commands[0],
        Command::Dispatch {
            groups: [5, 1, 1],
            ..
        }
    ));
    context.end_clean();
}
