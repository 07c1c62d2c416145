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
    """Tasks of every user on every server class, exact."""

    def __init__(self, problem: "Problem", native_allocation: Any, own: Optional[str] = None) -> None:
        self._problem = problem
        # The axiom that a rule of one's own is made to satisfy.
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
        """The mechanism that made it, where that is known."""
        return self._native.mechanism

    @property
    def exact(self) -> bool:
        """Whether it comes from exact arithmetic."""
        return self._native.arithmetic == "exact"

    @property
    def sharing(self) -> _types.Sharing:
        """``rdm``, resources are divided, or ``tdm``, servers are shared by time."""
        return self._native.sharing

    @property
    def status(self) -> Optional[str]:
        """How an iterative method ended; ``solved`` is as it should be."""
        return self._native.status

    @property
    def tasks(self) -> Dict[str, Dict[str, Fraction]]:
        """Tasks by user and class, without zeros."""
        if self._tasks is None:
            servers = self._problem.servers
            rows = zip(self._problem.users, self._native.tasks())
            self._tasks = {user: {servers[i]: x for i, x in row} for user, row in rows}
        return self._tasks

    @property
    def totals(self) -> Dict[str, Fraction]:
        """Tasks of every user on all classes."""
        return dict(zip(self._problem.users, self._native.totals()))

    @property
    def dominant_shares(self) -> Dict[str, Fraction]:
        """By user the largest part that it holds of any resource of the whole cluster; weights are not divided out."""
        return dict(zip(self._problem.users, self._native.dominant_shares()))

    @property
    def utilisation(self) -> Dict[str, Optional[Fraction]]:
        """By resource the part of the whole cluster that is used; None where there is none of it."""
        return dict(zip(self._problem.resources, self._native.utilisation()))

    def to_json(self, *, decimals: bool = False) -> str:
        """The document, as ``evenhand solve`` writes it, with a decimal beside each exact number where asked."""
        return self._native.to_json() if not decimals else native.allocation_with_decimals(self._native.to_json())

    def to_file(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the document."""
        from ._files import write

        write(path, self.to_json())

    def to_numpy(self) -> "_types.Doubles":
        """Users × classes as an array of doubles."""
        from . import _dense

        return _dense.filled(self._native.doubles(), (len(self._problem.users), len(self._problem.servers)))

    def to_pandas(self) -> Any:
        """The same as a frame with names."""
        from ._extras import need

        pandas = need("pandas", "tables")
        return pandas.DataFrame(
            self.to_numpy(),
            index=pandas.Index(self._problem.users, name="user"),
            columns=pandas.Index(self._problem.servers, name="server"),
        )

    def to_csv(self, path: Union[None, str, "os.PathLike[str]"] = None) -> str:
        """The tasks as a table of user, server and tasks, exact; written to ``path`` where there is one."""
        from . import _tables

        return _tables.allocation_to_csv(self, path)

    def to_parquet(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """The same table as Parquet, with exact numbers as texts beside doubles."""
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
        """Examines axioms, the usual ones where none is named, and makes the certificate.

        The tolerance is 0 for exact allocations and 1e-9 for others, unless it is stated.

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
        """The exact answer of a mechanism that is nearest to this allocation, and how far it is.

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
        """Why a user has what it has; where a group stands; or, with neither, where all groups and users stand."""
        if user is not None and group is not None:
            raise InputError("expected a user or a group", field="group")
        if user is not None:
            return Explanation(native.explain(self._native, user, granted()))
        if group is not None:
            return Explanation(native.explain_group(self._native, group, granted()))
        return Explanation(native.explain_levels(self._native, rule, whole, granted()))

    def plot(self, ax: Any = None) -> Any:
        """Who holds what part of every resource of every class, as bars of matplotlib; gives the axes."""
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
    """The exact answer of a mechanism that is nearest to an allocation, and how far it is."""

    def __init__(self, allocation: Allocation, shown: Any) -> None:
        super().__init__(shown)
        self._allocation = allocation

    @property
    def allocation(self) -> Allocation:
        """The exact answer."""
        return self._allocation

    @property
    def is_nearest(self) -> bool:
        """Whether no other answer of the mechanism is nearer; otherwise this is the one that it finds."""
        return self.data["is_nearest"]

    @property
    def gap(self) -> Optional[Fraction]:
        """How far the answer is from the optimum at most, where that is irrational."""
        gap = self.data["gap"]
        return None if gap is None else Fraction(gap)

    @property
    def changes(self) -> Dict[str, Fraction]:
        """By user its tasks in the answer, less those that it was given; without zeros."""
        return {user: Fraction(change) for user, change in self.data["changes"].items()}

    @property
    def distance(self) -> Fraction:
        """The largest change of a user's tasks, as a part of what it would have alone."""
        farthest = self.data["farthest"]
        return Fraction(0) if farthest is None else Fraction(farthest["part"])

    @property
    def placements(self) -> Fraction:
        """The largest change on one class, as a part of what the user would have alone."""
        return Fraction(self.data["placements"])

    def __repr__(self) -> str:
        return str(self)


class Explanation(Result):
    """Why somebody has what it has: a document, and the words of the program."""

    def __repr__(self) -> str:
        return str(self)


class Certificate(Result):
    """What was found of an allocation, with the evidence that proves it."""

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
        """The largest change that makes the allocation feasible, as a part of what a user would have alone."""
        return self._native.repair

    @property
    def infeasible(self) -> bool:
        """Whether the allocation is infeasible beyond the tolerance, so that nothing else is claimed."""
        return self._native.infeasible

    @property
    def unchecked(self) -> Optional[str]:
        """Why the kernel gave no verdict on the certificate: judging it would take more than it is allowed."""
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
        """Lets the kernel judge the certificate.

        :class:`CertificateError` says why it is not accepted: a claim is not proven, an axiom in ``require`` is not
        claimed to hold, or the tolerance is above ``max_tolerance`` (that of the certificate, unless it is stated).
        """
        limit = self.tolerance if max_tolerance is None else max_tolerance
        check(self, require=require, max_tolerance=limit, sharing=self._native.sharing)

    def plot(self, ax: Any = None) -> Any:
        """The margins of the axioms as bars of matplotlib; gives the axes."""
        from . import _plots

        return _plots.certificate(self.verdicts.values(), ax)

    def to_pandas(self) -> Any:
        """A row for every axiom, with the least tolerance at which it holds; that may take as long as the examination."""
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
    """Lets the kernel judge a certificate: a :class:`Certificate`, a path, or the text or data of a document.

    ``problem`` and ``allocation`` are one's own copies, which the certificate has to be about. As ``evenhand-check``, it
    accepts tolerances up to 1e-6 and divided resources, unless something else is stated. Gives the verdict in words, or
    raises :class:`CertificateError`.
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
    """What messages call a document, and its text."""
    from . import _json
    from ._files import read

    if hasattr(document, "to_json"):
        return type(document).__name__.lower(), document.to_json()
    if isinstance(document, dict):
        return "<dict>", _json.dumps(document)
    if isinstance(document, str) and document.lstrip().startswith("{"):
        return "<text>", document
    return os.fspath(document), read(document)
