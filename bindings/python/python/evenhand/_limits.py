"""The limits of calls."""

from __future__ import annotations

import ctypes
import re
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Dict, Iterator, Optional, Union

from ._errors import InputError
from ._numbers import shown

_granted: ContextVar[Dict[str, Optional[int]]] = ContextVar("evenhand_limits", default={"work": None, "memory": None})

_UNITS = {
    "": 1, "B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9,
    "K": 2**10, "M": 2**20, "G": 2**30, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
}  # fmt: skip


def granted() -> Dict[str, Optional[int]]:
    return _granted.get()


def _bytes(memory: Union[None, int, str]) -> Optional[int]:
    if memory is None:
        return None
    if isinstance(memory, int) and not isinstance(memory, bool):
        count = memory
    else:
        match = re.fullmatch(r"(\d{1,20})\s*([A-Za-z]*)", str(memory))
        if not match or match[2] not in _UNITS:
            raise InputError(f"found {shown(memory)}: expected bytes such as 500MiB or 4GiB", field="memory")
        count = int(match[1]) * _UNITS[match[2]]
    if not 0 < count < 2**62:
        raise InputError(f"found {shown(memory)}: expected a positive number of bytes", field="memory")
    return count


@contextmanager
def limits(work: Optional[float] = None, memory: Union[None, int, str] = None) -> Iterator[None]:
    """Limits the calls in a ``with`` block to ``work`` steps, some nanoseconds each, and ``memory`` bytes.

    After a :class:`LimitError`, the memory of the call is returned to the system, at once or as soon as the interrupted solver
    has ended.

    The defaults are those of the program. For less than a megabyte of input they are 1e10 steps, about a minute, and 2 GiB.

    >>> import evenhand as eh
    >>> p = eh.Problem.from_arrays([[2, 12], [12, 2]], [["1/5", 1], [1, "1/5"]])
    >>> with eh.limits(work=10):
    ...     p.solve("drfh")
    Traceback (most recent call last):
    evenhand.LimitError: ...
    """
    if work is not None and not 1 <= work <= 2**53:
        raise InputError(f"found {shown(work)}: expected a number of steps, such as 1e10", field="work")
    token = _granted.set({"work": None if work is None else int(work), "memory": _bytes(memory)})
    try:
        yield
    finally:
        _granted.reset(token)


def set_threads(threads: int) -> None:
    """Sets the number of threads of a call; 0 means one for each core. Results do not depend on it."""
    from . import _evenhand as native
    from ._settings import count

    native.set_threads(count(threads, "threads", 1024))


def give_back() -> None:
    """Returns freed memory to the system, if the C library supports it (glibc does).

    The library calls this before it raises :class:`evenhand.LimitError`.
    """
    if sys.platform.startswith("linux"):
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
