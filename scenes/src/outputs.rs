//! Files that a run is to write, tried before it begins: a mistake in a path should not cost the run.

use crate::Error;
use crate::arguments::RunArguments;
use crate::picture;
use std::fs::OpenOptions;
use std::path::Path;

/// Tries whether picture and statistics can be written. What exists is left as it is.
///
/// # Errors
/// [`Error::File`] for the first that cannot.
pub fn check(arguments: &RunArguments) -> Result<(), Error> {
    if let Some(out) = &arguments.out {
        match arguments.every {
            Some(_) => try_path(&picture::numbered(out, 0))?,
            None => try_path(out)?,
        }
    }
    arguments.json.as_deref().map_or(Ok(()), try_path)
}

fn try_path(path: &Path) -> Result<(), Error> {
    let wrong = |reason| Error::file(path, reason);
    let found = path.metadata();
    // Opening a pipe would wait for its reader, and a device may do anything.
    if found
        .as_ref()
        .is_ok_and(|found| !found.is_file() && !found.is_dir())
    {
        return Ok(());
    }
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .map_err(wrong)?;
    match found {
        Ok(_) => Ok(()),
        Err(_) => std::fs::remove_file(path).map_err(wrong),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trying_a_path_changes_nothing() {
        let folder = std::env::temp_dir().join(format!("scenes-outputs-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (old, new) = (folder.join("old.png"), folder.join("new.png"));
        std::fs::write(&old, "kept").unwrap();
        try_path(&old).unwrap();
        assert_eq!(std::fs::read_to_string(&old).unwrap(), "kept");
        try_path(&new).unwrap();
        assert!(!new.exists());
        for wrong in [folder.clone(), folder.join("missing/new.png")] {
            let error = try_path(&wrong).unwrap_err().to_string();
            assert!(error.starts_with(&*wrong.to_string_lossy()), "{error}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
