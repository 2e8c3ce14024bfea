//! Pictures as PNG files.

use crate::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// Writes 8-bit RGBA texels (sRGB) as an opaque PNG.
///
/// # Errors
/// [`Error::File`] when the file cannot be written, or when the texels don't fill the size.
pub fn write(path: &Path, size: [u32; 2], texels: &[u8]) -> Result<(), Error> {
    let wrong = |reason: &dyn std::fmt::Display| Error::file(path, reason);
    let file = File::create(path).map_err(|reason| wrong(&reason))?;
    let mut encoder = png::Encoder::new(BufWriter::new(file), size[0], size[1]);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    let opaque: Vec<u8> = texels
        .chunks_exact(4)
        .flat_map(|texel| texel.iter().take(3))
        .copied()
        .collect();
    let mut writer = encoder.write_header().map_err(|reason| wrong(&reason))?;
    writer
        .write_image_data(&opaque)
        .map_err(|reason| wrong(&reason))?;
    writer.finish().map_err(|reason| wrong(&reason))
}

/// The name of frame `frame`'s picture: `out.png` becomes `out-00012.png`.
#[must_use]
pub fn numbered(path: &Path, frame: u64) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path
        .extension()
        .map_or_else(|| "png".into(), |extension| extension.to_string_lossy());
    path.with_file_name(format!("{stem}-{frame:05}.{extension}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_before_the_extension() {
        assert_eq!(
            numbered(Path::new("a/b.png"), 12),
            Path::new("a/b-00012.png")
        );
        assert_eq!(numbered(Path::new("b"), 3), Path::new("b-00003.png"));
    }
}
