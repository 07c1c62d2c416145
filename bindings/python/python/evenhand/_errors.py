"""The exceptions of the package."""

from __future__ import annotations

import re
from typing import Optional


class EvenhandError(Exception):
    """The base class of all exceptions of this package."""


class InputError(EvenhandError, ValueError):
    """Input that cannot be read, or that makes no sense.

    ``field`` is the place of the error in the input, such as ``users[0].demand.cpu`` in a dict or ``demand[0][1]`` in an
    array. For a file, ``file``, ``line`` and ``column`` are set as well.
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
        """The place in words, such as ``p.json:3:45: users[0].demand.cpu``, or only the field."""
        at = f"{self.file}:{self.line}:{self.column}" if self.file is not None else None
        return ": ".join(part for part in (at, self.field) if part) or None

    def __str__(self) -> str:
        return f"{self.place}: {self.what}" if self.place else self.what

    def __reduce__(self):
        return _input_error, (self.what, self.field, self.file, self.line, self.column)


def _input_error(what, field, file, line, column):
    return InputError(what, field=field, file=file, line=line, column=column)


def of_data(error: InputError) -> InputError:
    """Returns the error for Python data, which have no lines. The place of a missing top-level field is its name."""
    missing = re.match(r"the field `([\w-]+)` is missing", error.what)
    field = error.field or (missing[1] if missing else None)
    return InputError(error.what, field=field)


class NotApplicable(EvenhandError):
    """A mechanism is not defined for a problem. Your own rules may raise it too."""


class LimitError(EvenhandError):
    """A call needs more work, memory or time than its limits allow (:func:`evenhand.limits`)."""


class SolverError(EvenhandError):
    """A solver failed to compute an answer."""


class CertificateError(EvenhandError):
    """The kernel does not accept a certificate, or the certificate does not state what was required.

    ``reason`` is the reason in words.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class DefectError(EvenhandError):
    """A defect of this package; please report it."""

    def __str__(self) -> str:
        return f"this is a defect of evenhand, please report it: {super().__str__()}"


class EvenhandWarning(UserWarning):
    """A warning about a result, such as an allocation that does not fit."""
