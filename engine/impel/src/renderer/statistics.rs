//! What the GPU counted in a frame.

use bytemuck::{Pod, Zeroable};

/// Number of 64-bit counters.
const STATISTICS: usize = 24;

/// `Counters` of `counters.glsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub(crate) struct Counters {
    pub(crate) chunk_count: [u32; 2],
    pub(crate) reject_count: u32,
    pub(crate) cluster_count: u32,
    pub(crate) compute_count: u32,
    pub(crate) hardware_count: u32,
    pub(crate) compute_first: [u32; 2],
    pub(crate) hardware_first: [u32; 2],
    pub(crate) hzb_groups: u32,
    pub(crate) group_count: [u32; 2],
    reserved: [u32; 3],
    statistics: [[u32; 2]; STATISTICS],
}

const _: () = assert!(size_of::<Counters>() == 64 + STATISTICS * 8);

/// Counts of instances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstanceStatistics {
    /// All that the culling pass saw.
    pub total: u64,
    /// Outside of the frustum, or beyond the draw distance.
    pub frustum_culled: u64,
    /// Behind what is drawn.
    pub occlusion_culled: u64,
    /// Drawn in the early phase.
    pub early: u64,
    /// Drawn in the late phase.
    pub late: u64,
    /// Drawn in all: `early + late`.
    pub drawn: u64,
}

/// Counts of meshlets of drawn instances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeshletStatistics {
    /// All of them.
    pub tested: u64,
    /// Facing away.
    pub cone_culled: u64,
    /// Outside of the frustum.
    pub frustum_culled: u64,
    /// Behind what is drawn.
    pub occlusion_culled: u64,
    /// Drawn.
    pub drawn: u64,
}

/// What did not fit into the lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overflow {
    /// Instances without a place in the list of chunks: not drawn.
    pub draws: u64,
    /// Meshlets without a place in the list of clusters: not drawn.
    pub clusters: u64,
}

/// What the GPU counted in a frame.
///
/// Without overflow, `instances.total` is what was culled and drawn together, and so is `meshlets.tested`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Instances.
    pub instances: InstanceStatistics,
    /// Meshlets.
    pub meshlets: MeshletStatistics,
    /// Lost for want of room.
    pub overflow: Overflow,
    /// Triangles of the drawn meshlets.
    pub triangles_drawn: u64,
    /// Those of them that the compute rasteriser took.
    pub triangles_by_compute: u64,
    /// Drawn instances by level of detail.
    pub lod_histogram: [u64; 8],
}

impl Statistics {
    /// Reads the counters' bytes as the GPU left them; what is missing counts as 0.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let mut counters = Counters::zeroed();
        let target = bytemuck::bytes_of_mut(&mut counters);
        let length = target.len().min(bytes.len());
        target[..length].copy_from_slice(&bytes[..length]);
        let value = |index: usize| {
            counters
                .statistics
                .get(index)
                .map_or(0, |[low, high]| u64::from(*low) | u64::from(*high) << 32)
        };
        let (early, late) = (value(2), value(3));
        Self {
            instances: InstanceStatistics {
                total: value(12),
                frustum_culled: value(0),
                occlusion_culled: value(1),
                early,
                late,
                drawn: early + late,
            },
            meshlets: MeshletStatistics {
                tested: value(5),
                cone_culled: value(6),
                frustum_culled: value(7),
                occlusion_culled: value(8),
                drawn: value(9),
            },
            overflow: Overflow {
                draws: value(4),
                clusters: value(10),
            },
            triangles_drawn: value(11),
            triangles_by_compute: value(13),
            lod_histogram: std::array::from_fn(|lod| value(16 + lod)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_have_64_bits() {
        let mut counters = Counters::zeroed();
        counters.statistics[2] = [u32::MAX, 2];
        counters.statistics[3] = [1, 0];
        counters.statistics[23] = [7, 0];
        let statistics = Statistics::from_bytes(bytemuck::bytes_of(&counters));
        assert_eq!(statistics.instances.drawn, 3 << 32);
        assert_eq!(statistics.lod_histogram, [0, 0, 0, 0, 0, 0, 0, 7]);
        assert_eq!(Statistics::from_bytes(&[]), Statistics::default());
    }
}
