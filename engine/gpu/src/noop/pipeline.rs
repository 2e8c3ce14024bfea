//! Shader modules, pipeline caches, pipelines, render passes.

use super::handle::{self, Device, chain, slice, string};
use super::loader::{attempt, functions};
use super::state::State;
use ash::vk;
use std::ffi::c_void;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// What a pipeline was created with; for tests.
#[derive(Clone, Debug, Hash, PartialEq, Eq)]
pub struct PipelineInfo {
    /// Compute or graphics.
    pub bind_point: vk::PipelineBindPoint,
    /// Its layout.
    pub layout: vk::PipelineLayout,
    /// Its stages, in the order given.
    pub stages: Vec<StageInfo>,
    /// Formats of the colour attachments that it draws to with dynamic rendering.
    pub color_formats: Vec<vk::Format>,
    /// Format of the depth attachment; `UNDEFINED` for none.
    pub depth_format: vk::Format,
    /// Format of the stencil attachment; `UNDEFINED` for none.
    pub stencil_format: vk::Format,
}

/// A stage of a [`PipelineInfo`].
#[derive(Clone, Debug, Hash, PartialEq, Eq)]
pub struct StageInfo {
    /// Which one.
    pub stage: vk::ShaderStageFlags,
    /// Entry point.
    pub entry: String,
    /// Hash of the module's code.
    pub code: u64,
    /// Specialisation constants: id and bytes.
    pub constants: Vec<(u32, Vec<u8>)>,
}

struct ShaderModule {
    code: u64,
}

struct PipelineCache {
    data: Vec<u8>,
}

/// Bytes of one entry of a fake pipeline cache.
const CACHE_ENTRY: usize = 8;

/// The header that Vulkan prescribes (`VkPipelineCacheHeaderVersionOne`).
fn cache_header(desc: &super::desc::NoopDevice) -> Vec<u8> {
    let mut header = Vec::new();
    for word in [32, 1, desc.vendor_id, desc.device_id] {
        header.extend(u32::to_le_bytes(word));
    }
    header.extend(desc.uuid);
    header
}

/// # Safety
/// `stages` are valid.
unsafe fn stage_infos(
    state: &mut State,
    stages: &[vk::PipelineShaderStageCreateInfo<'_>],
) -> Vec<StageInfo> {
    let stages = stages.iter().map(|stage| {
        let code = state
            .data::<ShaderModule>(stage.module, "vkCreate*Pipelines")
            .map_or(0, |module| module.code);
        // SAFETY: the name and the constants of a valid structure.
        unsafe {
            let constants = stage
                .p_specialization_info
                .as_ref()
                .map_or_else(Vec::new, |info| {
                    let data = slice(info.p_data.cast::<u8>(), info.data_size as u32);
                    let entries = slice(info.p_map_entries, info.map_entry_count).iter();
                    let bytes = |e: &vk::SpecializationMapEntry| {
                        data.get(e.offset as usize..)?.get(..e.size)
                    };
                    entries
                        .map(|entry| (entry.constant_id, bytes(entry).unwrap_or_default().to_vec()))
                        .collect()
                });
            StageInfo {
                stage: stage.stage,
                entry: string(stage.p_name),
                code,
                constants,
            }
        }
    });
    stages.collect()
}

/// Creates a pipeline and enters it into the cache once.
fn create(
    state: &mut State,
    device: vk::Device,
    cache: vk::PipelineCache,
    info: PipelineInfo,
) -> vk::Pipeline {
    state.check(info.layout, "vkCreate*Pipelines");
    let mut hasher = DefaultHasher::new();
    info.hash(&mut hasher);
    let entry = hasher.finish().to_le_bytes();
    if cache != vk::PipelineCache::null()
        && let Some(cache) = state.data::<PipelineCache>(cache, "vkCreate*Pipelines")
        && !cache
            .data
            .get(32..)
            .unwrap_or_default()
            .chunks(CACHE_ENTRY)
            .any(|known| known == entry)
    {
        cache.data.extend(entry);
    }
    state.create(device, Arc::new(info))
}

/// What a graphics pipeline is created with.
///
/// # Safety
/// `info` is valid.
unsafe fn graphics_info(
    state: &mut State,
    info: &vk::GraphicsPipelineCreateInfo<'_>,
    stages: &[vk::PipelineShaderStageCreateInfo<'_>],
) -> PipelineInfo {
    let mut pipeline = PipelineInfo {
        bind_point: vk::PipelineBindPoint::GRAPHICS,
        layout: info.layout,
        // SAFETY: by the condition above.
        stages: unsafe { stage_infos(state, stages) },
        color_formats: Vec::new(),
        depth_format: vk::Format::UNDEFINED,
        stencil_format: vk::Format::UNDEFINED,
    };
    // SAFETY: the chain of a valid structure.
    unsafe {
        for link in chain(info.p_next) {
            if (*link).s_type == vk::StructureType::PIPELINE_RENDERING_CREATE_INFO {
                let link = &*link.cast::<vk::PipelineRenderingCreateInfo<'_>>();
                pipeline.color_formats =
                    slice(link.p_color_attachment_formats, link.color_attachment_count).to_vec();
                pipeline.depth_format = link.depth_attachment_format;
                pipeline.stencil_format = link.stencil_attachment_format;
            }
        }
    }
    pipeline
}

/// Creates a pipeline of each info. When an injected failure hits, all handles are null, as Vulkan demands of pipelines.
///
/// # Safety
/// `device` is live; `pipelines` has a place for each info.
unsafe fn create_all<I>(
    pointer_type: &'static str,
    device: vk::Device,
    cache: vk::PipelineCache,
    infos: &[I],
    pipelines: *mut vk::Pipeline,
    describe: impl Fn(&mut State, &I) -> PipelineInfo,
) -> vk::Result {
    // SAFETY: by the condition above.
    let (driver, pipelines) = unsafe {
        pipelines.write_bytes(0, infos.len());
        (
            handle::shared(device),
            std::slice::from_raw_parts_mut(pipelines, infos.len()),
        )
    };
    attempt(driver, pointer_type, || {
        let mut state = driver.state();
        for (place, info) in pipelines.iter_mut().zip(infos) {
            let described = describe(&mut state, info);
            *place = create(&mut state, device, cache, described);
        }
        Ok(())
    })
}

functions! { Device, None;
    result fn create_shader_module as PFN_vkCreateShaderModule(
        device: vk::Device,
        info: *const vk::ShaderModuleCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        module: *mut vk::ShaderModule,
    ) {
        let mut hasher = DefaultHasher::new();
        let words = slice((*info).p_code, ((*info).code_size / 4) as u32);
        words.hash(&mut hasher);
        let mut state = handle::shared(device).state();
        if words.first() != Some(&0x0723_0203) {
            state.error(
                "vkCreateShaderModule: the code does not begin with SPIR-V's magic number"
                    .to_owned(),
            );
        }
        module.write(state.create(
            device,
            ShaderModule {
                code: hasher.finish(),
            },
        ));
        Ok(())
    }
    call fn destroy_shader_module as PFN_vkDestroyShaderModule(
        device: vk::Device,
        module: vk::ShaderModule,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::shared(device)
            .state()
            .destroy(module, "vkDestroyShaderModule");
    }
    result fn create_pipeline_cache as PFN_vkCreatePipelineCache(
        device: vk::Device,
        info: *const vk::PipelineCacheCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        cache: *mut vk::PipelineCache,
    ) {
        let (driver, index) = (
            handle::shared(device),
            handle::object::<Device>(device).index,
        );
        let mut data = cache_header(&driver.desc.devices[index]);
        let given = slice(
            (*info).p_initial_data.cast::<u8>(),
            (*info).initial_data_size as u32,
        );
        if given.get(..32) == Some(&data) {
            data.extend(given.get(32..).unwrap_or_default());
        }
        cache.write(driver.state().create(device, PipelineCache { data }));
        Ok(())
    }
    call fn destroy_pipeline_cache as PFN_vkDestroyPipelineCache(
        device: vk::Device,
        cache: vk::PipelineCache,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::shared(device)
            .state()
            .destroy(cache, "vkDestroyPipelineCache");
    }
    result fn get_pipeline_cache_data as PFN_vkGetPipelineCacheData(
        device: vk::Device,
        cache: vk::PipelineCache,
        size: *mut usize,
        data: *mut c_void,
    ) {
        let mut state = handle::shared(device).state();
        let Some(cache) = state.data::<PipelineCache>(cache, "vkGetPipelineCacheData") else {
            return Err(vk::Result::ERROR_UNKNOWN);
        };
        if data.is_null() {
            size.write(cache.data.len());
            return Ok(());
        }
        let written = cache.data.len().min(*size);
        std::ptr::copy_nonoverlapping(cache.data.as_ptr(), data.cast::<u8>(), written);
        size.write(written);
        if written < cache.data.len() {
            Err(vk::Result::INCOMPLETE)
        } else {
            Ok(())
        }
    }
    result fn merge_pipeline_caches as PFN_vkMergePipelineCaches(
        device: vk::Device,
        target: vk::PipelineCache,
        count: u32,
        sources: *const vk::PipelineCache,
    ) {
        let mut state = handle::shared(device).state();
        for &source in slice(sources, count) {
            let entries = state
                .data::<PipelineCache>(source, "vkMergePipelineCaches")
                .map(|cache| cache.data.get(32..).unwrap_or_default().to_vec());
            if let (Some(entries), Some(target)) = (
                entries,
                state.data::<PipelineCache>(target, "vkMergePipelineCaches"),
            ) {
                target.data.extend(entries);
            }
        }
        Ok(())
    }
    call fn create_graphics_pipelines as PFN_vkCreateGraphicsPipelines(
        device: vk::Device,
        cache: vk::PipelineCache,
        count: u32,
        infos: *const vk::GraphicsPipelineCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        pipelines: *mut vk::Pipeline,
    ) -> vk::Result {
        create_all(
            "PFN_vkCreateGraphicsPipelines",
            device,
            cache,
            slice(infos, count),
            pipelines,
            |state, info| {
                // SAFETY: the arrays of a valid structure.
                let stages = unsafe { slice(info.p_stages, info.stage_count) };
                // SAFETY: as above.
                unsafe { graphics_info(state, info, stages) }
            },
        )
    }
    call fn create_compute_pipelines as PFN_vkCreateComputePipelines(
        device: vk::Device,
        cache: vk::PipelineCache,
        count: u32,
        infos: *const vk::ComputePipelineCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        pipelines: *mut vk::Pipeline,
    ) -> vk::Result {
        create_all(
            "PFN_vkCreateComputePipelines",
            device,
            cache,
            slice(infos, count),
            pipelines,
            |state, info| PipelineInfo {
                bind_point: vk::PipelineBindPoint::COMPUTE,
                layout: info.layout,
                // SAFETY: a valid structure.
                stages: unsafe { stage_infos(state, std::slice::from_ref(&info.stage)) },
                color_formats: Vec::new(),
                depth_format: vk::Format::UNDEFINED,
                stencil_format: vk::Format::UNDEFINED,
            },
        )
    }
    call fn destroy_pipeline as PFN_vkDestroyPipeline(
        device: vk::Device,
        pipeline: vk::Pipeline,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::shared(device)
            .state()
            .destroy(pipeline, "vkDestroyPipeline");
    }
    result fn create_framebuffer as PFN_vkCreateFramebuffer(
        device: vk::Device,
        _info: *const vk::FramebufferCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        framebuffer: *mut vk::Framebuffer,
    ) {
        framebuffer.write(handle::shared(device).state().create(device, ()));
        Ok(())
    }
    call fn destroy_framebuffer as PFN_vkDestroyFramebuffer(
        device: vk::Device,
        framebuffer: vk::Framebuffer,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::shared(device)
            .state()
            .destroy(framebuffer, "vkDestroyFramebuffer");
    }
    result fn create_render_pass as PFN_vkCreateRenderPass(
        device: vk::Device,
        _info: *const vk::RenderPassCreateInfo<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        pass: *mut vk::RenderPass,
    ) {
        pass.write(handle::shared(device).state().create(device, ()));
        Ok(())
    }
    result fn create_render_pass2 as PFN_vkCreateRenderPass2(
        device: vk::Device,
        _info: *const vk::RenderPassCreateInfo2<'_>,
        _allocator: *const vk::AllocationCallbacks<'_>,
        pass: *mut vk::RenderPass,
    ) {
        pass.write(handle::shared(device).state().create(device, ()));
        Ok(())
    }
    call fn destroy_render_pass as PFN_vkDestroyRenderPass(
        device: vk::Device,
        pass: vk::RenderPass,
        _allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        handle::shared(device)
            .state()
            .destroy(pass, "vkDestroyRenderPass");
    }
    call fn get_granularity as PFN_vkGetRenderAreaGranularity(
        _device: vk::Device,
        _pass: vk::RenderPass,
        granularity: *mut vk::Extent2D,
    ) {
        granularity.write(vk::Extent2D {
            width: 1,
            height: 1,
        });
    }
}
