//! Two runs side by side.

use crate::Error;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::Path;

/// Reads two reports (`--json`) and gives a table: frame and passes, their medians, the ratio of the second to the first, and
/// whether it is within the noise of the two runs (how far their 95th percentiles lie over their medians).
///
/// # Errors
/// [`Error::File`] for what cannot be read; [`Error::Value`] for what is no report.
pub fn compare(first: &Path, second: &Path) -> Result<String, Error> {
    let (a, b) = (read(first)?, read(second)?);
    let mut text = String::new();
    let mut row = |name: &str, a: Option<(f64, f64)>, b: Option<(f64, f64)>| {
        let number = |value: Option<(f64, f64)>| {
            value.map_or_else(|| "-".to_owned(), |(median, _)| format!("{median:.3}"))
        };
        let verdict = match (a, b) {
            (Some((a, a95)), Some((b, b95))) if a > 0.0 && b > 0.0 => {
                let noise = (a95 / a).max(b95 / b) - 1.0;
                let ratio = b / a;
                let within = (ratio - 1.0).abs() <= noise;
                let note = if within { "  within noise" } else { "" };
                format!("{ratio:.3} +-{noise:.3}{note}")
            }
            _ => "-".to_owned(),
        };
        let _ = writeln!(
            text,
            "{name:<22} {:>12} {:>12}   {verdict}",
            number(a),
            number(b)
        );
    };
    row("frame, ms", frame(&a), frame(&b));
    for name in names(&a, &b) {
        row(&name, pass(&a, &name), pass(&b, &name));
    }
    Ok(format!(
        "{:<22} {:>12} {:>12}   ratio\n{text}",
        "", "first", "second"
    ))
}

fn read(path: &Path) -> Result<Value, Error> {
    let text = crate::data::read(path)?;
    let value: Value = serde_json::from_str(&text).map_err(|reason| Error::file(path, reason))?;
    match value.get("schema").and_then(Value::as_u64) {
        Some(1) if frame(&value).is_some() => Ok(value),
        _ => Err(Error::value(
            path.display().to_string(),
            "a report of `scenes run --json`, schema 1",
            "something else",
        )),
    }
}

fn frame(report: &Value) -> Option<(f64, f64)> {
    let number = |key| report.get(key).and_then(Value::as_f64);
    Some((number("gpu_frame_ms_median")?, number("gpu_frame_ms_p95")?))
}

fn passes(report: &Value) -> impl Iterator<Item = &Value> {
    report
        .get("passes")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn name_of(pass: &Value) -> Option<&str> {
    pass.get("name").and_then(Value::as_str)
}

fn pass(report: &Value, name: &str) -> Option<(f64, f64)> {
    let found = passes(report).find(|pass| name_of(pass) == Some(name))?;
    let number = |key| found.get(key).and_then(Value::as_f64);
    Some((number("gpu_ms_median")?, number("gpu_ms_p95")?))
}

/// The passes of both, in the first one's order, then those that only the second has.
fn names(a: &Value, b: &Value) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in passes(a).chain(passes(b)).filter_map(name_of) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(name: &str, frame: f64, pass: f64) -> std::path::PathBuf {
        let path =
            std::env::temp_dir().join(format!("impel-compare-{}-{name}", std::process::id()));
        let text = format!(
            r#"{{"schema": 1, "gpu_frame_ms_median": {frame}, "gpu_frame_ms_p95": {}, "passes":
                [{{"name": "hzb", "gpu_ms_median": {pass}, "gpu_ms_p95": {}}}]}}"#,
            frame * 1.1,
            pass * 1.1
        );
        std::fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn ratios_and_noise() {
        let (a, b) = (report("a", 2.0, 1.0), report("b", 3.0, 1.05));
        let table = compare(&a, &b).unwrap();
        assert!(table.contains("1.500 +-0.100\n"), "{table}");
        assert!(table.contains("1.050 +-0.100  within noise\n"), "{table}");
        std::fs::write(&b, "{}").unwrap();
        assert!(
            compare(&a, &b)
                .unwrap_err()
                .to_string()
                .contains("expected a report")
        );
        std::fs::remove_file(&a).unwrap();
        std::fs::remove_file(&b).unwrap();
        assert!(compare(&a, &b).is_err());
    }
}
