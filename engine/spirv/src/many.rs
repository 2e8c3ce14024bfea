//! Reflection of any number of modules in parallel.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use crate::error::Error;
use crate::interface::Interface;
use crate::reflect::{Options, reflect_with};

/// A module and the file that messages name.
#[derive(Clone, Copy, Debug)]
pub struct NamedModule<'a> {
    /// File.
    pub file: &'a str,
    /// SPIR-V.
    pub spirv: &'a [u8],
}

/// How far [`reflect_many`] is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Modules done, this one included.
    pub done: usize,
    /// Modules in all.
    pub total: usize,
    /// Module that has just been done.
    pub file: &'a str,
    /// Whether it succeeded.
    pub succeeded: bool,
}

/// Reflects modules on all threads of rayon's pool. Results are in the order of the modules; an error names its file and
/// does not stop the others. `progress` is called from many threads, once per module.
pub fn reflect_many(
    modules: &[NamedModule<'_>],
    options: &Options,
    progress: impl Fn(Progress<'_>) + Sync,
) -> Vec<Result<Interface, Error>> {
    let done = AtomicUsize::new(0);
    modules
        .par_iter()
        .map(|module| {
            let outcome =
                reflect_with(module.spirv, options).map_err(|error| error.in_file(module.file));
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            progress(Progress {
                done,
                total: modules.len(),
                file: module.file,
                succeeded: outcome.is_ok(),
            });
            outcome
        })
        .collect()
}
