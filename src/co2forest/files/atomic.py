# SPDX-License-Identifier: BSD-3-Clause
"""Files that appear complete or not at all."""

import contextlib
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a file beside the place, bring it to disk, then rename it.

    At no moment is the file half there. A link stays a link; the file that it names is replaced.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():  # a directory, or a device that would be replaced
        raise OSError(f"{path} is not a regular file")
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        # Created here, because safetensors lets only the owner read its files.
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        mode = stat.S_IMODE((path if path.exists() else temporary).stat().st_mode)
        write(temporary)
        _sync(temporary)
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            # About a name that nobody has asked for.
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        raise
    if os.name == "posix":  # elsewhere a directory cannot be opened
        _sync(path.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
