//! Buffers that the passes of a frame hand to each other.

use super::scene_buffers::SceneBuffers;
use super::settings::Capacities;
use super::statistics::Counters;
use super::{FrameData, arguments};
use crate::Error;
use crate::config::{
    CHUNK_MESHLETS, CLUSTER_GROUP_SIZE, CULL_GROUP_SIZE, MAX_GROUPS_PER_DIMENSION, MAX_MESH_DRAWS,
    MESH_GROUPS_PER_DRAW,
};
use impel_gpu::{Buffer, BufferDesc, Gpu};

const CHUNK_BYTES: u64 = 12;
const CLUSTER_BYTES: u64 = 8;
/// Most clusters of a frame: what the table of mesh draws holds.
const MAX_CLUSTERS: u64 = MAX_MESH_DRAWS as u64 * MESH_GROUPS_PER_DRAW as u64;
/// What is chosen at most when nothing is asked for: enough for over 500 million triangles a frame in 64 MiB.
const DEFAULT_MOST_CLUSTERS: u64 = 1 << 23;
const DEFAULT_MOST_CHUNKS: u64 = 1 << 22;
const DEFAULT_MOST_REJECTS: u64 = 1 << 21;

/// Lists, counters and arguments of a frame.
pub(crate) struct Lists {
    pub(crate) frame: Buffer,
    pub(crate) visibility: Buffer,
    /// What workgroups want of lists, then where it lies: see `compaction.glsl`. Three lists at most.
    pub(crate) offsets: Buffer,
    pub(crate) offset_stride: u32,
    /// Groups of instances, see `groups.glsl`, and the lists of those to be culled, early and late.
    pub(crate) group_states: Buffer,
    pub(crate) groups: Buffer,
    pub(crate) chunks: Buffer,
    pub(crate) rejects: Buffer,
    pub(crate) clusters: Buffer,
    pub(crate) counters: Buffer,
    pub(crate) arguments: Buffer,
    pub(crate) chunk_capacity: u32,
    pub(crate) cluster_capacity: u32,
    pub(crate) reject_capacity: u32,
}

impl Lists {
    pub(crate) fn new(
        gpu: &Gpu,
        scene: &SceneBuffers,
        capacities: Capacities,
    ) -> Result<Self, Error> {
        let reach = gpu.info().limits.max_storage_buffer_range;
        let capacity =
            |what: &str, asked: Option<u32>, needed: u64, most: u64, bytes: u64| match asked {
                Some(asked) if asked == 0 || u64::from(asked) > MAX_CLUSTERS.min(reach / bytes) => {
                    let expected = format!("1 to {}", MAX_CLUSTERS.min(reach / bytes));
                    Err(Error::value(format!("room for {what}"), expected, asked))
                }
                Some(asked) => Ok(asked),
                None => Ok(needed.max(1).min(most).min(reach / bytes) as u32),
            };
        let chunk_capacity = capacity(
            "chunks",
            capacities.chunks,
            scene.most_chunks,
            DEFAULT_MOST_CHUNKS,
            CHUNK_BYTES,
        )?;
        let cluster_capacity = capacity(
            "clusters",
            capacities.clusters,
            scene.most_meshlets,
            DEFAULT_MOST_CLUSTERS,
            CLUSTER_BYTES,
        )?;
        let reject_capacity = capacity(
            "rejects",
            capacities.rejects,
            scene.most_meshlets,
            DEFAULT_MOST_REJECTS,
            CLUSTER_BYTES,
        )?;
        let group_count = u64::from(scene.instance_count.div_ceil(CULL_GROUP_SIZE));
        let storage = |name: &str, size: u64| gpu.buffer(&BufferDesc::storage(name, size));
        let cluster_groups =
            u64::from(chunk_capacity.div_ceil(CLUSTER_GROUP_SIZE / CHUNK_MESHLETS))
                + u64::from(reject_capacity.div_ceil(CLUSTER_GROUP_SIZE));
        // A dispatch is made of whole rows.
        let offset_stride = cluster_groups.max(group_count) + u64::from(MAX_GROUPS_PER_DIMENSION);
        Ok(Self {
            offsets: storage("offsets", offset_stride * 3 * 4)?,
            offset_stride: offset_stride as u32,
            frame: gpu.buffer(&BufferDesc::uniform(
                "frame data",
                size_of::<FrameData>() as u64,
            ))?,
            group_states: storage("group states", group_count * 4)?,
            groups: storage("groups", group_count * 8)?,
            visibility: storage("visibility", u64::from(scene.instance_count) * 4)?,
            chunks: storage("chunks", u64::from(chunk_capacity) * CHUNK_BYTES)?,
            rejects: storage("rejects", u64::from(reject_capacity) * CLUSTER_BYTES)?,
            clusters: storage("clusters", u64::from(cluster_capacity) * CLUSTER_BYTES)?,
            counters: storage("counters", size_of::<Counters>() as u64)?,
            arguments: storage("arguments", arguments::SIZE)?,
            chunk_capacity,
            cluster_capacity,
            reject_capacity,
        })
    }
}
