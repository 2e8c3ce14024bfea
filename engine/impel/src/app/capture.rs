//! Captures for RenderDoc, where the program was started from it. It is never loaded from here.

use renderdoc::{RenderDoc, V110};

/// RenderDoc, if it is in this process.
pub(super) struct Captures {
    library: Option<RenderDoc<V110>>,
}

impl Captures {
    /// Looks for it.
    pub(super) fn find() -> Self {
        let library = RenderDoc::<V110>::new().ok();
        if let Some(library) = &library {
            log::info!("RenderDoc {:?} is loaded", library.get_api_version());
        }
        Self { library }
    }

    pub(super) fn is_loaded(&self) -> bool {
        self.library.is_some()
    }

    /// Has the next frame captured; gives a line for people.
    pub(super) fn trigger(&mut self) -> &'static str {
        match &mut self.library {
            Some(library) => {
                library.trigger_capture();
                "RenderDoc captures the next frame"
            }
            None => "RenderDoc is not loaded; start the program from it",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_it_is_not_loaded_nothing_loads_it() {
        let mut captures = Captures::find();
        assert!(!captures.is_loaded());
        assert!(captures.trigger().contains("not loaded"));
        if let Ok(maps) = std::fs::read_to_string("/proc/self/maps") {
            assert!(!maps.contains("librenderdoc"));
        }
    }
}
