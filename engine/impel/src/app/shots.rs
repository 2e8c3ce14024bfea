//! Pictures on their way to files.

use crate::Error;
use impel_gpu::{Frame, ReadBack, Texture};
use std::path::{Path, PathBuf};

/// Writes a picture: path, size, texels of 8-bit RGBA (sRGB values) in rows from the top. Gives what went wrong, for people.
pub type WritePicture = fn(&Path, [u32; 2], &[u8]) -> Result<(), String>;

/// Pictures that the device has not finished yet.
pub(super) struct Shots {
    write: WritePicture,
    pending: Vec<(PathBuf, [u32; 2], ReadBack)>,
}

impl Shots {
    pub(super) fn new(write: WritePicture) -> Self {
        Self {
            write,
            pending: Vec::new(),
        }
    }

    /// Copies what `picture` holds after the passes recorded so far.
    pub(super) fn take(
        &mut self,
        frame: &mut Frame,
        picture: &Texture,
        path: PathBuf,
    ) -> Result<(), Error> {
        let [width, height, _] = picture.size();
        let texels = frame.read_back_texture(picture, 0)?;
        self.pending.push((path, [width, height], texels));
        Ok(())
    }

    /// Writes what is finished; with `wait` everything. Says what was written, and what could not be.
    pub(super) fn collect(&mut self, wait: bool) -> Result<Vec<String>, Error> {
        let mut said = Vec::new();
        let mut left = Vec::new();
        for (path, size, texels) in self.pending.drain(..) {
            let bytes = if wait {
                Some(texels.wait()?)
            } else {
                texels.try_get()?
            };
            match bytes {
                None => left.push((path, size, texels)),
                Some(bytes) => said.push(match (self.write)(&path, size, &bytes) {
                    Ok(()) => format!("wrote {}", path.display()),
                    Err(reason) => format!("could not write a picture: {reason}"),
                }),
            }
        }
        self.pending = left;
        Ok(said)
    }
}

/// A file name that is not taken: `stem-0001.ext` and so on in the working folder.
pub(super) fn free_name(stem: &str, extension: &str) -> PathBuf {
    (1..10_000)
        .map(|number| PathBuf::from(format!("{stem}-{number:04}.{extension}")))
        .find(|path| !path.exists())
        .unwrap_or_else(|| PathBuf::from(format!("{stem}.{extension}")))
}
