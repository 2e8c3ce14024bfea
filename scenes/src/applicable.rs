//! Options that a run would pass over in silence are refused.

use crate::Error;
use crate::arguments::RunArguments;
use crate::{mixins, window};

/// Refuses what has no meaning in the scene that is asked for, or in a window.
///
/// # Errors
/// [`Error::Value`] for the first such option.
pub fn check(arguments: &RunArguments) -> Result<(), Error> {
    let a = arguments;
    let refuse = |options: &[(&'static str, bool)], expected: &str, given: &str| {
        let found = options.iter().find(|(_, given)| *given);
        found.map_or(Ok(()), |(name, _)| {
            Err(Error::value(*name, expected, given))
        })
    };
    if window::wanted(a) {
        let counted = [
            ("--json", a.json.is_some()),
            ("--every", a.every.is_some()),
            ("--shard", a.shard.is_some()),
            ("--warmup", a.warmup.is_some()),
            ("--give-up", a.give_up.is_some()),
        ];
        refuse(&counted, "a run without a window", "one in a window")?;
        let endless = [("--out", a.out.is_some() && a.frames.is_none())];
        let expected = "--frames with it in a window, where F12 writes pictures";
        refuse(&endless, expected, "a run without end")?;
    }
    if a.scene == mixins::NAME {
        let of_instances = [
            ("--draws", a.draws.is_some()),
            ("--moving", a.moving > 0),
            ("--mesh", !a.mesh.is_empty()),
            ("--raster-threshold", a.raster_threshold.is_some()),
            ("--audit", a.audit),
            ("--freeze-camera", a.freeze_camera),
            ("--cull", !a.cull.is_empty()),
            ("--lod", a.lod.is_some()),
            ("--view", a.view.is_some()),
            ("--hzb-level", a.hzb_level > 0),
            ("--camera", a.camera.is_some()),
            ("--seed", a.seed.is_some()),
            ("--every", a.every.is_some()),
            ("--shard", a.shard.is_some()),
        ];
        refuse(&of_instances, "a scene of instances", mixins::NAME)?;
    }
    Ok(())
}
