//! Warnings and errors of the libraries, on standard error.

use log::{LevelFilter, Log, Metadata, Record};
use std::io::Write;

struct Logger;

impl Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= log::max_level()
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let level = record.level().as_str().to_lowercase();
            let line = format!("{level}: {}\n", record.args());
            // Standard error may be closed or full, which is no reason to end.
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
    }

    fn flush(&self) {}
}

/// Shows warnings, or what `IMPEL_LOG` asks for (off, error, warn, info, debug, trace).
pub fn install() {
    let level = std::env::var("IMPEL_LOG")
        .ok()
        .and_then(|level| level.parse().ok())
        .unwrap_or(LevelFilter::Warn);
    if log::set_logger(&Logger).is_ok() {
        log::set_max_level(level);
    }
}
