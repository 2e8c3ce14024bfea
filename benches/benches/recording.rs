//! What it costs the CPU to record a compute pass with three bindings and 16 bytes of push constants.
//!
//! Five ways to record one stream (barrier, label, two timestamps, pipeline, push constants, descriptors, dispatch): both
//! tiers of the engine, by hand on `ash`, and with a descriptor set from a pool for each pass, filled by
//! `vkUpdateDescriptorSets`, by hand and within the engine's lower tier. On the no-op device, where every command is an
//! empty function, and on the driver: push descriptors by themselves first, then beside pooled sets. For what allocates for
//! thousands of sets leaves some drivers (lavapipe) a heap in pieces, in which everything else takes longer, too.
//!
//! `cargo bench -p benches --bench recording [-- --callgrind VARIANT [driver]]`; with `--callgrind` one variant runs alone on
//! the no-op device or the driver, for counting its instructions:
//!
//! `valgrind --tool=callgrind --toggle-collect='recording::timed*' BENCH --callgrind upper`, where BENCH is the executable
//! that `cargo bench` names. What it collects is to be divided by the number of passes, which is printed.

#[path = "../../engine/gpu/tests/shaders/src/generated/mod.rs"]
#[allow(dead_code, unreachable_pub, missing_docs)]
mod programs;

use benches::{Variant, compare, print};
use impel_gpu::noop::{NoopDesc, NoopDriver};
use impel_gpu::{
    Bound, Buffer, BufferDesc, ComputePipelineDesc, Gpu, GpuDesc, PassDesc, Pipeline, ResourceRef,
    Scopes, Shader, ShaderAccess, Stage, ash, vk,
};
use programs::add::{Bindings, Push, SHADERS};
use std::time::{Duration, Instant};

type Error = Box<dyn std::error::Error>;

const PASSES: u32 = 1000;

struct Bench {
    gpu: Gpu,
    pipeline: Pipeline,
    buffers: [Buffer; 3],
    raw: Raw,
}

/// The time that a job takes. Not inlined, so that callgrind can be told to count what happens in here.
#[inline(never)]
fn timed(job: impl FnOnce()) -> Duration {
    let start = Instant::now();
    job();
    start.elapsed()
}

/// What the streams by hand need.
struct Raw {
    device: ash::Device,
    push_descriptor: ash::khr::push_descriptor::Device,
    debug: Option<ash::ext::debug_utils::Device>,
    queue: vk::Queue,
    /// Two frames in flight, as the engine has them; the first is used next.
    frames: std::cell::Cell<[(vk::CommandPool, vk::CommandBuffer); 2]>,
    queries: vk::QueryPool,
    descriptor_pool: vk::DescriptorPool,
    set_layout: vk::DescriptorSetLayout,
    pooled_layout: vk::PipelineLayout,
    pooled_pipeline: vk::Pipeline,
}

const PUSH: Push = Push {
    count: 1,
    factor: 2,
    offset: 3,
    reserved: 0,
};

impl Bench {
    fn new(gpu: Gpu) -> Result<Bench, Error> {
        let shader = Shader::from_code(&SHADERS[0])?;
        let pipeline = gpu.compute_pipeline(&ComputePipelineDesc {
            name: "add",
            shader: &shader,
            constants: &[],
        })?;
        let make = |name| gpu.buffer(&BufferDesc::storage(name, 256));
        let buffers = [make("a")?, make("b")?, make("c")?];
        let raw = Raw::new(&gpu, &shader)?;
        Ok(Bench {
            gpu,
            pipeline,
            buffers,
            raw,
        })
    }

    /// Times the recording of one frame by the engine.
    fn engine(&self, mut record: impl FnMut(&mut impel_gpu::Frame)) -> Duration {
        let Ok(mut frame) = self.gpu.begin_frame() else {
            return Duration::MAX;
        };
        let time = timed(|| {
            for _ in 0..PASSES {
                record(&mut frame);
            }
        });
        let done = frame.submit().is_ok_and(|frame| frame.wait().is_ok());
        // As a program does that shows them; else they would pile up.
        drop(self.gpu.frame_results());
        if done { time } else { Duration::MAX }
    }

    fn high_tier(&self) -> Duration {
        let [a, b, c] = &self.buffers;
        self.engine(|frame| {
            let pass = frame.compute("add", &self.pipeline).bind(Bindings {
                a: a.whole(),
                b: b.whole(),
                c: c.whole(),
            });
            let recorded = pass.push(&PUSH).dispatch([1, 1, 1]);
            assert!(recorded.is_ok());
        })
    }

    fn low_tier(&self) -> Duration {
        let [a, b, c] = &self.buffers;
        self.engine(|frame| {
            let bindings: [Bound<'_>; 3] = [a.whole(), b.whole(), c.whole()];
            let desc = PassDesc {
                name: "add",
                pipeline: Some(&self.pipeline),
                bindings: &bindings,
                push_constants: bytemuck::bytes_of(&PUSH),
                ..Default::default()
            };
            // SAFETY: the pass has set up all that the dispatch needs.
            let recorded = frame.pass(&desc, |raw| unsafe {
                raw.device.cmd_dispatch(raw.commands, 1, 1, 1);
            });
            assert!(recorded.is_ok());
        })
    }

    /// The lower tier with descriptor sets of its own.
    fn pooled_tier(&self) -> Duration {
        let [a, b, c] = &self.buffers;
        let reads = Scopes::shader(Stage::Compute, ShaderAccess::StorageRead);
        let writes = Scopes::shader(Stage::Compute, ShaderAccess::StorageWrite);
        let mut first = true;
        self.engine(|frame| {
            if std::mem::take(&mut first) {
                self.raw.reset_sets();
            }
            let desc = PassDesc {
                name: "add",
                accesses: &[(a.id(), reads), (b.id(), reads), (c.id(), writes)],
                ..Default::default()
            };
            // SAFETY: the pass is in order with all that touches the buffers.
            let recorded = frame.pass(&desc, |raw| unsafe {
                self.raw.pooled_body(raw.commands, [a, b, c]);
            });
            assert!(recorded.is_ok());
        })
    }

    /// The same stream by hand, with push descriptors.
    fn raw_push(&self) -> Duration {
        let [a, b, c] = [0, 1, 2].map(|i: usize| self.buffers[i].raw());
        let (layout, template) = (self.pipeline.raw_layout(), self.pipeline.raw_template());
        let handle = self.pipeline.raw_compute().unwrap_or_default();
        let raw = &self.raw;
        raw.record(|| {
            for pass in 0..PASSES {
                let data = [a, b, c].map(whole);
                let (device, commands) = (&raw.device, raw.commands());
                // SAFETY: the handles live through the bench, and the data has what the template reads.
                unsafe {
                    raw.begin_pass(pass * 2);
                    device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, handle);
                    device.cmd_push_constants(
                        commands,
                        layout,
                        vk::ShaderStageFlags::COMPUTE,
                        0,
                        bytemuck::bytes_of(&PUSH),
                    );
                    let push = raw
                        .push_descriptor
                        .fp()
                        .cmd_push_descriptor_set_with_template_khr;
                    push(commands, template, layout, 0, data.as_ptr().cast());
                    device.cmd_dispatch(commands, 1, 1, 1);
                    raw.end_pass(pass * 2);
                }
            }
        })
    }

    /// The same work with a descriptor set from a pool for each pass.
    fn raw_pooled(&self) -> Duration {
        let [a, b, c] = &self.buffers;
        let raw = &self.raw;
        raw.record(|| {
            raw.reset_sets();
            for pass in 0..PASSES {
                // SAFETY: as above.
                unsafe {
                    raw.begin_pass(pass * 2);
                    raw.pooled_body(raw.commands(), [a, b, c]);
                    raw.end_pass(pass * 2);
                }
            }
        })
    }
}

/// A storage buffer descriptor of all of a buffer.
fn whole(buffer: vk::Buffer) -> vk::DescriptorBufferInfo {
    vk::DescriptorBufferInfo {
        buffer,
        offset: 0,
        range: 256,
    }
}

impl Raw {
    fn new(gpu: &Gpu, shader: &Shader) -> Result<Raw, Error> {
        let device = gpu.raw_device().clone();
        let functions = gpu.raw_functions();
        // SAFETY: plain object creation on a live device; `destroy` frees all of it.
        unsafe {
            let mut frames = [(vk::CommandPool::null(), vk::CommandBuffer::null()); 2];
            for frame in &mut frames {
                let info = vk::CommandPoolCreateInfo::default()
                    .flags(vk::CommandPoolCreateFlags::TRANSIENT);
                let pool = device.create_command_pool(&info, None)?;
                let info = vk::CommandBufferAllocateInfo::default()
                    .command_pool(pool)
                    .command_buffer_count(1);
                *frame = (pool, device.allocate_command_buffers(&info)?[0]);
            }
            let info = vk::QueryPoolCreateInfo::default()
                .query_type(vk::QueryType::TIMESTAMP)
                .query_count(PASSES * 2);
            let queries = device.create_query_pool(&info, None)?;
            let sizes = [vk::DescriptorPoolSize {
                ty: vk::DescriptorType::STORAGE_BUFFER,
                descriptor_count: PASSES * 3,
            }];
            let info = vk::DescriptorPoolCreateInfo::default()
                .max_sets(PASSES)
                .pool_sizes(&sizes);
            let descriptor_pool = device.create_descriptor_pool(&info, None)?;
            let set_layout = impel_gpu::create_set_layouts(gpu, &[shader], &Default::default())?[0];
            let layouts = [set_layout];
            let ranges = [vk::PushConstantRange {
                stage_flags: vk::ShaderStageFlags::COMPUTE,
                offset: 0,
                size: 16,
            }];
            let info = vk::PipelineLayoutCreateInfo::default()
                .set_layouts(&layouts)
                .push_constant_ranges(&ranges);
            let pooled_layout = device.create_pipeline_layout(&info, None)?;
            let words = ash::util::read_spv(&mut std::io::Cursor::new(SHADERS[0].spirv))?;
            let module = device
                .create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let info = vk::ComputePipelineCreateInfo::default()
                .stage(stage)
                .layout(pooled_layout);
            let made = device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None);
            let pooled_pipeline = made.map_err(|(_, result)| result)?[0];
            device.destroy_shader_module(module, None);
            Ok(Raw {
                push_descriptor: functions.push_descriptor.clone(),
                debug: functions.debug.cloned(),
                device,
                queue: functions.queue,
                frames: frames.into(),
                queries,
                descriptor_pool,
                set_layout,
                pooled_layout,
                pooled_pipeline,
            })
        }
    }

    /// Times the recording of one command buffer, and submits it.
    fn record(&self, mut passes: impl FnMut()) -> Duration {
        let [(pool, commands), other] = self.frames.get();
        self.frames.set([other, (pool, commands)]);
        let mut run = || -> Result<Duration, vk::Result> {
            // SAFETY: the device is idle, so command buffer and queries are free; nothing else uses the queue.
            unsafe {
                self.device
                    .reset_command_pool(pool, vk::CommandPoolResetFlags::empty())?;
                self.device.reset_query_pool(self.queries, 0, PASSES * 2);
                let info = vk::CommandBufferBeginInfo::default()
                    .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
                self.device.begin_command_buffer(commands, &info)?;
                let time = timed(&mut passes);
                self.device.end_command_buffer(commands)?;
                let commands = [vk::CommandBufferSubmitInfo::default().command_buffer(commands)];
                let submit = vk::SubmitInfo2::default().command_buffer_infos(&commands);
                self.device
                    .queue_submit2(self.queue, &[submit], vk::Fence::null())?;
                self.device.queue_wait_idle(self.queue)?;
                Ok(time)
            }
        };
        run().unwrap_or(Duration::MAX)
    }

    /// Gives back the descriptor sets of all passes; once a frame. The device is idle between frames.
    fn reset_sets(&self) {
        let flags = vk::DescriptorPoolResetFlags::empty();
        // SAFETY: no command buffer that uses the sets is being run.
        let reset = unsafe {
            self.device
                .reset_descriptor_pool(self.descriptor_pool, flags)
        };
        assert!(reset.is_ok());
    }

    /// A descriptor set from the pool, filled; pipeline, push constants, the set, dispatch.
    ///
    /// # Safety
    /// The command buffer must be being recorded.
    unsafe fn pooled_body(&self, commands: vk::CommandBuffer, buffers: [&Buffer; 3]) {
        let (device, layouts) = (&self.device, [self.set_layout]);
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(self.descriptor_pool)
            .set_layouts(&layouts);
        let mut set = vk::DescriptorSet::null();
        let infos = buffers.map(|buffer| [whole(buffer.raw())]);
        // SAFETY: the handles live through the bench; the pool has room for the sets of all passes.
        unsafe {
            let allocate = device.fp_v1_0().allocate_descriptor_sets;
            let allocated = allocate(device.handle(), &info, &mut set);
            assert_eq!(allocated, vk::Result::SUCCESS);
            let writes = [0, 1, 2].map(|binding: u32| {
                vk::WriteDescriptorSet::default()
                    .dst_set(set)
                    .dst_binding(binding)
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .buffer_info(&infos[binding as usize])
            });
            device.update_descriptor_sets(&writes, &[]);
            let (point, layout) = (vk::PipelineBindPoint::COMPUTE, self.pooled_layout);
            device.cmd_bind_pipeline(commands, point, self.pooled_pipeline);
            let stages = vk::ShaderStageFlags::COMPUTE;
            let constants = bytemuck::bytes_of(&PUSH);
            device.cmd_push_constants(commands, layout, stages, 0, constants);
            device.cmd_bind_descriptor_sets(commands, point, layout, 0, &[set], &[]);
            device.cmd_dispatch(commands, 1, 1, 1);
        }
    }

    /// The command buffer being recorded.
    fn commands(&self) -> vk::CommandBuffer {
        self.frames.get()[1].1
    }

    /// Barrier, label, first timestamp.
    ///
    /// # Safety
    /// The command buffer must be being recorded.
    unsafe fn begin_pass(&self, query: u32) {
        let barriers = [vk::MemoryBarrier2::default()
            .src_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER)
            .src_access_mask(vk::AccessFlags2::SHADER_STORAGE_WRITE)
            .dst_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER)
            .dst_access_mask(vk::AccessFlags2::SHADER_STORAGE_WRITE)];
        let dependency = vk::DependencyInfo::default().memory_barriers(&barriers);
        // SAFETY: the caller's promise.
        unsafe {
            self.device
                .cmd_pipeline_barrier2(self.commands(), &dependency);
            if let Some(debug) = &self.debug {
                debug.cmd_begin_debug_utils_label(
                    self.commands(),
                    &vk::DebugUtilsLabelEXT::default().label_name(c"add"),
                );
            }
            let stage = vk::PipelineStageFlags2::ALL_COMMANDS;
            self.device
                .cmd_write_timestamp2(self.commands(), stage, self.queries, query);
        }
    }

    /// Second timestamp, end of the label.
    ///
    /// # Safety
    /// As `begin_pass`.
    unsafe fn end_pass(&self, query: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            let stage = vk::PipelineStageFlags2::ALL_COMMANDS;
            self.device
                .cmd_write_timestamp2(self.commands(), stage, self.queries, query + 1);
            if let Some(debug) = &self.debug {
                debug.cmd_end_debug_utils_label(self.commands());
            }
        }
    }

    fn destroy(&self) {
        // SAFETY: nothing of this was submitted.
        unsafe {
            self.device.destroy_pipeline(self.pooled_pipeline, None);
            self.device
                .destroy_pipeline_layout(self.pooled_layout, None);
            self.device
                .destroy_descriptor_set_layout(self.set_layout, None);
            self.device
                .destroy_descriptor_pool(self.descriptor_pool, None);
            self.device.destroy_query_pool(self.queries, None);
            for (pool, _) in self.frames.get() {
                self.device.destroy_command_pool(pool, None);
            }
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.raw.destroy();
    }
}

/// Compares the ways to record on one device.
fn run(title: &str, gpu: Gpu, pooled: bool) -> Result<(), Error> {
    let bench = Bench::new(gpu)?;
    let mut variants: Vec<Variant<'_>> = vec![
        ("by hand, push descriptors", Box::new(|| bench.raw_push())),
        ("engine, upper tier", Box::new(|| bench.high_tier())),
        ("engine, lower tier", Box::new(|| bench.low_tier())),
    ];
    if pooled {
        let by_hand: Variant<'_> = (
            "by hand, pooled sets and updates",
            Box::new(|| bench.raw_pooled()),
        );
        variants.insert(0, by_hand);
        variants.push((
            "engine, lower tier with pooled sets",
            Box::new(|| bench.pooled_tier()),
        ));
    }
    print(title, &compare(&mut variants, 101, PASSES), 0);
    Ok(())
}

fn noop() -> Result<Gpu, Error> {
    Ok(Gpu::with_entry(
        &GpuDesc::default(),
        NoopDriver::new(NoopDesc::quiet()).entry(),
    )?)
}

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments
        .iter()
        .position(|argument| argument == "--callgrind")
    {
        let on_driver = arguments.get(at + 2).is_some_and(|word| word == "driver");
        let bench = Bench::new(if on_driver {
            Gpu::new(&GpuDesc::default())?
        } else {
            noop()?
        })?;
        let frames = if on_driver { 10 } else { 100 };
        println!("{} passes", frames * PASSES);
        for _ in 0..frames {
            match arguments.get(at + 1).map(String::as_str) {
                Some("upper") => bench.high_tier(),
                Some("lower") => bench.low_tier(),
                Some("raw") => bench.raw_push(),
                Some("pooled") => bench.raw_pooled(),
                Some("pooled-tier") => bench.pooled_tier(),
                _ => {
                    return Err("--callgrind takes upper, lower, raw, pooled or pooled-tier".into());
                }
            };
        }
        return Ok(());
    }
    run(
        "Recording one pass on the no-op device (every command an empty function)",
        noop()?,
        // Its books of descriptor sets say nothing about a driver's.
        false,
    )?;
    for pooled in [false, true] {
        let gpu = Gpu::new(&GpuDesc::default())?;
        let beside = if pooled { ", beside pooled sets" } else { "" };
        let (name, driver) = (&gpu.info().name, &gpu.info().driver);
        let title = format!("Recording one pass on {name} ({driver}){beside}");
        run(&title, gpu, pooled)?;
    }
    Ok(())
}
