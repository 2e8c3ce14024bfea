//! Files that a run is to write, tried before it begins: a mistake in a path should not cost the run.

use crate::Error;
use crate::arguments::RunArguments;
use crate::picture;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
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
    match path.metadata() {
        // Opening a pipe would wait for its reader, and a device may do anything.
        Ok(found) if !found.is_file() && !found.is_dir() => Ok(()),
        Ok(_) => OpenOptions::new()
            .append(true)
            .open(path)
            .map(drop)
            .map_err(wrong),
        // Not under its own name: another run that shares the sequence may be about to write it.
        Err(reason) if reason.kind() == ErrorKind::NotFound => {
            let probe = path.with_file_name(format!(".scenes-{}", std::process::id()));
            File::create_new(&probe)
                .and_then(|_| std::fs::remove_file(&probe))
                .map_err(wrong)
        }
        Err(reason) => Err(wrong(reason)),
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
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        for wrong in [
            folder.clone(),
            folder.join("missing/new.png"),
            old.join("new.png"),
        ] {
            let error = try_path(&wrong).unwrap_err().to_string();
            assert!(error.starts_with(&*wrong.to_string_lossy()), "{error}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
