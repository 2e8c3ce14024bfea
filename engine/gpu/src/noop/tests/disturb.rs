//! The rule of layout compatibility, in cases that keep sets and cases that disturb them.

use super::super::{BoundSets, NoopDesc, SetState};
use super::Context;
use ash::vk;

const COMPUTE: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;

/// A context with what the engine uses: set 0 pushed, set 1 a heap.
struct Sets {
    context: Context,
    push: ash::khr::push_descriptor::Device,
    pool: vk::DescriptorPool,
    heap_layout: vk::DescriptorSetLayout,
    heap: vk::DescriptorSet,
    module: vk::ShaderModule,
    set_layouts: Vec<vk::DescriptorSetLayout>,
    layouts: Vec<vk::PipelineLayout>,
    pipelines: Vec<vk::Pipeline>,
}

/// A pipeline and its layout.
#[derive(Clone, Copy)]
struct Program {
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
}

impl Sets {
    fn new() -> Self {
        let context = Context::new(NoopDesc::default());
        let push = ash::khr::push_descriptor::Device::new(&context.instance, &context.device);
        let device = &context.device;
        let code = [0x0723_0203, 0x1_0000, 0, 1, 0];
        // SAFETY: all valid.
        unsafe {
            let bindings = [vk::DescriptorSetLayoutBinding::default()
                .descriptor_type(vk::DescriptorType::SAMPLED_IMAGE)
                .descriptor_count(1000)
                .stage_flags(vk::ShaderStageFlags::ALL)];
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let heap_layout = device.create_descriptor_set_layout(&info, None).unwrap();
            let pool = device
                .create_descriptor_pool(&vk::DescriptorPoolCreateInfo::default(), None)
                .unwrap();
            let layouts = [heap_layout];
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(pool)
                .set_layouts(&layouts);
            let heap = device.allocate_descriptor_sets(&info).unwrap()[0];
            let module = device
                .create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None)
                .unwrap();
            let (set_layouts, layouts, pipelines) = (vec![heap_layout], Vec::new(), Vec::new());
            Sets {
                context,
                push,
                pool,
                heap_layout,
                heap,
                module,
                set_layouts,
                layouts,
                pipelines,
            }
        }
    }

    /// A compute program with so many pushed storage buffers, the heap as set 1, and so many bytes of push constants.
    fn program(&mut self, buffers: u32, push_size: u32) -> Program {
        let device = &self.context.device;
        let bindings: Vec<_> = (0..buffers)
            .map(|binding| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default()
            .flags(vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR)
            .bindings(&bindings);
        // SAFETY: all valid.
        unsafe {
            let pushed = device.create_descriptor_set_layout(&info, None).unwrap();
            let ranges = [vk::PushConstantRange {
                stage_flags: vk::ShaderStageFlags::COMPUTE,
                offset: 0,
                size: push_size,
            }];
            let sets = [pushed, self.heap_layout];
            let info = vk::PipelineLayoutCreateInfo::default()
                .set_layouts(&sets)
                .push_constant_ranges(if push_size > 0 { &ranges } else { &[] });
            let layout = device.create_pipeline_layout(&info, None).unwrap();
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(self.module)
                .name(c"main");
            let info = vk::ComputePipelineCreateInfo::default()
                .stage(stage)
                .layout(layout);
            let pipeline = device
                .create_compute_pipelines(vk::PipelineCache::null(), &[info], None)
                .unwrap()[0];
            self.set_layouts.push(pushed);
            self.layouts.push(layout);
            self.pipelines.push(pipeline);
            Program { pipeline, layout }
        }
    }

    fn heap(&self, commands: vk::CommandBuffer, program: Program) {
        // SAFETY: all valid.
        unsafe {
            self.context.device.cmd_bind_descriptor_sets(
                commands,
                COMPUTE,
                program.layout,
                1,
                &[self.heap],
                &[],
            );
        }
    }

    /// Binds the pipeline, pushes set 0 and push constants, dispatches.
    fn dispatch(&self, commands: vk::CommandBuffer, program: Program, push_size: usize) {
        let device = &self.context.device;
        // SAFETY: all valid; an empty push still binds the set.
        unsafe {
            device.cmd_bind_pipeline(commands, COMPUTE, program.pipeline);
            self.push
                .cmd_push_descriptor_set(commands, COMPUTE, program.layout, 0, &[]);
            if push_size > 0 {
                let data = vec![0; push_size];
                device.cmd_push_constants(
                    commands,
                    program.layout,
                    vk::ShaderStageFlags::COMPUTE,
                    0,
                    &data,
                );
            }
            device.cmd_dispatch(commands, 1, 1, 1);
        }
    }

    fn found(&self, record: impl FnOnce(vk::CommandBuffer)) -> Vec<BoundSets> {
        let commands = self.context.record(record);
        self.context
            .driver
            .bound_sets(&self.context.driver.commands(commands))
    }

    fn end(self) {
        let device = &self.context.device;
        // SAFETY: all valid, and used no more.
        unsafe {
            self.pipelines
                .iter()
                .for_each(|&pipeline| device.destroy_pipeline(pipeline, None));
            self.layouts
                .iter()
                .for_each(|&layout| device.destroy_pipeline_layout(layout, None));
            self.set_layouts
                .iter()
                .for_each(|&layout| device.destroy_descriptor_set_layout(layout, None));
            device.destroy_descriptor_pool(self.pool, None);
            device.destroy_shader_module(self.module, None);
        }
        self.context.end_clean();
    }
}

#[test]
fn pushing_under_a_compatible_layout_keeps_the_heap() {
    let mut sets = Sets::new();
    // Two layouts, made apart but identically defined.
    let (a, b) = (sets.program(2, 8), sets.program(2, 8));
    let found = sets.found(|commands| {
        sets.heap(commands, a);
        sets.dispatch(commands, a, 8);
        sets.dispatch(commands, b, 8);
    });
    assert!(
        found.len() == 2 && found.iter().all(BoundSets::is_valid),
        "{found:#?}"
    );
    assert_eq!(found[1].sets[1].bound_by, Some(0));
    sets.end();
}

#[test]
fn pushing_under_another_set_0_layout_disturbs_the_heap() {
    let mut sets = Sets::new();
    let (a, b) = (sets.program(2, 8), sets.program(3, 8));
    let found = sets.found(|commands| {
        sets.heap(commands, a); // 0
        sets.dispatch(commands, a, 8); // 1 to 4
        sets.dispatch(commands, b, 8); // 5 to 8: the push is command 6
        sets.heap(commands, b);
        sets.dispatch(commands, b, 8);
        sets.dispatch(commands, a, 8);
    });
    assert!(found[0].is_valid(), "{found:#?}");
    assert_eq!(
        (found[1].set(0), found[1].set(1)),
        (Some(SetState::Valid), Some(SetState::Disturbed(6)))
    );
    assert!(found[2].is_valid(), "bound again");
    assert!(
        matches!(found[3].set(1), Some(SetState::Disturbed(_))),
        "and disturbed again by going back"
    );
    sets.end();
}

#[test]
fn pushing_under_other_push_constants_disturbs_the_heap() {
    let mut sets = Sets::new();
    let (a, b) = (sets.program(2, 8), sets.program(2, 16));
    let found = sets.found(|commands| {
        sets.heap(commands, a);
        sets.dispatch(commands, a, 8);
        sets.dispatch(commands, b, 16);
    });
    assert!(found[0].is_valid(), "{found:#?}");
    assert_eq!(
        (found[1].set(1), found[1].push_constants),
        (Some(SetState::Disturbed(6)), true)
    );
    sets.end();
}

#[test]
fn binding_the_heap_under_another_layout_disturbs_what_was_pushed() {
    let mut sets = Sets::new();
    let (a, b) = (sets.program(2, 8), sets.program(3, 8));
    let found = sets.found(|commands| {
        sets.dispatch(commands, a, 8); // the heap is missing: 0 to 3
        sets.heap(commands, b); // 4
        // SAFETY: all valid.
        unsafe { sets.context.device.cmd_dispatch(commands, 1, 1, 1) };
    });
    assert_eq!(
        (found[0].set(0), found[0].set(1)),
        (Some(SetState::Valid), Some(SetState::Missing))
    );
    assert_eq!(
        (found[1].set(0), found[1].set(1)),
        (Some(SetState::Disturbed(4)), Some(SetState::Incompatible))
    );
    sets.end();
}

#[test]
fn a_pipeline_bound_alone_finds_sets_of_other_layouts_incompatible() {
    let mut sets = Sets::new();
    let (a, b) = (sets.program(2, 8), sets.program(3, 8));
    let found = sets.found(|commands| {
        // SAFETY: all valid.
        unsafe { sets.context.device.cmd_dispatch(commands, 1, 1, 1) };
        sets.heap(commands, a);
        sets.dispatch(commands, a, 4);
        // SAFETY: all valid.
        unsafe {
            sets.context
                .device
                .cmd_bind_pipeline(commands, COMPUTE, b.pipeline);
            sets.context.device.cmd_dispatch(commands, 1, 1, 1);
            sets.context
                .device
                .cmd_bind_pipeline(commands, COMPUTE, a.pipeline);
            sets.context.device.cmd_dispatch(commands, 1, 1, 1);
        }
    });
    assert_eq!(
        (found[0].pipeline, found[0].is_valid()),
        (vk::Pipeline::null(), false)
    );
    assert!(!found[1].push_constants, "only 4 of 8 bytes were pushed");
    assert_eq!(
        (found[2].set(0), found[2].set(1)),
        (Some(SetState::Incompatible), Some(SetState::Incompatible))
    );
    assert_eq!(
        (found[3].set(0), found[3].set(1)),
        (Some(SetState::Valid), Some(SetState::Valid))
    );
    sets.end();
}

#[test]
fn bind_points_are_apart() {
    let mut sets = Sets::new();
    let (a, b) = (sets.program(2, 8), sets.program(3, 8));
    let found = sets.found(|commands| {
        sets.heap(commands, a);
        // SAFETY: all valid.
        unsafe {
            let graphics = vk::PipelineBindPoint::GRAPHICS;
            sets.push
                .cmd_push_descriptor_set(commands, graphics, b.layout, 0, &[]);
        }
        sets.dispatch(commands, a, 8);
    });
    assert!(found[0].is_valid(), "{found:#?}");
    sets.end();
}

#[test]
fn updated_sets_can_be_read() {
    let sets = Sets::new();
    let device = &sets.context.device;
    let view = vk::DescriptorImageInfo::default().image_layout(vk::ImageLayout::GENERAL);
    let images = [view];
    let write = vk::WriteDescriptorSet::default()
        .dst_set(sets.heap)
        .dst_array_element(17)
        .descriptor_type(vk::DescriptorType::SAMPLED_IMAGE)
        .image_info(&images);
    // SAFETY: all valid.
    unsafe { device.update_descriptor_sets(&[write], &[]) };
    let driver = &sets.context.driver;
    let found = driver.descriptor(sets.heap, 0, 17);
    assert!(
        matches!(found, Some(super::super::DescriptorValue::Image(info)) if info.image_layout == vk::ImageLayout::GENERAL)
    );
    assert!(driver.descriptor(sets.heap, 0, 16).is_none());
    sets.end();
}
