//! The crate's error type.

use ash::vk;

/// What can go wrong between the engine and a device. Messages name the thing, what was expected and what was given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A Vulkan call failed in a way that nobody could foresee: memory, a lost device, a driver's refusal.
    #[error("{call} failed for {what}: {result:?}")]
    Vulkan {
        /// Name of the call.
        call: &'static str,
        /// The object or step it was made for.
        what: String,
        /// The code that came back.
        result: vk::Result,
    },
    /// The Vulkan loader could not be opened.
    #[error(
        "no Vulkan loader: {0}; install libvulkan1 and a Vulkan 1.3 driver, or run `cargo demo` once, which does it"
    )]
    NoLoader(String),
    /// There is no Vulkan device at all.
    #[error(
        "no Vulkan device found{}; a CPU driver (Mesa's lavapipe) serves as well as a GPU",
        limits(only)
    )]
    NoDevice {
        /// Variables of the environment that name the only drivers to be looked at, with their values.
        only: Vec<String>,
    },
    /// The device that was asked for does not exist.
    #[error("no device matches {asked:?}; found: {found}")]
    DeviceNotFound {
        /// The index or part of a name that was asked for.
        asked: String,
        /// The devices there are, with their indices.
        found: String,
    },
    /// The device lacks something that the engine cannot do without.
    #[error("device {device:?} lacks {}", .missing.join(", "))]
    MissingFeatures {
        /// Name of the device.
        device: String,
        /// Every required version, extension and feature that is not there.
        missing: Vec<String>,
    },
    /// A shader could not be read, or the stages of a pipeline do not fit together.
    #[error(transparent)]
    Shader(#[from] impel_spirv::Error),
    /// The bindings, push constants or draws of a pass do not fit its pipeline. All mismatches at once.
    #[error("pass {pass:?} ({pipeline}): {}", .problems.join("; "))]
    Pass {
        /// Name of the pass.
        pass: String,
        /// Name of its pipeline.
        pipeline: String,
        /// One sentence for each mismatch.
        problems: Vec<String>,
    },
    /// A description is not valid: a size of zero, a format that the device cannot use so, an unknown constant.
    #[error("{thing}: {problem}")]
    Invalid {
        /// The object, with its name.
        thing: String,
        /// What was expected and what was given.
        problem: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// The device did not finish in the time that [`Gpu::limit_waits`](crate::Gpu::limit_waits) gives it.
    #[error("the device hangs: frame {frame} is not done after {seconds} s; {passes}")]
    Hung {
        /// The frame that was waited for.
        frame: u64,
        /// How long.
        seconds: f64,
        /// Which passes it is at, as far as is known.
        passes: String,
    },
    /// The device was lost.
    #[error("device lost; {}: {}{}", under_way(*marked), if passes.is_empty() { "none" } else { passes }, reported(report))]
    DeviceLost {
        /// Passes with their frames, oldest first.
        passes: String,
        /// Whether just these were under way, as markers (see [`GpuDesc::markers`](crate::GpuDesc::markers)) or timestamps
        /// tell; else they are all that were handed to the device.
        marked: bool,
        /// What the driver reports of the fault; empty where it does not.
        report: String,
    },
}

fn limits(only: &[String]) -> String {
    match only {
        [] => String::new(),
        only => format!(" by {}", only.join(", ")),
    }
}

fn under_way(marked: bool) -> &'static str {
    if marked {
        "passes begun and not finished"
    } else {
        "passes not known to be finished (IMPEL_MARKERS=1 tells more where the device can)"
    }
}

fn reported(report: &str) -> String {
    if report.is_empty() {
        String::new()
    } else {
        format!("; the driver reports: {report}")
    }
}

impl Error {
    /// For `map_err` after a Vulkan call: keeps the code, says what the call was made for.
    pub(crate) fn vulkan(
        call: &'static str,
        what: impl Into<String>,
    ) -> impl FnOnce(vk::Result) -> Error {
        move |result| Error::Vulkan {
            call,
            what: what.into(),
            result,
        }
    }

    pub(crate) fn invalid(thing: impl Into<String>, problem: impl Into<String>) -> Error {
        Error::Invalid {
            thing: thing.into(),
            problem: problem.into(),
        }
    }
}

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
