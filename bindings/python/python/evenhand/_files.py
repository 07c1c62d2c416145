"""Reading and writing files."""

from __future__ import annotations

import os
import tempfile
from typing import Union

from ._errors import InputError, LimitError

#: As the library: no longer file is read.
MOST_BYTES = 1 << 30


def read(path: Union[str, "os.PathLike[str]"]) -> str:
    with open(path, "rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise LimitError(f"{os.fspath(path)}: more than {MOST_BYTES} bytes, the most that a file may have")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"found the byte 0x{data[error.start]:02x}, which is not UTF-8", file=os.fspath(path), line=1, column=1)


def write(path: Union[str, "os.PathLike[str]"], text: str) -> None:
    """Writes a file in one step: a reader sees the old one or the whole new one."""
    path = os.path.realpath(os.fspath(path))
    handle, part = tempfile.mkstemp(prefix=".evenhand-", suffix=".part", dir=os.path.dirname(path))
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else 0o666 & ~_mask()
        os.chmod(part, mode)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
