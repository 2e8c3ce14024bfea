//! Recorded commands.

use super::descriptor::DescriptorWrite;
use super::queue::RecordedBuffer;
use ash::vk;

/// A recorded command with a copy of all its arguments.
///
/// Each variant is the Vulkan command of that name, and its fields are the parameters of that name in the specification.
/// Older forms of a command (`vkCmdPipelineBarrier`, `vkCmdWriteTimestamp`, `vkCmdCopyBuffer`) become the same variant as the
/// newer ones. Handles are given as they came; pointers were followed and their data copied.
#[allow(missing_docs)]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Command {
    // Binding.
    BindPipeline {
        bind_point: vk::PipelineBindPoint,
        pipeline: vk::Pipeline,
    },
    BindDescriptorSets {
        bind_point: vk::PipelineBindPoint,
        layout: vk::PipelineLayout,
        first_set: u32,
        sets: Vec<vk::DescriptorSet>,
        dynamic_offsets: Vec<u32>,
    },
    PushDescriptorSet {
        bind_point: vk::PipelineBindPoint,
        layout: vk::PipelineLayout,
        set: u32,
        writes: Vec<DescriptorWrite>,
    },
    /// The writes are what the template finds in the data.
    PushDescriptorSetWithTemplate {
        template: vk::DescriptorUpdateTemplate,
        bind_point: vk::PipelineBindPoint,
        layout: vk::PipelineLayout,
        set: u32,
        writes: Vec<DescriptorWrite>,
    },
    PushConstants {
        layout: vk::PipelineLayout,
        stages: vk::ShaderStageFlags,
        offset: u32,
        data: Vec<u8>,
    },
    BindIndexBuffer {
        buffer: vk::Buffer,
        offset: u64,
        index_type: vk::IndexType,
    },
    BindVertexBuffers {
        first_binding: u32,
        buffers: Vec<vk::Buffer>,
        offsets: Vec<u64>,
        sizes: Vec<u64>,
        strides: Vec<u64>,
    },

    // Work.
    Dispatch {
        base: [u32; 3],
        groups: [u32; 3],
    },
    DispatchIndirect {
        buffer: vk::Buffer,
        offset: u64,
    },
    Draw {
        vertex_count: u32,
        instance_count: u32,
        first_vertex: u32,
        first_instance: u32,
    },
    DrawIndexed {
        index_count: u32,
        instance_count: u32,
        first_index: u32,
        vertex_offset: i32,
        first_instance: u32,
    },
    DrawIndirect {
        buffer: vk::Buffer,
        offset: u64,
        draw_count: u32,
        stride: u32,
    },
    DrawIndexedIndirect {
        buffer: vk::Buffer,
        offset: u64,
        draw_count: u32,
        stride: u32,
    },
    DrawIndirectCount {
        buffer: vk::Buffer,
        offset: u64,
        count_buffer: vk::Buffer,
        count_offset: u64,
        max_draw_count: u32,
        stride: u32,
    },
    DrawIndexedIndirectCount {
        buffer: vk::Buffer,
        offset: u64,
        count_buffer: vk::Buffer,
        count_offset: u64,
        max_draw_count: u32,
        stride: u32,
    },
    DrawMeshTasks {
        groups: [u32; 3],
    },
    DrawMeshTasksIndirect {
        buffer: vk::Buffer,
        offset: u64,
        draw_count: u32,
        stride: u32,
    },
    DrawMeshTasksIndirectCount {
        buffer: vk::Buffer,
        offset: u64,
        count_buffer: vk::Buffer,
        count_offset: u64,
        max_draw_count: u32,
        stride: u32,
    },
    ExecuteCommands {
        buffers: Vec<RecordedBuffer>,
    },

    // Rendering.
    BeginRendering {
        flags: vk::RenderingFlags,
        render_area: vk::Rect2D,
        layer_count: u32,
        view_mask: u32,
        colors: Vec<Attachment>,
        depth: Option<Attachment>,
        stencil: Option<Attachment>,
    },
    EndRendering,
    BeginRenderPass {
        render_pass: vk::RenderPass,
        framebuffer: vk::Framebuffer,
        render_area: vk::Rect2D,
    },
    NextSubpass,
    EndRenderPass,
    ClearAttachments {
        attachments: Vec<(vk::ImageAspectFlags, u32, ClearBits)>,
        rects: Vec<vk::ClearRect>,
    },

    // Transfers.
    FillBuffer {
        buffer: vk::Buffer,
        offset: u64,
        size: u64,
        data: u32,
    },
    UpdateBuffer {
        buffer: vk::Buffer,
        offset: u64,
        data: Vec<u8>,
    },
    CopyBuffer {
        src: vk::Buffer,
        dst: vk::Buffer,
        regions: Vec<vk::BufferCopy>,
    },
    CopyImage {
        src: vk::Image,
        src_layout: vk::ImageLayout,
        dst: vk::Image,
        dst_layout: vk::ImageLayout,
        regions: Vec<vk::ImageCopy>,
    },
    BlitImage {
        src: vk::Image,
        src_layout: vk::ImageLayout,
        dst: vk::Image,
        dst_layout: vk::ImageLayout,
        regions: Vec<vk::ImageBlit>,
        filter: vk::Filter,
    },
    ResolveImage {
        src: vk::Image,
        src_layout: vk::ImageLayout,
        dst: vk::Image,
        dst_layout: vk::ImageLayout,
        regions: Vec<vk::ImageResolve>,
    },
    CopyBufferToImage {
        src: vk::Buffer,
        dst: vk::Image,
        dst_layout: vk::ImageLayout,
        regions: Vec<vk::BufferImageCopy>,
    },
    CopyImageToBuffer {
        src: vk::Image,
        src_layout: vk::ImageLayout,
        dst: vk::Buffer,
        regions: Vec<vk::BufferImageCopy>,
    },
    ClearColorImage {
        image: vk::Image,
        layout: vk::ImageLayout,
        color: ClearBits,
        ranges: Vec<vk::ImageSubresourceRange>,
    },
    ClearDepthStencilImage {
        image: vk::Image,
        layout: vk::ImageLayout,
        depth: f32,
        stencil: u32,
        ranges: Vec<vk::ImageSubresourceRange>,
    },
    WriteBufferMarker {
        stage: vk::PipelineStageFlags,
        buffer: vk::Buffer,
        offset: u64,
        marker: u32,
    },
    SetCheckpoint {
        marker: u64,
    },

    // Synchronisation.
    PipelineBarrier(Dependency),
    SetEvent {
        event: vk::Event,
        dependency: Dependency,
    },
    ResetEvent {
        event: vk::Event,
        stages: vk::PipelineStageFlags2,
    },
    WaitEvents {
        events: Vec<vk::Event>,
        dependencies: Vec<Dependency>,
    },

    // Queries.
    BeginQuery {
        pool: vk::QueryPool,
        query: u32,
        flags: vk::QueryControlFlags,
    },
    EndQuery {
        pool: vk::QueryPool,
        query: u32,
    },
    ResetQueryPool {
        pool: vk::QueryPool,
        first: u32,
        count: u32,
    },
    WriteTimestamp {
        stage: vk::PipelineStageFlags2,
        pool: vk::QueryPool,
        query: u32,
    },
    CopyQueryPoolResults {
        pool: vk::QueryPool,
        first: u32,
        count: u32,
        buffer: vk::Buffer,
        offset: u64,
        stride: u64,
        flags: vk::QueryResultFlags,
    },

    // Debug labels.
    BeginLabel {
        name: String,
        color: [f32; 4],
    },
    EndLabel,
    InsertLabel {
        name: String,
        color: [f32; 4],
    },

    // Dynamic state.
    SetViewport {
        first: u32,
        viewports: Vec<vk::Viewport>,
    },
    SetScissor {
        first: u32,
        scissors: Vec<vk::Rect2D>,
    },
    SetViewportWithCount {
        viewports: Vec<vk::Viewport>,
    },
    SetScissorWithCount {
        scissors: Vec<vk::Rect2D>,
    },
    SetLineWidth {
        width: f32,
    },
    SetDepthBias {
        constant: f32,
        clamp: f32,
        slope: f32,
    },
    SetBlendConstants {
        constants: [f32; 4],
    },
    SetDepthBounds {
        min: f32,
        max: f32,
    },
    SetStencilCompareMask {
        faces: vk::StencilFaceFlags,
        mask: u32,
    },
    SetStencilWriteMask {
        faces: vk::StencilFaceFlags,
        mask: u32,
    },
    SetStencilReference {
        faces: vk::StencilFaceFlags,
        reference: u32,
    },
    SetCullMode {
        mode: vk::CullModeFlags,
    },
    SetFrontFace {
        face: vk::FrontFace,
    },
    SetPrimitiveTopology {
        topology: vk::PrimitiveTopology,
    },
    SetDepthTestEnable {
        enable: bool,
    },
    SetDepthWriteEnable {
        enable: bool,
    },
    SetDepthCompareOp {
        op: vk::CompareOp,
    },
    SetDepthBoundsTestEnable {
        enable: bool,
    },
    SetStencilTestEnable {
        enable: bool,
    },
    SetStencilOp {
        faces: vk::StencilFaceFlags,
        fail: vk::StencilOp,
        pass: vk::StencilOp,
        depth_fail: vk::StencilOp,
        compare: vk::CompareOp,
    },
    SetRasterizerDiscardEnable {
        enable: bool,
    },
    SetDepthBiasEnable {
        enable: bool,
    },
    SetPrimitiveRestartEnable {
        enable: bool,
    },
    SetDeviceMask {
        mask: u32,
    },
}

/// The 16 bytes of a clear value, whose type its format knows: four floats, four integers, or depth and stencil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClearBits(pub [u32; 4]);

impl ClearBits {
    /// The value as floats (of a depth value the first).
    #[must_use]
    pub fn floats(self) -> [f32; 4] {
        self.0.map(f32::from_bits)
    }
}

/// An attachment of [`Command::BeginRendering`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// What is drawn to; null for an unused attachment.
    pub view: vk::ImageView,
    /// Layout of the image.
    pub layout: vk::ImageLayout,
    /// What happens to the contents at begin.
    pub load_op: vk::AttachmentLoadOp,
    /// What happens to the contents at end.
    pub store_op: vk::AttachmentStoreOp,
    /// Value for `LOAD_OP_CLEAR`.
    pub clear: ClearBits,
    /// How samples are resolved; empty for not at all.
    pub resolve_mode: vk::ResolveModeFlags,
    /// Where they are resolved to.
    pub resolve_view: vk::ImageView,
}

/// The barriers of one command.
#[derive(Clone, Debug, Default)]
pub struct Dependency {
    /// `BY_REGION` and the like.
    pub flags: vk::DependencyFlags,
    /// Global memory barriers. An execution dependency alone is one without access masks.
    pub memory: Vec<MemoryBarrier>,
    /// Barriers of buffers.
    pub buffers: Vec<BufferBarrier>,
    /// Barriers of images.
    pub images: Vec<ImageBarrier>,
}

/// A memory dependency: what is waited for, what waits, and which accesses become available and visible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryBarrier {
    /// Stages waited for.
    pub src_stages: vk::PipelineStageFlags2,
    /// Accesses made available.
    pub src_access: vk::AccessFlags2,
    /// Stages that wait.
    pub dst_stages: vk::PipelineStageFlags2,
    /// Accesses made visible to.
    pub dst_access: vk::AccessFlags2,
}

/// A memory dependency of a range of a buffer.
#[derive(Clone, Copy, Debug)]
pub struct BufferBarrier {
    /// The dependency.
    pub memory: MemoryBarrier,
    /// From which queue family to which; equal, or both ignored, for no transfer.
    pub families: [u32; 2],
    /// The buffer.
    pub buffer: vk::Buffer,
    /// Start in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub size: u64,
}

/// A memory dependency and layout transition of a part of an image.
#[derive(Clone, Copy, Debug)]
pub struct ImageBarrier {
    /// The dependency.
    pub memory: MemoryBarrier,
    /// From which queue family to which; equal, or both ignored, for no transfer.
    pub families: [u32; 2],
    /// The image.
    pub image: vk::Image,
    /// Layout before.
    pub old_layout: vk::ImageLayout,
    /// Layout after.
    pub new_layout: vk::ImageLayout,
    /// The part.
    pub range: vk::ImageSubresourceRange,
}
