//! What a replaced file hands on to its successor: owner, mode and extended attributes, or else the refusal.

use super::look::regular;
use super::roots::{Failure, beneath};
use rustix::fd::OwnedFd;
use rustix::fs::{
    Access, AtFlags, Gid, Mode, OFlags, ResolveFlags, Stat, Uid, XattrFlags, accessat, fchmod, fchown,
    fgetxattr, flistxattr, fsetxattr, fstat,
};
use rustix::io::Errno;

/// Refuses a file that its owner made read-only: taking over its name would get around that.
pub(super) fn writable(folder: &OwnedFd, name: &str, stat: &Stat) -> Result<(), Failure> {
    match accessat(folder, name, Access::WRITE_OK, AtFlags::EACCESS) {
        Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => Err(Failure::Refused(format!(
            "it is read-only (mode {:04o}); make it writable first",
            stat.st_mode & 0o7777
        ))),
        _ => Ok(()),
    }
}

/// Gives `file` the owner, attributes and mode of the file `name`, whose `stat` is known.
pub(super) fn attributes(
    folder: &OwnedFd,
    name: &str,
    stat: &Stat,
    file: &std::fs::File,
) -> Result<(), Failure> {
    let made = fstat(file)?;
    if made.st_uid != stat.st_uid || made.st_gid != stat.st_gid {
        let owner = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
        fchown(file, Some(owner.0), Some(owner.1)).map_err(|errno| {
            Failure::Refused(format!(
                "its owner {}:{} cannot be kept ({errno}); write as that user",
                stat.st_uid, stat.st_gid
            ))
        })?;
    }
    extended(folder, name, file)?;
    // The mode comes last: a change of owner takes the set-user bits away.
    let mode = stat.st_mode & 0o7777;
    fchmod(file, Mode::from_raw_mode(mode))?;
    if fstat(file)?.st_mode & 0o7777 != mode {
        return Err(Failure::Refused(format!("its mode {mode:04o} cannot be kept; write as its owner")));
    }
    Ok(())
}

fn extended(folder: &OwnedFd, name: &str, file: &std::fs::File) -> Result<(), Failure> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let old = match beneath(folder, name, flags, ResolveFlags::NO_SYMLINKS) {
        Ok(old) => old,
        // A file that may not be read has attributes that may not be read.
        Err(Errno::ACCESS) => return Ok(()),
        Err(errno) => return Err(errno.into()),
    };
    regular(&old)?;
    let mut list = vec![0; 64 * 1024];
    let length = match flistxattr(&old, &mut list[..]) {
        Ok(length) => length,
        Err(Errno::NOTSUP) => return Ok(()),
        Err(errno) => return Err(errno.into()),
    };
    for attribute in list[..length].split(|byte| *byte == 0).filter(|attribute| !attribute.is_empty()) {
        let mut value = vec![0; 64 * 1024];
        let kept = fgetxattr(&old, attribute, &mut value[..])
            .and_then(|length| fsetxattr(file, attribute, &value[..length], XattrFlags::empty()));
        // Labels of a security module are given by the system, not by us.
        if let Err(errno) = kept
            && !attribute.starts_with(b"security.")
        {
            let attribute = String::from_utf8_lossy(attribute);
            return Err(Failure::Refused(format!("its attribute `{attribute}` cannot be kept ({errno})")));
        }
    }
    Ok(())
}
