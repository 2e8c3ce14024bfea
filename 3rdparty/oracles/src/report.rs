//! The comparison as a table for people.

use crate::compare::{Comparison, Tally};
use std::fmt::{self, Display, Formatter};

impl Display for Comparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} modules", self.modules.len())?;
        for (file, outcome) in &self.failures {
            writeln!(f, "impel-spirv FAILS on {file}: {outcome:?}")?;
        }
        writeln!(
            f,
            "{:<14} {:>9} {:>7} {:>7} {:>6} {:>9} {:>6}",
            "oracle", "described", "refused", "crashed", "agree", "disagree", "untold"
        )?;
        for tally in &self.tallies {
            writeln!(
                f,
                "{:<14} {:>9} {:>7} {:>7} {:>6} {:>9} {:>6}",
                tally.oracle,
                tally.described,
                tally.refused.len(),
                tally.crashed.len(),
                tally.agreements,
                tally.differences.len(),
                tally.untold
            )?;
        }
        self.tallies.iter().try_for_each(|tally| details(tally, f))
    }
}

fn details(tally: &Tally, f: &mut Formatter<'_>) -> fmt::Result {
    writeln!(f, "\n{}", tally.oracle)?;
    for difference in &tally.differences {
        writeln!(
            f,
            "  {}: {}: ours {}, theirs {}",
            difference.file,
            difference.fact,
            difference.ours.as_deref().unwrap_or("-"),
            difference.theirs
        )?;
    }
    for (file, reason) in &tally.refused {
        let reason = reason.lines().next().unwrap_or_default();
        writeln!(f, "  {file}: refused: {reason}")?;
    }
    for (file, crash) in &tally.crashed {
        writeln!(f, "  {file}: crashed: {crash}")?;
    }
    Ok(())
}
