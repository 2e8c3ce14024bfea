//! Shaders: what hot reload has done, and the compiler's last words.

use egui::{Color32, Ui};

/// What has become of edited shaders.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShaderState {
    /// The folder that is watched; empty when none is. Errors then say why not, where it should be.
    pub folder: String,
    /// Pipelines replaced so far.
    pub replaced: u64,
    /// Names of those replaced last.
    pub last: Vec<String>,
    /// Why shaders could not be taken, each with file and line; their old versions stay.
    pub errors: Vec<String>,
}

pub(super) fn show(ui: &mut Ui, state: &ShaderState) {
    if state.folder.is_empty() && state.errors.is_empty() {
        ui.label(
            "Shaders are those built in. With the feature `hot-reload` edited ones are taken while running.",
        );
        return;
    }
    if !state.folder.is_empty() {
        ui.label(format!("watching {}", state.folder));
        ui.label(format!("{} pipelines replaced", state.replaced));
    }
    if !state.last.is_empty() {
        ui.label(format!("last: {}", state.last.join(", ")));
    }
    for error in &state.errors {
        ui.colored_label(Color32::LIGHT_RED, error);
    }
}
