"""Reservations: greedy packing compared with the optimum."""

from __future__ import annotations

import os
from typing import Any, List, Mapping, Sequence, Union

from . import _evenhand as native
from . import _json, _numbers
from ._types import Progress
from ._allocation import check
from ._errors import InputError, of_data
from ._limits import granted
from ._shown import Result


class Proven(Result):
    """A result about a reservation, with the certificate that proves it."""

    def __init__(self, shown: Any, certificate: str) -> None:
        super().__init__(shown)
        self.certificate = certificate

    def check(self, require: Sequence[str] = ()) -> None:
        """Has the kernel check the certificate. ``require`` may contain ``exact`` and ``ratio:A``."""
        check(self.certificate, require=require)


class Monotone(Result):
    """The answer of :meth:`Reservation.monotone`. If ``holds`` is ``False``, ``certificates`` prove it."""

    def __init__(self, holds: bool, shown: Any, certificates: List[str]) -> None:
        super().__init__(shown)
        self.holds = holds
        self.certificates = certificates


class Reservation:
    """Pools of reserved servers, and jobs with rewards and loads.

    >>> import evenhand as eh
    >>> r = eh.Reservation.from_dict({
    ...     "resources": ["cpu"], "servers": [{"name": "pool", "capacity": {"cpu": 3}}],
    ...     "jobs": [{"name": "a", "demand": {"cpu": 2}, "reward": 5, "load": 1},
    ...              {"name": "b", "demand": {"cpu": 1}, "reward": 2}],
    ... })
    >>> r.ratio().data["ratio"]
    '1'
    """

    def __init__(self, native_reservation: Any) -> None:
        self._native = native_reservation

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Reservation":
        """Reads a reservation from data in the form of a file. ``kind`` may be left out."""
        data = dict(data)
        data.setdefault("kind", "reservation-problem")
        try:
            return cls(native.Reservation.parse("<dict>", _json.dumps(data), granted()))
        except InputError as error:
            raise of_data(error) from None

    @classmethod
    def from_file(cls, path: Union[str, "os.PathLike[str]"]) -> "Reservation":
        return cls(native.Reservation.read(os.fspath(path), granted()))

    def to_json(self) -> str:
        return self._native.to_json()

    def ratio(self, *, progress: Progress = None) -> Proven:
        """Computes greedy, the optimum and their ratio, exactly and with a proof."""
        shown, certificate, _ = native.ratio(self._native, granted(), progress)
        return Proven(shown, certificate)

    def worst_load(self, *, progress: Progress = None) -> Proven:
        """Computes the smallest fraction of the optimum that greedy earns with these types, over all loads."""
        shown, certificate, _ = native.worst_load(self._native, granted(), progress)
        return Proven(shown, certificate)

    def monotone(self) -> Monotone:
        """Decides if, with these types, the reward of greedy never falls when the load grows."""
        return Monotone(*native.monotone(self._native, granted()))

    def sweep(self, multiples: Sequence[Any], *, progress: Progress = None) -> Result:
        """Computes greedy and the optimum for multiples of the loads."""
        texts = [_numbers.text(multiple, f"multiples[{at}]") for at, multiple in enumerate(multiples)]
        return Result(native.ratio_sweep(self._native, texts, granted(), progress))

    def __reduce__(self) -> Any:
        import json

        return Reservation.from_dict, (json.loads(self.to_json()),)


def ratio(reservation: Any, *, progress: Progress = None) -> Proven:
    """Compares greedy packing with the optimum for a :class:`Reservation`, its data or a path."""
    if isinstance(reservation, Mapping):
        reservation = Reservation.from_dict(reservation)
    elif not isinstance(reservation, Reservation):
        reservation = Reservation.from_file(reservation)
    return reservation.ratio(progress=progress)
