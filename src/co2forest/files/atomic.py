# SPDX-License-Identifier: BSD-3-Clause
"""Files that appear complete or not at all, and leave nothing else behind.

On Linux a file is written without a name, so that a kill leaves nothing. A name that exists cannot
be given to it at once: it gets a temporary one, which is then renamed. For these microseconds its
writer holds a lock, so that the next writer can tell what a kill has left there. Other systems, and
file systems of networks, have no such files, or locks that others do not see or that forbid to
write. There the temporary name is that of the whole writing, and is removed if it is a day old.
"""

import contextlib
import hashlib
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_Write = Callable[[Path], object]

_ENDING = ".co2forest-tmp"
_MOST_WRITERS = 1000  # of the same file, in the same microseconds
_ABANDONED = 24 * 3600  # seconds; no file is written for so long


def write_atomically(path: Path, write: _Write) -> None:
    """Let ``write`` fill a file elsewhere, bring it to disk, then rename it.

    At no moment is the file half there. A link stays a link; the file that it names is replaced.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():  # a directory, or a device that would be replaced
        raise OSError(f"{path} is not a regular file")
    try:
        if not _write_unnamed(path, write):
            _write_named(path, write)
        if os.name == "posix":  # elsewhere a directory cannot be opened
            _sync(path.parent)
    except OSError as error:
        if error.errno is None:
            raise
        # About a name that nobody has asked for.
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def _write_unnamed(path: Path, write: _Write) -> bool:
    """Write a file that has no name before it is complete; False if the system has none."""
    try:
        descriptor = os.open(path.parent, os.O_TMPFILE | os.O_RDWR, 0o666)
    except (AttributeError, OSError):  # also if there is no such folder, which others will say
        return False
    try:
        unnamed = Path(f"/proc/self/fd/{descriptor}")
        if not unnamed.exists():
            return False
        write(unnamed)
        os.fsync(descriptor)
        os.fchmod(descriptor, _mode(path, unnamed))
        temporary = _linked(descriptor, unnamed, path)
        if temporary is None:
            return False
        _rename(temporary, path)
    finally:
        os.close(descriptor)
    return True


def _linked(descriptor: int, unnamed: Path, path: Path) -> Path | None:
    """The temporary name that a file has got; None if it can have none."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for i in range(_MOST_WRITERS):
            temporary = path.with_name(f"{_beginning(path)}{i}{_ENDING}")
            for _ in range(2):  # the second time without what a kill has left
                with contextlib.suppress(FileExistsError):
                    # With a descriptor of a folder, which is ignored, links are followed.
                    os.link(unnamed, temporary, src_dir_fd=descriptor, follow_symlinks=True)
                    return temporary
                _remove_unless_locked(temporary)
    except OSError:  # some systems allow files without names, but no links to them
        pass
    return None


def _remove_unless_locked(temporary: Path) -> None:
    """Remove a complete file whose writer was killed before it was renamed."""
    with contextlib.suppress(OSError):
        descriptor = os.open(temporary, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Only who has the lock may remove it; before, it may have become another file.
            if os.path.samestat(os.fstat(descriptor), temporary.lstat()):
                temporary.unlink()
        finally:
            os.close(descriptor)


def _write_named(path: Path, write: _Write) -> None:
    """Write a file under a temporary name."""
    temporary = path.with_name(f"{_beginning(path)}{secrets.token_hex(8)}{_ENDING}")
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        _remove_abandoned(path, temporary.stat().st_mtime - _ABANDONED)
        mode = _mode(path, temporary)
        write(temporary)
        _sync(temporary)
        temporary.chmod(mode)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    _rename(temporary, path)


def _remove_abandoned(path: Path, before: float) -> None:
    """Remove what kills have left, by the clock of the file system."""
    for other in path.parent.glob(f"{_beginning(path)}*{_ENDING}"):
        with contextlib.suppress(OSError):
            if other.stat().st_mtime < before:
                other.unlink()


def _beginning(path: Path) -> str:
    """How temporary names of a file begin, which are shorter than its own may be."""
    return f".{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]}-"


def _mode(path: Path, new: Path) -> int:
    """Permissions: those of the file that is replaced, or of any new file."""
    return stat.S_IMODE((path if path.exists() else new).stat().st_mode)


def _rename(temporary: Path, path: Path) -> None:
    try:
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
