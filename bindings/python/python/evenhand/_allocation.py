"""Allocations and certificates."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Dict, Iterable, Optional, Sequence, Union

from . import _evenhand as native
from . import _numbers, _settings, _types
from ._errors import CertificateError, InputError
from ._limits import granted
from ._shown import Result
from ._verdicts import Verdict, Verdicts

if TYPE_CHECKING:
    from ._problem import Problem


class Allocation(Result):
    """The exact tasks of every user on every server class."""

    def __init__(self, problem: "Problem", native_allocation: Any, own: Optional[str] = None) -> None:
        self._problem = problem
        # The axiom that the user's own rule is made to satisfy.
        self._own = own
        self._native = native_allocation
        self._tasks: Optional[Dict[str, Dict[str, Fraction]]] = None

    @property
    def _shown(self) -> Any:  # type: ignore[override]
        return self._native.shown()

    @property
    def problem(self) -> "Problem":
        return self._problem

    @property
    def mechanism(self) -> Optional[str]:
        """The mechanism that made the allocation, if it is known."""
        return self._native.mechanism

    @property
    def exact(self) -> bool:
        """``True`` if the allocation comes from exact arithmetic."""
        return self._native.arithmetic == "exact"

    @property
    def sharing(self) -> _types.Sharing:
        """``rdm`` if resources are divided, ``tdm`` if servers are shared by time."""
        return self._native.sharing

    @property
    def status(self) -> Optional[str]:
        """The status in which an iterative method stopped; ``solved`` is the regular one."""
        return self._native.status

    @property
    def tasks(self) -> Dict[str, Dict[str, Fraction]]:
        """The tasks by user and class, without zeros."""
        if self._tasks is None:
            servers = self._problem.servers
            rows = zip(self._problem.users, self._native.tasks())
            self._tasks = {user: {servers[i]: x for i, x in row} for user, row in rows}
        return self._tasks

    @property
    def totals(self) -> Dict[str, Fraction]:
        """The total tasks of every user on all classes."""
        return dict(zip(self._problem.users, self._native.totals()))

    @property
    def dominant_shares(self) -> Dict[str, Fraction]:
        """The dominant share of each user: its largest fraction of any resource of the cluster, not divided by its weight."""
        return dict(zip(self._problem.users, self._native.dominant_shares()))

    @property
    def utilisation(self) -> Dict[str, Optional[Fraction]]:
        """The fraction of each resource of the cluster that is used; None if no server has the resource."""
        return dict(zip(self._problem.resources, self._native.utilisation()))

    def to_json(self, *, decimals: bool = False) -> str:
        """The document, as ``evenhand solve`` writes it; with ``decimals``, each exact number is also given as a decimal."""
        return self._native.to_json() if not decimals else native.allocation_with_decimals(self._native.to_json())

    def to_file(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the document to a file."""
        from ._files import write

        write(path, self.to_json())

    def to_numpy(self) -> "_types.Doubles":
        """The tasks as an array of doubles, users × classes."""
        from . import _dense

        return _dense.filled(self._native.doubles(), (len(self._problem.users), len(self._problem.servers)))

    def to_pandas(self) -> Any:
        """The tasks as a data frame, with users as rows and classes as columns."""
        from ._extras import need

        pandas = need("pandas", "tables")
        return pandas.DataFrame(
            self.to_numpy(),
            index=pandas.Index(self._problem.users, name="user"),
            columns=pandas.Index(self._problem.servers, name="server"),
        )

    def to_csv(self, path: Union[None, str, "os.PathLike[str]"] = None) -> str:
        """The exact tasks as CSV with the columns user, server and tasks; also written to ``path`` if it is given."""
        from . import _tables

        return _tables.allocation_to_csv(self, path)

    def to_parquet(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the table of :meth:`to_csv` as Parquet, with the numbers as exact texts."""
        from . import _tables

        _tables.allocation_to_parquet(self, path)

    def certify(
        self,
        axioms: Optional[Sequence[str]] = None,
        tolerance: Optional[_types.Number] = None,
        *,
        share: Optional[str] = None,
        alpha: Optional[_types.Number] = None,
        seconds: Optional[_types.Number] = None,
        progress: _types.Progress = None,
    ) -> "Certificate":
        """Examines the named axioms, or the usual ones, and makes the certificate.

        The default tolerance is 0 for exact allocations and 1e-9 for others.

        >>> import evenhand as eh
        >>> p = eh.Problem.from_arrays([[2, 12], [12, 2]], [["1/5", 1], [1, "1/5"]])
        >>> c = p.solve("drfh").certify()
        >>> c.verdicts["envy-free"].margin
        Fraction(2, 3)
        >>> c.check(require=["envy-free", "max-min:drfh"])
        """
        if isinstance(axioms, str):
            raise InputError("found a text: expected a list of axioms", field="axioms")
        found = native.certify(
            self._native,
            None if axioms is None else [str(axiom) for axiom in axioms],
            [] if self._own is None else [self._own],
            _numbers.optional(tolerance, "tolerance"),
            share,
            _numbers.optional(alpha, "alpha"),
            _settings.seconds(seconds),
            granted(),
            progress,
        )
        return Certificate(self, found)

    def polish(
        self, mechanism: _types.MechanismName, *, seed: int = 0, progress: _types.Progress = None, **settings: Any
    ) -> "Polished":
        """Computes the exact answer of a mechanism that is nearest to this allocation, and its distance.

        >>> import evenhand as eh
        >>> p = eh.Problem.from_arrays([[2, 12], [12, 2]], [["1/5", 1], [1, "1/5"]])
        >>> near = p.allocation([[9.9999999, 0], [0, 10]]).polish("drfh")
        >>> near.allocation.totals["u0"], near.changes, near.is_nearest
        (Fraction(10, 1), {'u0': Fraction(1, 10000000)}, True)
        """
        stated = _settings.texts(settings)
        found = native.polish(
            self._native, _settings.name(mechanism), _settings.seed(seed), stated, granted(), progress
        )
        return Polished(Allocation(self._problem, found[0]), found[1])

    def explain(
        self,
        user: Optional[str] = None,
        *,
        group: Optional[str] = None,
        rule: Optional[str] = None,
        whole: bool = False,
    ) -> "Explanation":
        """Explains the allocation of a user, or the level of a group, or (with neither) the levels of all groups and users."""
        if user is not None and group is not None:
            raise InputError("expected a user or a group", field="group")
        if user is not None:
            return Explanation(native.explain(self._native, user, granted()))
        if group is not None:
            return Explanation(native.explain_group(self._native, group, granted()))
        return Explanation(native.explain_levels(self._native, rule, whole, granted()))

    def plot(self, ax: Any = None) -> Any:
        """Draws the use of every resource of every class by user as bars with matplotlib. Returns the axes."""
        from . import _plots

        return _plots.allocation(self._problem, self, ax)

    def __repr__(self) -> str:
        made = f" by {self.mechanism}" if self.mechanism else ""
        kind = "exact" if self.exact else "float"
        return f"<Allocation{made}: {len(self._problem.users)} users, {kind}>"

    def _repr_html_(self) -> str:
        from . import _pages

        return _pages.allocation(self)

    def __reduce__(self) -> Any:
        return _allocation, (self._problem, self.to_json())


def _allocation(problem: "Problem", text: str) -> Allocation:
    return problem.allocation_from_json(text)


class Polished(Result):
    """The exact answer of a mechanism that is nearest to an allocation, and its distance."""

    def __init__(self, allocation: Allocation, shown: Any) -> None:
        super().__init__(shown)
        self._allocation = allocation

    @property
    def allocation(self) -> Allocation:
        """The exact answer."""
        return self._allocation

    @property
    def is_nearest(self) -> bool:
        """``True`` if no other answer of the mechanism is nearer. If not, this is the answer that the mechanism computes."""
        return self.data["is_nearest"]

    @property
    def gap(self) -> Optional[Fraction]:
        """The largest possible distance of the answer from the optimum, if the optimum is irrational."""
        gap = self.data["gap"]
        return None if gap is None else Fraction(gap)

    @property
    def changes(self) -> Dict[str, Fraction]:
        """The tasks of each user in the answer minus its tasks in the allocation, without zeros."""
        return {user: Fraction(change) for user, change in self.data["changes"].items()}

    @property
    def distance(self) -> Fraction:
        """The largest change of a user's tasks, as a fraction of its solo tasks."""
        farthest = self.data["farthest"]
        return Fraction(0) if farthest is None else Fraction(farthest["part"])

    @property
    def placements(self) -> Fraction:
        """The largest change of a user's tasks on one class, as a fraction of the user's solo tasks."""
        return Fraction(self.data["placements"])

    def __repr__(self) -> str:
        return str(self)


class Explanation(Result):
    """The explanation of an allocation to a user or group, as a document and in words."""

    def __repr__(self) -> str:
        return str(self)


class Certificate(Result):
    """The verdicts on an allocation, with the evidence that proves them."""

    def __init__(self, allocation: Allocation, examination: Any) -> None:
        self._allocation = allocation
        self._native = examination
        self._verdicts: Optional[Verdicts] = None

    @property
    def _shown(self) -> Any:  # type: ignore[override]
        return self._native.shown()

    @property
    def allocation(self) -> Allocation:
        return self._allocation

    @property
    def problem(self) -> "Problem":
        return self._allocation.problem

    @property
    def tolerance(self) -> Fraction:
        return self._native.tolerance

    @property
    def repair(self) -> Fraction:
        """The largest change that makes the allocation feasible, as a fraction of a user's solo tasks."""
        return self._native.repair

    @property
    def infeasible(self) -> bool:
        """``True`` if the allocation is infeasible beyond the tolerance, so that nothing else is claimed."""
        return self._native.infeasible

    @property
    def unchecked(self) -> Optional[str]:
        """The reason why the kernel gave no verdict on the certificate, if it exceeded its limits."""
        return self._native.unchecked

    @property
    def verdicts(self) -> Verdicts:
        if self._verdicts is None:
            rows = (Verdict(self._native, row) for row in self._native.verdicts())
            self._verdicts = Verdicts((verdict.name, verdict) for verdict in rows)
        return self._verdicts

    def to_json(self) -> str:
        """The certificate, as ``evenhand certify`` writes it and ``evenhand-check`` reads it."""
        return self._native.to_json()

    @property
    def data(self) -> Dict[str, Any]:
        return json.loads(self.to_json())

    def to_file(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the certificate."""
        from ._files import write

        write(path, self.to_json())

    def check(self, require: Iterable[str] = (), max_tolerance: Optional[_types.Number] = None) -> None:
        """Has the kernel check the certificate.

        Raises :class:`CertificateError` with the reason if a claim is not proven, an axiom in ``require`` is not claimed to
        hold, or the tolerance is above ``max_tolerance`` (by default the tolerance of the certificate).
        """
        limit = self.tolerance if max_tolerance is None else max_tolerance
        check(self, require=require, max_tolerance=limit, sharing=self._native.sharing)

    def plot(self, ax: Any = None) -> Any:
        """Draws the margins of the axioms as bars with matplotlib. Returns the axes."""
        from . import _plots

        return _plots.certificate(self.verdicts.values(), ax)

    def to_pandas(self) -> Any:
        """A row for every axiom with its least tolerance, whose computation may take as long as the examination."""
        from ._extras import need

        pandas = need("pandas", "tables")
        rows = [
            {
                "axiom": verdict.name,
                "outcome": verdict.outcome,
                "holds": verdict.holds,
                "margin": None if verdict.margin is None else float(verdict.margin),
                "in_tasks": None if verdict.in_tasks is None else float(verdict.in_tasks),
                "least_tolerance": None if verdict.least_tolerance is None else float(verdict.least_tolerance),
            }
            for verdict in self.verdicts.values()
        ]
        return pandas.DataFrame(rows).set_index("axiom")

    def __repr__(self) -> str:
        return str(self)


def check(
    certificate: Any,
    *,
    require: Iterable[str] = (),
    max_tolerance: Optional[_types.Number] = None,
    problem: Any = None,
    allocation: Any = None,
    sharing: Optional[_types.Sharing] = None,
) -> str:
    """Has the kernel check a certificate: a :class:`Certificate`, a path, or the text or data of a document.

    ``problem`` and ``allocation`` are your own copies; the certificate must be about them. By default the kernel accepts
    tolerances up to 1e-6 and divided resources, as ``evenhand-check`` does. Returns the verdict in words, or raises
    :class:`CertificateError`.
    """
    if isinstance(require, str):
        require = [require]
    name, text = _named(certificate)
    limit = _numbers.optional(max_tolerance, "max_tolerance")
    own = [None if of is None else _named(of)[1] for of in (problem, allocation)]
    reason, words, _ = native.check(name, text, own[0], own[1], [str(of) for of in require], limit, sharing, granted())
    if reason is not None:
        raise CertificateError(reason)
    return words


def _named(document: Any) -> "tuple[str, str]":
    """Returns the name of a document in messages, and its text."""
    from . import _json
    from ._files import read

    if hasattr(document, "to_json"):
        return type(document).__name__.lower(), document.to_json()
    if isinstance(document, dict):
        return "<dict>", _json.dumps(document)
    if isinstance(document, str) and document.lstrip().startswith("{"):
        return "<text>", document
    return os.fspath(document), read(document)
