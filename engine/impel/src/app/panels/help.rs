//! Help: every key and what the mouse does.

/// Key and meaning.
const KEYS: [(&str, &str); 12] = [
    ("W A S D", "fly ahead, left, back, right"),
    ("Q E", "sink, rise"),
    ("Shift", "five times as fast"),
    (
        "Mouse button held",
        "look around; in `viewer` go round the thing",
    ),
    ("Wheel", "speed; in `viewer` distance"),
    ("P, Home", "the camera from the start of its path"),
    ("R", "record the camera, and write its path at the end"),
    ("V", "in step with the display or not"),
    ("H", "hide or show the panels"),
    (
        "F12, Print",
        "write what is seen to screenshot-0001.png and so on",
    ),
    ("F11", "whole screen"),
    ("F1, Esc", "this help"),
];

/// Width that the longest line needs, points.
const WIDTH: f32 = 450.0;

/// `captures` says whether RenderDoc is there.
pub(super) fn show(context: &egui::Context, open: &mut bool, captures: bool) {
    let screen = context.content_rect().size();
    egui::Window::new("Help")
        .open(open)
        .collapsible(false)
        .min_width(WIDTH.min(screen.x - 40.0))
        .resizable(false)
        .anchor(egui::Align2::CENTER_CENTER, egui::Vec2::ZERO)
        .show(context, |ui| {
            egui::ScrollArea::both()
                .auto_shrink([false, true])
                .max_width((screen.x - 40.0).max(100.0))
                .max_height((screen.y - 80.0).max(60.0))
                .show(ui, |ui| keys(ui, captures));
        });
}

fn keys(ui: &mut egui::Ui, captures: bool) {
    let capture = match captures {
        true => "have the next frame captured by RenderDoc",
        false => "capture by RenderDoc, which is not loaded: start from it",
    };
    egui::Grid::new("keys")
        .num_columns(2)
        .striped(true)
        .show(ui, |ui| {
            for (key, meaning) in KEYS.into_iter().chain([("F10", capture)]) {
                ui.strong(key);
                ui.label(meaning);
                ui.end_row();
            }
        });
}
