//! The standard passes; one pass is one file. Each holds its pipelines and records itself; the renderer arranges them.

mod audit;
mod background;
mod clusters;
mod compaction;
mod cull;
mod cull_groups;
mod draw;
mod hzb;
#[cfg(feature = "window")]
mod preview;
mod raster;
mod resolve;
#[cfg(feature = "window")]
mod show;
mod spin;
mod submit;
#[cfg(feature = "window")]
mod ui;

pub use audit::Audit;
pub use background::Background;
pub use clusters::Clusters;
pub use compaction::Scan;
pub(crate) use compaction::{Counted, Step};
pub use cull::Cull;
pub use cull_groups::CullGroups;
pub use draw::Draw;
pub use hzb::DownsampleDepth;
#[cfg(feature = "window")]
pub use preview::{Preview, PreviewDesc};
pub use raster::Raster;
pub use resolve::Resolve;
#[cfg(feature = "window")]
pub use show::Show;
pub use spin::Spin;
pub use submit::{Submit, SubmitStep};
#[cfg(feature = "window")]
pub use ui::Ui;

use crate::Error;
use crate::config::MAX_GROUPS_PER_DIMENSION;
use impel_gpu::{Shader, ShaderCode};

/// The two halves of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Phase {
    /// What was visible last frame.
    Early = 0,
    /// Everything else, tested against the depth of the early phase.
    Late = 1,
}

impl Phase {
    /// Name of a pass of this phase.
    fn pick(self, early: &'static str, late: &'static str) -> &'static str {
        match self {
            Self::Early => early,
            Self::Late => late,
        }
    }
}

/// The shader of a program with one stage.
fn shader(code: &[ShaderCode]) -> Result<Shader, Error> {
    let code = code
        .first()
        .ok_or_else(|| Error::value("program", "at least one stage", 0))?;
    Ok(Shader::from_code(code)?)
}

/// So many groups as a dispatch within what each dimension takes; shaders drop the few too many of the last row.
pub(crate) fn split_groups(groups: u32) -> [u32; 3] {
    [
        groups.min(MAX_GROUPS_PER_DIMENSION),
        groups.div_ceil(MAX_GROUPS_PER_DIMENSION),
        1,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dispatches_cover_all_groups_within_limits() {
        for groups in [0, 1, 65_535, 65_536, 156_250, 1 << 24] {
            let [x, y, z] = split_groups(groups);
            assert!(x <= 65_535 && y <= 65_535 && z == 1);
            assert!(u64::from(x) * u64::from(y) >= u64::from(groups));
        }
    }
}
