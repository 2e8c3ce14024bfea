//! One moment on two clocks: the device's timestamps and puffin's nanoseconds.

use ash::vk;

/// The function that reads the device's clock, in the form that the device has.
pub(crate) enum Calibrator {
    Khr(ash::khr::calibrated_timestamps::Device),
    Ext(ash::ext::calibrated_timestamps::Device),
}

/// One moment on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// The device's timestamp.
    pub(crate) ticks: u64,
    /// puffin's clock, in nanoseconds.
    pub(crate) ns: i64,
}

/// A reading that took longer than this says too little, in nanoseconds.
const WIDEST: i64 = 1_000_000;

impl Calibrator {
    pub(crate) fn new(
        instance: &ash::Instance,
        device: &ash::Device,
        extensions: &[&std::ffi::CStr],
    ) -> Option<Calibrator> {
        if extensions.contains(&ash::khr::calibrated_timestamps::NAME) {
            let functions = ash::khr::calibrated_timestamps::Device::new(instance, device);
            Some(Calibrator::Khr(functions))
        } else if extensions.contains(&ash::ext::calibrated_timestamps::NAME) {
            let functions = ash::ext::calibrated_timestamps::Device::new(instance, device);
            Some(Calibrator::Ext(functions))
        } else {
            None
        }
    }

    /// Reads both clocks. The device's lies between two readings of puffin's; of some tries the narrowest counts. `None` when
    /// the device does not answer, or too slowly.
    pub(crate) fn now(&self) -> Option<Moment> {
        let info =
            [vk::CalibratedTimestampInfoKHR::default().time_domain(vk::TimeDomainKHR::DEVICE)];
        let mut best: Option<(i64, Moment)> = None;
        for _ in 0..3 {
            let before = puffin::now_ns();
            // SAFETY: the extension is switched on; every device has its own clock as a domain.
            let read = unsafe {
                match self {
                    Calibrator::Khr(functions) => functions.get_calibrated_timestamps(&info),
                    Calibrator::Ext(functions) => functions.get_calibrated_timestamps(&info),
                }
            };
            let width = puffin::now_ns() - before;
            let ticks = *read.ok()?.0.first()?;
            if best.is_none_or(|(narrowest, _)| width < narrowest) {
                let ns = before + width / 2;
                best = Some((width, Moment { ticks, ns }));
            }
            // Good enough for passes of microseconds.
            if width < 2_000 {
                break;
            }
        }
        best.filter(|(width, _)| *width <= WIDEST)
            .map(|(_, moment)| moment)
    }
}

impl Moment {
    /// When, on puffin's clock, the device's timestamp was `ticks`. Timestamps have `bits` valid bits and wrap.
    pub(crate) fn ns_of(self, ticks: u64, bits: u32, period: f64) -> i64 {
        let shift = 64 - bits.clamp(1, 64);
        // The difference with the sign of its highest valid bit: moments are near each other.
        let difference = (ticks.wrapping_sub(self.ticks) << shift) as i64 >> shift;
        self.ns + (difference as f64 * period) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_before_after_and_over_a_wrap() {
        let moment = Moment {
            ticks: 100,
            ns: 1_000_000,
        };
        assert_eq!(moment.ns_of(150, 64, 2.0), 1_000_100);
        assert_eq!(moment.ns_of(50, 64, 2.0), 999_900);
        assert_eq!(moment.ns_of(50, 36, 2.0), 999_900);
        let last = Moment {
            ticks: (1 << 36) - 10,
            ns: 0,
        };
        assert_eq!(last.ns_of(20, 36, 1.0), 30);
    }
}
