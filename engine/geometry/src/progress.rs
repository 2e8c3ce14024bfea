//! What a caller hears while meshes are made.

/// A step of the work on one mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Reading or generating the source, or reading the cache.
    Load,
    /// Quantising and reordering.
    Optimise,
    /// Simplifying; goes on beside [`Stage::Meshlets`].
    Simplify,
    /// Building meshlets.
    Meshlets,
    /// Finished.
    Done,
}

/// How far the work on one mesh has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress<'a> {
    /// The mesh.
    pub mesh: &'a str,
    /// What is being done.
    pub stage: Stage,
    /// Part of that stage that is done, 0 to 1.
    pub fraction: f32,
}

/// Called from any of the working threads, often; `&|_| {}` to hear nothing.
pub type OnProgress<'a> = &'a (dyn Fn(Progress<'_>) + Sync);
