//! Reading of files.

use std::io;
use std::path::Path;

/// Reads a whole file, if it is one: to read a pipe or a device might never end.
///
/// # Errors
///
/// What the system says, or [`io::ErrorKind::InvalidInput`] for what is no plain file.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let kind = std::fs::metadata(path)?.file_type();
    if !kind.is_file() && !kind.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "is a pipe, socket or device, expected a file",
        ));
    }
    std::fs::read(path)
}
