"""What can go wrong, and where."""

from __future__ import annotations

import re
from typing import Optional


class EvenhandError(Exception):
    """Every exception of this package."""


class InputError(EvenhandError, ValueError):
    """Input that cannot be read, or states what cannot be.

    ``field`` is the place in what was given, such as ``users[0].demand.cpu`` of a dict or ``demand[0][1]`` of an
    array; of a file there are also ``file``, ``line`` and ``column``.
    """

    def __init__(
        self,
        what: str,
        *,
        field: Optional[str] = None,
        file: Optional[str] = None,
        line: Optional[int] = None,
        column: Optional[int] = None,
    ) -> None:
        self.what = what
        self.field = field or None
        self.file = file
        self.line = line
        self.column = column
        super().__init__(what)

    @property
    def place(self) -> Optional[str]:
        """Where it is, in words: ``p.json:3:45: users[0].demand.cpu``, or the field alone."""
        at = f"{self.file}:{self.line}:{self.column}" if self.file is not None else None
        return ": ".join(part for part in (at, self.field) if part) or None

    def __str__(self) -> str:
        return f"{self.place}: {self.what}" if self.place else self.what

    def __reduce__(self):
        return _input_error, (self.what, self.field, self.file, self.line, self.column)


def _input_error(what, field, file, line, column):
    return InputError(what, field=field, file=file, line=line, column=column)


def of_data(error: InputError) -> InputError:
    """The same error about data of Python, which has no lines. A field that is missing at the top is the place itself."""
    missing = re.match(r"the field `([\w-]+)` is missing", error.what)
    field = error.field or (missing[1] if missing else None)
    return InputError(error.what, field=field)


class NotApplicable(EvenhandError):
    """A mechanism is not defined for a problem. Rules of one's own raise it too."""


class LimitError(EvenhandError):
    """More work, memory or time would be needed than is granted (:func:`evenhand.limits`)."""


class SolverError(EvenhandError):
    """A solver has no answer."""


class CertificateError(EvenhandError):
    """The kernel does not accept a certificate, or the certificate does not state what was required.

    ``reason`` says why.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class DefectError(EvenhandError):
    """A fault of this package; please report it."""

    def __str__(self) -> str:
        return f"this is a defect of evenhand, please report it: {super().__str__()}"


class EvenhandWarning(UserWarning):
    """What a reader of a result should know."""
