//! Writing the output so that a failed run changes nothing.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{Result, Write};
use std::path::Path;

/// Writes `bytes` to `path`, or to standard output if there is none.
///
/// A regular file is written beside its final place and renamed; devices, pipes, links and files
/// in a directory that takes no new ones are written through.
///
/// # Errors
/// What the system says.
pub fn write(path: Option<&Path>, bytes: &[u8]) -> Result<()> {
    let Some(path) = path else {
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(bytes)?;
        return stdout.flush();
    };
    let existing = std::fs::symlink_metadata(path).ok();
    if existing.as_ref().is_some_and(|m| !replaceable(m)) {
        return File::create(path)?.write_all(bytes);
    }
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let Ok(mut file) = File::create_new(&temporary) else {
        return File::create(path)?.write_all(bytes);
    };
    let result = file
        .write_all(bytes)
        .and_then(|()| match &existing {
            Some(old) => file.set_permissions(old.permissions()),
            None => Ok(()),
        })
        .and_then(|()| std::fs::rename(&temporary, path));
    if result.is_err() {
        // The first fault is the one to report.
        let _ = std::fs::remove_file(&temporary);
    }
    result
}

/// A regular file with one name: renaming over it is what a user means by writing it.
fn replaceable(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    let names = std::os::unix::fs::MetadataExt::nlink(metadata);
    #[cfg(not(unix))]
    let names = 1;
    metadata.is_file() && names == 1
}
