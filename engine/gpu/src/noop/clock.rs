//! The host's clocks, as calibrated timestamps speak of them.

/// A clock of the host.
#[derive(Clone, Copy)]
pub(super) enum Clock {
    /// `CLOCK_MONOTONIC`.
    Monotonic,
    /// `CLOCK_MONOTONIC_RAW`.
    MonotonicRaw,
}

impl Clock {
    /// Its value in nanoseconds.
    #[cfg(target_os = "linux")]
    pub(super) fn nanoseconds(self) -> u64 {
        #[repr(C)]
        struct Timespec {
            seconds: std::ffi::c_long,
            nanoseconds: std::ffi::c_long,
        }
        // SAFETY: the C library's function, with the signature that POSIX gives it.
        unsafe extern "C" {
            fn clock_gettime(clock: std::ffi::c_int, time: *mut Timespec) -> std::ffi::c_int;
        }
        let id = match self {
            Clock::Monotonic => 1,
            Clock::MonotonicRaw => 4,
        };
        let mut time = Timespec {
            seconds: 0,
            nanoseconds: 0,
        };
        // SAFETY: the pointer is valid, and both clocks exist on Linux.
        unsafe { clock_gettime(id, &raw mut time) };
        (time.seconds as u64)
            .wrapping_mul(1_000_000_000)
            .wrapping_add(time.nanoseconds as u64)
    }

    /// Its value in nanoseconds. Elsewhere both clocks count from the first call.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn nanoseconds(self) -> u64 {
        static START: std::sync::LazyLock<std::time::Instant> =
            std::sync::LazyLock::new(std::time::Instant::now);
        START.elapsed().as_nanos() as u64 + 1
    }
}
