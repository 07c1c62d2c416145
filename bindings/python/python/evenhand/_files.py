"""Reads and writes files."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from typing import Iterator, TextIO, Tuple, Union

from ._errors import InputError, LimitError

#: The largest file that is read, in bytes, as in the library.
MOST_BYTES = 1 << 30


def read(path: Union[str, "os.PathLike[str]"]) -> str:
    with open(path, "rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise LimitError(f"{os.fspath(path)}: the file has more than {MOST_BYTES} bytes, the most that is read")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"found the byte 0x{data[error.start]:02x}, which is not UTF-8", file=os.fspath(path), line=1, column=1)


def write(path: Union[str, "os.PathLike[str]"], text: str) -> None:
    """Writes a file in one step: a reader sees the old file or the complete new one."""
    with replacing(path) as file:
        file.write(text)


@contextmanager
def replacing(path: Union[str, "os.PathLike[str]"]) -> Iterator[TextIO]:
    """Opens a new file that replaces ``path`` when the block ends without an exception.

    An existing file keeps its permissions. A new file gets the permissions that the umask of the process
    leaves. The umask is never changed.
    """
    path = os.path.realpath(os.fspath(path))
    handle, part = _new_file(os.path.dirname(path))
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            yield file
        if os.path.exists(path):
            os.chmod(part, os.stat(path).st_mode & 0o777)
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def _new_file(folder: str) -> Tuple[int, str]:
    """Creates a file with an unpredictable name. The umask applies to its permissions as to those of every file."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    while True:
        part = os.path.join(folder, f".evenhand-{secrets.token_hex(8)}.part")
        try:
            return os.open(part, flags, 0o666), part
        except FileExistsError:
            continue
