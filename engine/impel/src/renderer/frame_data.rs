//! Records that the shaders of a frame read: what `frame.glsl` declares.

use super::settings::{DebugView, Settings};
use crate::math::{Camera, LodSelector};
use bytemuck::{Pod, Zeroable};

/// A camera as shaders read it: `View` of `frame.glsl`, 96 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct View {
    /// World space to view space, in rows.
    pub rows: [[f32; 4]; 3],
    /// Inward normals of the right and the upper plane: weights of `|x|` and depth, of `|y|` and depth.
    pub frustum: [f32; 4],
    /// World space.
    pub position: [f32; 3],
    /// Near plane.
    pub near: f32,
    /// Horizontal and vertical scale of the projection.
    pub scale: [f32; 2],
    /// Beyond it everything is culled.
    pub draw_distance: f32,
    reserved: u32,
}

impl View {
    /// From a camera.
    #[must_use]
    pub fn new(camera: &Camera) -> Self {
        let frustum = camera.frustum();
        Self {
            rows: camera.view().rows,
            frustum: [frustum.x[0], frustum.x[1], frustum.y[0], frustum.y[1]],
            position: camera.position.to_array(),
            near: camera.lens.near,
            scale: [camera.lens.p00(), camera.lens.p11()],
            draw_distance: camera.lens.draw_distance,
            reserved: 0,
        }
    }
}

/// `FrameData` of `frame.glsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct FrameData {
    /// Projects what is drawn.
    pub draw: View,
    /// Decides what is drawn.
    pub cull: View,
    /// The camera of the depth in the hierarchical depth buffer when the frame begins.
    pub last: View,
    /// Size of the picture, pixels.
    pub size: [u32; 2],
    /// Size of the hierarchical depth buffer's level 0.
    pub hzb_size: [u32; 2],
    /// Number of instances.
    pub instance_count: u32,
    /// Bits, see [`FrameData::flags`].
    pub flags: u32,
    pub(crate) lod_mode: u32,
    pub(crate) lod_forced: u32,
    pub(crate) error_distance: f32,
    pub(crate) begins_squared: [f32; 7],
    /// Room in the list of chunks.
    pub chunk_capacity: u32,
    /// Room in the list of clusters.
    pub cluster_capacity: u32,
    /// Room in the list of clusters put off.
    pub reject_capacity: u32,
    /// What the picture shows.
    pub debug_view: u32,
    /// Distance of haze; 0 for none.
    pub fog_distance: f32,
    /// Clusters without larger triangles go to the compute rasteriser, pixels; 0 for none.
    pub raster_threshold: f32,
    /// So many instances, the first ones, may have moved since last frame.
    pub moving_count: u32,
    /// Distance of lists in the buffer of offsets, words.
    pub offset_stride: u32,
    /// The level that the view of the hierarchical depth buffer shows.
    pub hzb_level: u32,
    pub(crate) reserved: [u32; 3],
}

const _: () = {
    use impel_shaders::cull;
    use std::mem::offset_of;
    assert!(size_of::<View>() == size_of::<cull::View>());
    assert!(size_of::<FrameData>() == size_of::<cull::FrameData>());
    assert!(offset_of!(FrameData, instance_count) == offset_of!(cull::FrameData, instance_count));
    assert!(offset_of!(FrameData, begins_squared) == offset_of!(cull::FrameData, begins_squared));
    assert!(
        offset_of!(FrameData, raster_threshold) == offset_of!(cull::FrameData, raster_threshold)
    );
};

impl FrameData {
    /// The bit for each culling stage, and whether last frame's depth may be asked.
    #[must_use]
    pub fn flags(settings: &Settings, history: bool) -> u32 {
        let culling = settings.culling;
        let bits = [
            culling.frustum,
            culling.occlusion,
            culling.meshlet_cone,
            culling.meshlet_frustum,
            culling.meshlet_occlusion,
            history,
            settings.raster_shuffle,
        ];
        bits.iter()
            .enumerate()
            .fold(0, |flags, (bit, &on)| flags | u32::from(on) << bit)
    }

    /// Sets how levels of detail are chosen.
    pub fn set_lod(&mut self, selector: &LodSelector) {
        match *selector {
            LodSelector::Error { error_distance } => {
                (self.lod_mode, self.error_distance) = (0, error_distance);
            }
            LodSelector::Forced { lod } => {
                (self.lod_mode, self.lod_forced) = (1, lod);
            }
            LodSelector::Distance { begins_squared } => {
                (self.lod_mode, self.begins_squared) = (2, begins_squared);
            }
        }
    }

    /// Sets what the picture shows.
    pub fn set_view(&mut self, view: DebugView, fog_distance: f32) {
        self.debug_view = view as u32;
        self.fog_distance = fog_distance;
    }
}
