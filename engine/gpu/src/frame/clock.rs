//! Cheap time stamps for what happens many times a frame.

use std::time::Instant;

/// A counter that goes up steadily; what a tick is worth is found by [`Clock::ns`] over a whole frame.
///
/// The system's clock costs as much as recording half a pass; the processor's counter costs a tenth of that.
pub(crate) fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: the instruction exists on every x86-64 processor and touches no memory.
        unsafe { core::arch::x86_64::_rdtsc() }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        use std::sync::OnceLock;
        static START: OnceLock<Instant> = OnceLock::new();
        u64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// A moment on both clocks.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    time: Instant,
    pub(crate) ticks: u64,
}

impl Clock {
    pub(crate) fn now() -> Clock {
        Clock {
            time: Instant::now(),
            ticks: ticks(),
        }
    }

    /// Nanoseconds since this moment, and nanoseconds per tick over that time.
    pub(crate) fn ns(self) -> (u64, f64) {
        let ticks = ticks().saturating_sub(self.ticks);
        let ns = u64::try_from(self.time.elapsed().as_nanos()).unwrap_or(u64::MAX);
        (
            ns,
            if ticks == 0 {
                0.0
            } else {
                ns as f64 / ticks as f64
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_add_up_to_the_time_that_passed() {
        let clock = Clock::now();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let middle = ticks();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let (ns, scale) = clock.ns();
        let first = (middle - clock.ticks) as f64 * scale;
        assert!(ns >= 40_000_000, "{ns}");
        assert!(
            first >= 19e6 && first <= ns as f64 - 19e6,
            "{first} of {ns}"
        );
    }
}
