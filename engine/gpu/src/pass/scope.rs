//! Synchronization scopes: the (pipeline stage, access) pairs that hazards are tracked in.
//!
//! Vulkan has more stages and accesses than an engine with dynamic rendering, pulled vertices and push descriptors
//! can reach. The thirty pairs here are all of those, so that a set of them is one `u32`.

use ash::vk;

/// Number of [`Stage`]s.
pub(crate) const STAGES: usize = 11;
/// Number of scopes.
pub(crate) const SCOPES: usize = 30;
/// Number of scopes that write.
pub(crate) const WRITES: usize = 9;

/// A pipeline stage that the tracker tells apart. The discriminant is the bit in a stage set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Stage {
    /// Indirect draw and dispatch arguments.
    Indirect,
    /// Index data.
    Index,
    /// Vertex shader.
    Vertex,
    /// Task shader.
    Task,
    /// Mesh shader.
    Mesh,
    /// Fragment shader.
    Fragment,
    /// Early and late fragment tests: the depth attachment.
    Depth,
    /// Colour attachment output.
    Color,
    /// Compute shader.
    Compute,
    /// Copies, fills, blits and clears outside of passes.
    Transfer,
    /// Reads by the host after the frame is done.
    Host,
}

/// What a shader stage does with a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ShaderAccess {
    /// Read as a uniform buffer.
    Uniform,
    /// Read through a sampler or as a sampled image or texel buffer.
    Sampled,
    /// Read as a storage buffer, storage image or through a device address.
    StorageRead,
    /// Written as a storage buffer, storage image or through a device address.
    StorageWrite,
}

/// A set of scopes: the way in which one pass touches one resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scopes(pub(crate) u32);

impl Scopes {
    /// Reads as indirect arguments.
    pub const INDIRECT_READ: Scopes = Scopes(1);
    /// Reads as index data.
    pub const INDEX_READ: Scopes = Scopes(1 << 1);
    /// Depth attachment, tested.
    pub const DEPTH_READ: Scopes = Scopes(1 << 22);
    /// Depth attachment, cleared or written.
    pub const DEPTH_WRITE: Scopes = Scopes(1 << 23);
    /// Colour attachment, loaded or blended.
    pub const COLOR_READ: Scopes = Scopes(1 << 24);
    /// Colour attachment, cleared or written.
    pub const COLOR_WRITE: Scopes = Scopes(1 << 25);
    /// Source of a copy or blit.
    pub const TRANSFER_READ: Scopes = Scopes(1 << 26);
    /// Target of a copy, blit, fill or clear.
    pub const TRANSFER_WRITE: Scopes = Scopes(1 << 27);
    /// Read by the host once the frame is done.
    pub const HOST_READ: Scopes = Scopes(1 << 28);

    /// The scope of one shader stage and one kind of access. Stages that run no shader give an empty set.
    pub const fn shader(stage: Stage, access: ShaderAccess) -> Scopes {
        let base = match stage {
            Stage::Vertex => 2,
            Stage::Task => 6,
            Stage::Mesh => 10,
            Stage::Fragment => 14,
            Stage::Compute => 18,
            _ => return Scopes(0),
        };
        Scopes(1 << (base + access as u32))
    }

    /// Both sets together.
    #[must_use]
    pub const fn union(self, other: Scopes) -> Scopes {
        Scopes(self.0 | other.0)
    }

    /// Whether nothing is touched.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The part that writes.
    #[must_use]
    pub const fn writes(self) -> Scopes {
        Scopes(self.0 & WRITE_SCOPES)
    }

    /// The part that reads.
    #[must_use]
    pub const fn reads(self) -> Scopes {
        Scopes(self.0 & !WRITE_SCOPES)
    }

    /// The part that shaders touch.
    #[must_use]
    pub(crate) const fn shader_part(self) -> Scopes {
        Scopes(self.0 & (KINDS[0] | KINDS[1] | KINDS[2] | KINDS[3]))
    }
}

/// Shader scopes by access kind: uniform, sampled, storage read, storage write.
const KINDS: [u32; 4] = {
    let per_stage = 0b0001_0001_0001_0001_0001_u32;
    [
        per_stage << 2,
        per_stage << 3,
        per_stage << 4,
        per_stage << 5,
    ]
};

/// All scopes that write: storage writes of five stages, depth, colour, transfer, host.
pub(crate) const WRITE_SCOPES: u32 = KINDS[3] | 1 << 23 | 1 << 25 | 1 << 27 | 1 << 29;

/// The stage of each scope. As long as a mask has bits, so that nothing needs to be checked when it is indexed by one.
pub(crate) const STAGE_OF: [u8; 32] = [
    0, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 8, 8, 8, 8, 6, 6, 7, 7, 9, 9, 10, 10, 0,
    0,
];

/// The stage of each scope as a set.
pub(crate) const STAGE_BIT: [u16; 32] = {
    let mut table = [0; 32];
    let mut scope = 0;
    while scope < SCOPES {
        table[scope] = 1 << STAGE_OF[scope];
        scope += 1;
    }
    table
};

/// Row of each write scope in tables that hold writes only; 255 for scopes that read.
pub(crate) const WRITE_INDEX: [u8; SCOPES] = {
    let mut index = [255; SCOPES];
    let mut next = 0;
    let mut scope = 0;
    while scope < SCOPES {
        if WRITE_SCOPES & 1 << scope != 0 {
            index[scope] = next;
            next += 1;
        }
        scope += 1;
    }
    assert!(next as usize == WRITES);
    index
};

/// Scopes of each stage.
const SCOPES_OF: [u32; STAGES] = {
    let mut table = [0; STAGES];
    let mut scope = 0;
    while scope < SCOPES {
        table[STAGE_OF[scope] as usize] |= 1 << scope;
        scope += 1;
    }
    table
};

/// The indices of the set bits of a mask, lowest first.
pub(crate) fn bits(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let bit = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(bit)
    })
}

/// Adds what a Vulkan barrier with these stages and accesses covers beyond the scopes that were asked for: masks of
/// stages and accesses form a cross product, so a shader access named for one stage holds for every stage of the mask.
pub(crate) fn widen(scopes: u32, stages: u16) -> u32 {
    if stages.is_power_of_two() {
        return scopes;
    }
    let of_stages = bits(u32::from(stages)).fold(0, |mask, stage| mask | SCOPES_OF[stage]);
    KINDS.iter().fold(scopes, |wide, kind| {
        if scopes & kind != 0 {
            wide | kind & of_stages
        } else {
            wide
        }
    })
}

/// The stages of a set of scopes, as a set.
pub(crate) fn stages_of(scopes: u32) -> u16 {
    bits(scopes).fold(0, |stages, scope| stages | STAGE_BIT[scope])
}

/// Vulkan's stage mask of a set of stages.
pub(crate) fn vk_stages(stages: u16) -> vk::PipelineStageFlags2 {
    const TABLE: [vk::PipelineStageFlags2; STAGES] = [
        vk::PipelineStageFlags2::DRAW_INDIRECT,
        vk::PipelineStageFlags2::INDEX_INPUT,
        vk::PipelineStageFlags2::VERTEX_SHADER,
        vk::PipelineStageFlags2::TASK_SHADER_EXT,
        vk::PipelineStageFlags2::MESH_SHADER_EXT,
        vk::PipelineStageFlags2::FRAGMENT_SHADER,
        // Loads and clears happen in early tests, stores in late ones.
        vk::PipelineStageFlags2::from_raw(
            vk::PipelineStageFlags2::EARLY_FRAGMENT_TESTS.as_raw()
                | vk::PipelineStageFlags2::LATE_FRAGMENT_TESTS.as_raw(),
        ),
        vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT,
        vk::PipelineStageFlags2::COMPUTE_SHADER,
        vk::PipelineStageFlags2::ALL_TRANSFER,
        vk::PipelineStageFlags2::HOST,
    ];
    bits(u32::from(stages)).fold(vk::PipelineStageFlags2::NONE, |mask, stage| {
        mask | TABLE[stage]
    })
}

/// Vulkan's access flag of each scope.
const ACCESS_OF: [vk::AccessFlags2; SCOPES] = {
    const U: vk::AccessFlags2 = vk::AccessFlags2::UNIFORM_READ;
    const T: vk::AccessFlags2 = vk::AccessFlags2::SHADER_SAMPLED_READ;
    const R: vk::AccessFlags2 = vk::AccessFlags2::SHADER_STORAGE_READ;
    const W: vk::AccessFlags2 = vk::AccessFlags2::SHADER_STORAGE_WRITE;
    [
        vk::AccessFlags2::INDIRECT_COMMAND_READ,
        vk::AccessFlags2::INDEX_READ,
        U,
        T,
        R,
        W, // vertex
        U,
        T,
        R,
        W, // task
        U,
        T,
        R,
        W, // mesh
        U,
        T,
        R,
        W, // fragment
        U,
        T,
        R,
        W, // compute
        vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_READ,
        vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_WRITE,
        vk::AccessFlags2::COLOR_ATTACHMENT_READ,
        vk::AccessFlags2::COLOR_ATTACHMENT_WRITE,
        vk::AccessFlags2::TRANSFER_READ,
        vk::AccessFlags2::TRANSFER_WRITE,
        vk::AccessFlags2::HOST_READ,
        vk::AccessFlags2::HOST_WRITE,
    ]
};

/// Vulkan's access mask of a set of scopes.
pub(crate) fn vk_access(scopes: u32) -> vk::AccessFlags2 {
    bits(scopes).fold(vk::AccessFlags2::NONE, |mask, scope| {
        mask | ACCESS_OF[scope]
    })
}
