//! Recording of dynamic state.

use super::command::Command;
use super::handle::slice;
use super::record::commands;
use ash::vk;

commands! { None;
    fn set_viewport as PFN_vkCmdSetViewport(
        first: u32,
        count: u32,
        viewports: *const vk::Viewport,
    ) {
        Command::SetViewport {
            first,
            viewports: slice(viewports, count).to_vec(),
        }
    }
    fn set_scissor as PFN_vkCmdSetScissor(first: u32, count: u32, scissors: *const vk::Rect2D) {
        Command::SetScissor {
            first,
            scissors: slice(scissors, count).to_vec(),
        }
    }
    fn set_viewport_with_count as PFN_vkCmdSetViewportWithCount(
        count: u32,
        viewports: *const vk::Viewport,
    ) {
        Command::SetViewportWithCount {
            viewports: slice(viewports, count).to_vec(),
        }
    }
    fn set_scissor_with_count as PFN_vkCmdSetScissorWithCount(
        count: u32,
        scissors: *const vk::Rect2D,
    ) {
        Command::SetScissorWithCount {
            scissors: slice(scissors, count).to_vec(),
        }
    }
    fn set_line_width as PFN_vkCmdSetLineWidth(width: f32) {
        Command::SetLineWidth { width }
    }
    fn set_depth_bias as PFN_vkCmdSetDepthBias(constant: f32, clamp: f32, slope: f32) {
        Command::SetDepthBias {
            constant,
            clamp,
            slope,
        }
    }
    fn set_blend_constants as PFN_vkCmdSetBlendConstants(constants: *const [f32; 4]) {
        Command::SetBlendConstants {
            constants: *constants,
        }
    }
    fn set_depth_bounds as PFN_vkCmdSetDepthBounds(min: f32, max: f32) {
        Command::SetDepthBounds { min, max }
    }
    fn set_stencil_compare_mask as PFN_vkCmdSetStencilCompareMask(
        faces: vk::StencilFaceFlags,
        mask: u32,
    ) {
        Command::SetStencilCompareMask { faces, mask }
    }
    fn set_stencil_write_mask as PFN_vkCmdSetStencilWriteMask(
        faces: vk::StencilFaceFlags,
        mask: u32,
    ) {
        Command::SetStencilWriteMask { faces, mask }
    }
    fn set_stencil_reference as PFN_vkCmdSetStencilReference(
        faces: vk::StencilFaceFlags,
        reference: u32,
    ) {
        Command::SetStencilReference { faces, reference }
    }
    fn set_cull_mode as PFN_vkCmdSetCullMode(mode: vk::CullModeFlags) {
        Command::SetCullMode { mode }
    }
    fn set_front_face as PFN_vkCmdSetFrontFace(face: vk::FrontFace) {
        Command::SetFrontFace { face }
    }
    fn set_primitive_topology as PFN_vkCmdSetPrimitiveTopology(topology: vk::PrimitiveTopology) {
        Command::SetPrimitiveTopology { topology }
    }
    fn set_depth_test_enable as PFN_vkCmdSetDepthTestEnable(enable: vk::Bool32) {
        Command::SetDepthTestEnable {
            enable: enable != 0,
        }
    }
    fn set_depth_write_enable as PFN_vkCmdSetDepthWriteEnable(enable: vk::Bool32) {
        Command::SetDepthWriteEnable {
            enable: enable != 0,
        }
    }
    fn set_depth_compare_op as PFN_vkCmdSetDepthCompareOp(op: vk::CompareOp) {
        Command::SetDepthCompareOp { op }
    }
    fn set_depth_bounds_test_enable as PFN_vkCmdSetDepthBoundsTestEnable(enable: vk::Bool32) {
        Command::SetDepthBoundsTestEnable {
            enable: enable != 0,
        }
    }
    fn set_stencil_test_enable as PFN_vkCmdSetStencilTestEnable(enable: vk::Bool32) {
        Command::SetStencilTestEnable {
            enable: enable != 0,
        }
    }
    fn set_stencil_op as PFN_vkCmdSetStencilOp(
        faces: vk::StencilFaceFlags,
        fail: vk::StencilOp,
        pass: vk::StencilOp,
        depth_fail: vk::StencilOp,
        compare: vk::CompareOp,
    ) {
        Command::SetStencilOp {
            faces,
            fail,
            pass,
            depth_fail,
            compare,
        }
    }
    fn set_rasterizer_discard_enable as PFN_vkCmdSetRasterizerDiscardEnable(enable: vk::Bool32) {
        Command::SetRasterizerDiscardEnable {
            enable: enable != 0,
        }
    }
    fn set_depth_bias_enable as PFN_vkCmdSetDepthBiasEnable(enable: vk::Bool32) {
        Command::SetDepthBiasEnable {
            enable: enable != 0,
        }
    }
    fn set_primitive_restart_enable as PFN_vkCmdSetPrimitiveRestartEnable(enable: vk::Bool32) {
        Command::SetPrimitiveRestartEnable {
            enable: enable != 0,
        }
    }
}
