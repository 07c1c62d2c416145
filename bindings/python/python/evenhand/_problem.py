"""Allocation problems."""

from __future__ import annotations

import json
import os
import warnings as _warnings
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Literal, Mapping, Optional, Sequence, Union, overload

from . import _evenhand as native
from . import _from_arrays, _json, _settings, _types
from ._allocation import Allocation, Certificate
from ._errors import EvenhandWarning, InputError, of_data
from ._limits import granted
from ._rules import Rule, rule_of
from ._shown import Result

if TYPE_CHECKING:
    from typing_extensions import Concatenate

    from ._compare import Comparison
    from ._rules import P


class Problem:
    """An allocation problem: server classes with capacities, and users with demands.

    >>> import evenhand as eh
    >>> p = eh.Problem.from_arrays(
    ...     [[2, 12], [12, 2]], [["1/5", 1], [1, "1/5"]], resources=["cpu", "memory"]
    ... )
    >>> p.users, p.servers, p.resources
    (('u0', 'u1'), ('s0', 's1'), ('cpu', 'memory'))
    >>> p.solve("drfh").tasks
    {'u0': {'s0': Fraction(10, 1)}, 'u1': {'s1': Fraction(10, 1)}}
    """

    __slots__ = ("_native", "_parts")

    def __init__(self, native_problem: Any) -> None:
        self._native = native_problem
        self._parts: Optional[Dict[str, Any]] = None

    # --- reading -------------------------------------------------------------------------------------------------

    @classmethod
    def from_json(cls, text: str, name: str = "<text>") -> "Problem":
        """Reads a problem from the text of a document. Messages call the document ``name``."""
        return cls(native.Problem.parse(name, text, granted()))

    @classmethod
    def from_file(cls, path: Union[str, "os.PathLike[str]"]) -> "Problem":
        """Reads a problem from a file: JSON, a folder of CSV tables, or Parquet (:meth:`to_csv`, :meth:`to_parquet`)."""
        path = os.fspath(path)
        if os.path.isdir(path):
            from . import _tables

            return cls.from_dict(_tables.problem_from_csv(path))
        if path.endswith(".parquet"):
            from . import _tables

            return cls.from_dict(_tables.problem_from_parquet(path))
        return cls(native.Problem.read(path, granted()))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Problem":
        """Reads a problem from data in the form of a file. ``kind`` may be left out.

        >>> import evenhand as eh
        >>> eh.Problem.from_dict({
        ...     "resources": ["cpu"],
        ...     "servers": [{"name": "pool", "capacity": {"cpu": 4}}],
        ...     "users": [{"name": "a", "demand": {"cpu": -1}}],
        ... })
        Traceback (most recent call last):
        evenhand.InputError: users[0].demand.cpu: -1 is negative: expected a number of at least 0
        """
        if not isinstance(data, Mapping):
            raise InputError(f"found {type(data).__name__}: expected a dict")
        data = dict(data)
        data.setdefault("kind", "allocation-problem")
        try:
            return cls.from_json(_json.dumps(data), "<dict>")
        except InputError as error:
            raise of_data(error) from None

    @classmethod
    def from_arrays(
        cls,
        capacity: Any,
        demand: Any,
        *,
        weights: Any = None,
        tasks: Any = None,
        eligible: Any = None,
        counts: Any = None,
        resources: Optional[Sequence[str]] = None,
        servers: Optional[Sequence[str]] = None,
        users: Optional[Sequence[str]] = None,
        name: str = "",
    ) -> "Problem":
        """Makes a problem from numpy arrays, pandas data frames or nested lists.

        ``capacity`` is classes × resources, for one server of the class; ``counts`` is the number of servers of each class.
        ``demand`` is users × resources, or users × classes × resources. In ``tasks``, ``inf`` or None means no limit.
        ``eligible`` is users × classes of truth values, or a list of names of classes for each user. Names are taken from the
        labels of data frames; otherwise they are ``s0``, ``r0``, ``u0`` and so on.
        """
        text = _from_arrays.text(
            capacity, demand, weights=weights, tasks=tasks, eligible=eligible, counts=counts,
            resources=resources, servers=servers, users=users, name=name,
        )  # fmt: skip
        try:
            return cls.from_json(text, "<arrays>")
        except InputError as error:
            # Numbers are kept as texts, because Python refuses to read integers of more than 4300 digits.
            data = json.loads(text, parse_int=str)
            names = [server["name"] for server in data["servers"]]
            raise _from_arrays.relocated(error, data["resources"], names) from None

    @classmethod
    def from_fairpyx(cls, instance: Any) -> "Problem":
        """Makes a problem from an instance of fairpyx. A good becomes a class that is shared by time.

        An item of capacity ``c`` becomes ``c`` servers. An agent's value of the item is the value of one whole server to it, so
        that a task is worth 1.
        """
        from . import _fairpyx

        return cls.from_dict(_fairpyx.from_instance(instance))

    # --- properties ----------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._native.name

    @property
    def resources(self) -> "tuple[str, ...]":
        return tuple(self._native.resources)

    @property
    def servers(self) -> "tuple[str, ...]":
        """The names of the server classes."""
        return tuple(self._native.servers)

    @property
    def users(self) -> "tuple[str, ...]":
        return tuple(self._native.users)

    @property
    def groups(self) -> "tuple[str, ...]":
        return tuple(self._native.groups)

    @property
    def warnings(self) -> List[str]:
        """Warnings about the problem, such as users that fit nowhere or guarantees that cannot be met."""
        return self._native.warnings

    @property
    def sha256(self) -> str:
        """The hash of the canonical form, which certificates state."""
        return self._native.sha256()

    def alone(self) -> Dict[str, Fraction]:
        """The solo tasks of each user: the number of tasks that it could run if it were the only user."""
        return dict(zip(self.users, self._native.alone()))

    def to_json(self) -> str:
        """The canonical form as text."""
        return self._native.to_json()

    def to_dict(self) -> Dict[str, Any]:
        """The canonical form as data, with exact numbers as texts or numbers."""
        return json.loads(self.to_json())

    def to_file(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the canonical form to a file."""
        from ._files import write

        write(path, self.to_json())

    def to_csv(self, folder: Union[str, "os.PathLike[str]"]) -> None:
        """Writes a folder of tables: ``servers.csv``, ``users.csv``, and others if they are needed."""
        from . import _tables

        _tables.problem_to_csv(self, folder)

    def to_parquet(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes one Parquet table with a row for every class and user, and exact numbers as texts."""
        from . import _tables

        _tables.problem_to_parquet(self, path)

    def to_fairpyx(self) -> Any:
        """Returns the instance of fairpyx from which :meth:`from_fairpyx` would make this problem."""
        from . import _fairpyx

        return _fairpyx.to_instance(self)

    def _data(self) -> Dict[str, Any]:
        if self._parts is None:
            self._parts = self.to_dict()
        return self._parts

    @property
    def capacity(self) -> "_types.Doubles":
        """The capacity of one server of each class, as an array of doubles, classes × resources."""
        from . import _dense

        return _dense.capacity(self)

    @property
    def counts(self) -> "_types.Whole":
        """The number of servers of each class, as an array."""
        from . import _dense

        return _dense.counts(self)

    @property
    def demand(self) -> "_types.Doubles":
        """The demands as an array of doubles: users × resources, or users × classes × resources if they differ by class."""
        from . import _dense

        return _dense.demand(self)

    @property
    def weights(self) -> "_types.Doubles":
        """The weights of the users, as an array of doubles."""
        from . import _dense

        return _dense.weights(self)

    @property
    def task_limits(self) -> "_types.Doubles":
        """The numbers of tasks of the users, as an array of doubles; ``inf`` means unlimited."""
        from . import _dense

        return _dense.task_limits(self)

    @property
    def eligible(self) -> "_types.Truths":
        """An array of truth values, users × classes: ``True`` if the user may run on the class."""
        from . import _dense

        return _dense.eligible(self)

    # --- solving and judging -------------------------------------------------------------------------------------

    @overload
    def solve(
        self, mechanism: _types.PlainMechanism, *, exact: bool = ..., seed: int = ..., progress: _types.Progress = ...,
        seconds: Optional[_types.Number] = ...,
    ) -> Allocation: ...

    @overload
    def solve(
        self, mechanism: Literal["drfh", "c-drfh"], *, exact: bool = ..., seed: int = ...,
        progress: _types.Progress = ..., reference: Optional[_types.Reference] = ...,
        seconds: Optional[_types.Number] = ...,
    ) -> Allocation: ...

    @overload
    def solve(
        self, mechanism: Literal["oef"], *, exact: bool = ..., seed: int = ..., progress: _types.Progress = ...,
        variant: Optional[_types.Variant] = ...,
    ) -> Allocation: ...

    @overload
    def solve(
        self, mechanism: Literal["proportional"], *, exact: bool = ..., seed: int = ..., progress: _types.Progress = ...,
        criterion: bool = ..., partial: bool = ..., seconds: Optional[_types.Number] = ...,
    ) -> Allocation: ...

    @overload
    def solve(
        self, mechanism: Literal["alpha"], *, alpha: _types.Number, exact: bool = ..., seed: int = ...,
        progress: _types.Progress = ..., criterion: bool = ..., per_weight: bool = ...,
        seconds: Optional[_types.Number] = ...,
    ) -> Allocation: ...

    @overload
    def solve(
        self, mechanism: Literal["njc"], *, exact: bool = ..., seed: int = ..., progress: _types.Progress = ...,
        select: Optional[_types.Goal] = ..., faces: bool = ..., reduce: bool = ...,
        method: Optional[Literal["trajectory"]] = ..., c_max: Optional[_types.Number] = ...,
        barrier: Optional[_types.ByResource] = ..., no_entitlement: Optional[_types.Names] = ...,
        seconds: Optional[_types.Number] = ...,
    ) -> Allocation: ...

    @overload
    def solve(
        self, mechanism: Literal["ps-dsf", "ps-dsf-rdm"], *, exact: bool = ..., seed: int = ...,
        progress: _types.Progress = ..., method: Optional[Literal["sweep", "algorithm-1"]] = ...,
        order: Optional[_types.Names] = ..., faces: bool = ..., select: Optional[_types.Goal] = ...,
        seconds: Optional[_types.Number] = ...,
    ) -> Allocation: ...

    @overload
    def solve(
        self, mechanism: Literal["ps-dsf-tdm"], *, exact: bool = ..., seed: int = ..., progress: _types.Progress = ...,
        method: Optional[Literal["market", "sweep"]] = ..., order: Optional[_types.Names] = ...,
        seconds: Optional[_types.Number] = ...,
    ) -> Allocation: ...

    @overload
    def solve(
        self, mechanism: Literal["packings"], *, exact: bool = ..., seed: int = ..., progress: _types.Progress = ...,
        share: Optional[_types.PackedShare] = ...,
    ) -> Allocation: ...

    @overload
    def solve(
        self, mechanism: Literal["fill"], *, exact: bool = ..., seed: int = ..., progress: _types.Progress = ...,
        score: Optional[_types.Score] = ..., server: Optional[_types.ServerRule] = ...,
        rule: Optional[Union[_types.TaskRule, _types.EntitlementRule]] = ..., seconds: Optional[_types.Number] = ...,
        ties: Optional[_types.Ties] = ..., unfiltered: bool = ..., filter: bool = ...,
        step: Optional[_types.Number] = ..., ideal: bool = ...,
    ) -> Allocation: ...

    @overload
    def solve(
        self, mechanism: Literal["slots"], *, exact: bool = ..., seed: int = ..., progress: _types.Progress = ...,
        ties: Optional[_types.Ties] = ..., seconds: Optional[_types.Number] = ..., slots: _types.Number,
    ) -> Allocation: ...

    @overload
    def solve(
        self, mechanism: Literal["tree"], *, rule: Optional[_types.TaskRule] = ..., exact: bool = ..., seed: int = ...,
        progress: _types.Progress = ..., no_nominal_first: bool = ..., whole: bool = ...,
        seconds: Optional[_types.Number] = ...,
    ) -> Allocation: ...

    @overload
    def solve(
        self, mechanism: Literal["tree"], *, rule: _types.EntitlementRule, exact: bool = ..., seed: int = ...,
        progress: _types.Progress = ..., no_nominal_first: bool = ..., whole: bool = ...,
        seconds: Optional[_types.Number] = ...,
    ) -> "Entitlements": ...

    @overload
    def solve(self, mechanism: "Rule[P]", *arguments: "P.args", **settings: "P.kwargs") -> Allocation: ...

    @overload
    def solve(
        self, mechanism: "Callable[Concatenate[Problem, P], Any]", *arguments: "P.args", **settings: "P.kwargs"
    ) -> Allocation: ...

    def solve(self, mechanism: Any, *arguments: Any, **settings: Any) -> Any:
        """Computes the allocation of a mechanism, given by name or as your own rule (:func:`evenhand.mechanism`).

        The settings are the options of the command line with underscores: ``p.solve("alpha", alpha=2)``,
        ``p.solve("fill", score="tsf", server="best-fit")``. ``exact=False`` solves in floating point. ``seed`` is the seed of
        all random numbers, and ``progress`` is called with the progress of the call. If the mechanism divides amounts among
        groups and gives no tasks, the result is an :class:`Entitlements`.

        Your own rule gets the other arguments. Type checkers know only the names of the library, so pass the rule itself and
        not its name. An :class:`EvenhandWarning` reports that a rule gives more than fits.
        """
        rule = rule_of(mechanism)
        if rule is not None:
            return self._checked(rule, self._by_rule(rule, rule.own(settings), arguments))
        if arguments:
            message = "found a setting without a name: settings must be named, as in p.solve('alpha', alpha=2)"
            raise InputError(message, field="mechanism")
        exact, seed = settings.pop("exact", True), settings.pop("seed", 0)
        progress = settings.pop("progress", None)
        stated = _settings.texts(settings)
        given = native.solve(self._native, _settings.name(mechanism), exact, _settings.seed(seed), stated, granted(), progress)
        if isinstance(given, native.Shown):
            return Entitlements(given)
        allocation = Allocation(self, given)
        if allocation.status in ("limit", "left-the-domain"):
            message = f"{mechanism} stopped with the status `{allocation.status}`: the result is the last point it reached"
            _warnings.warn(message, EvenhandWarning, stacklevel=2)
        return allocation

    def _by_rule(self, rule: "Rule[Any]", settings: Mapping[str, Any], arguments: Sequence[Any] = ()) -> Allocation:
        """Returns the allocation of the user's own rule, with the name of the rule."""
        given = rule(self, *arguments, **settings)
        tasks, exact = (given.tasks, given.exact) if isinstance(given, Allocation) else (given, None)
        if tasks is None:
            raise InputError(f"the rule `{rule.name}` returned None; it must return the tasks of the users", field=rule.name)
        made = self.allocation(tasks, mechanism=rule.name, exact=exact, sharing=rule.sharing)
        made._own = rule.axiom
        return made

    def _checked(self, rule: "Rule[Any]", made: Allocation) -> Allocation:
        """Warns if a rule gives more than fits. The allocation is unchanged, so that it can be judged."""
        verdict = made.certify(["feasible"]).verdicts["feasible"]
        if verdict.holds is False:
            excess = -float(verdict.margin) if verdict.margin is not None else 0.0
            message = (
                f"the rule `{rule.name}` gives more than fits: a limit is exceeded by the fraction {excess:.3g}; "
                "allocation.certify() names the limit"
            )
            _warnings.warn(message, EvenhandWarning, stacklevel=3)
        return made

    def allocation(
        self,
        tasks: Any,
        *,
        mechanism: Optional[str] = None,
        exact: Optional[bool] = None,
        sharing: _types.Sharing = "rdm",
        alpha: Optional[_types.Number] = None,
    ) -> Allocation:
        """Makes an allocation from given tasks: an array of users × classes, or a dict ``{user: {class: tasks}}``.

        By default it is exact if all numbers are integers, fractions, decimals or texts.
        """
        from . import _given

        if isinstance(tasks, Allocation):
            return tasks
        text = _given.document(self, tasks, mechanism=mechanism, exact=exact, sharing=sharing, alpha=alpha)
        try:
            return self.allocation_from_json(text, "<tasks>")
        except InputError as error:
            raise InputError(error.what, field=error.field) from None

    def allocation_from_json(self, text: str, name: str = "<text>") -> Allocation:
        """Reads an allocation from the text of a document."""
        return Allocation(self, native.Allocation.parse(self._native, name, text, granted()))

    def allocation_from_file(self, path: Union[str, "os.PathLike[str]"]) -> Allocation:
        """Reads an allocation from a file: JSON, CSV or Parquet."""
        from . import _tables
        from ._files import read

        path = os.fspath(path)
        if path.endswith((".csv", ".parquet")):
            tasks, is_exact = _tables.tasks_from_table(path)
            return self.allocation(tasks, exact=is_exact)
        return self.allocation_from_json(read(path), path)

    def dedicated(self, whole: bool = False) -> Allocation:
        """The tasks that each user would run alone on its own fraction of the servers, by weight."""
        return Allocation(self, self._native.dedicated(bool(whole), granted()))

    def judge(
        self,
        tasks: Any,
        tolerance: Optional[_types.Number] = 1e-6,
        *,
        axioms: Optional[Sequence[str]] = None,
        mechanism: Optional[str] = None,
        sharing: _types.Sharing = "rdm",
        share: Optional[str] = None,
        alpha: Optional[_types.Number] = None,
        seconds: Optional[_types.Number] = None,
        progress: _types.Progress = None,
    ) -> Certificate:
        """Examines given tasks, as :meth:`allocation` takes them, and certifies the verdicts.

        >>> import evenhand as eh
        >>> p = eh.Problem.from_arrays([[1, 1]], [[1, 1], [1, 1]])
        >>> p.judge([[0.5], [0.5]]).verdicts["envy-free"].holds
        True
        """
        allocation = self.allocation(tasks, mechanism=mechanism, sharing=sharing)
        return allocation.certify(axioms, tolerance, share=share, alpha=alpha, seconds=seconds, progress=progress)

    def compare(
        self,
        mechanisms: "Optional[Sequence[Union[_types.MechanismName, Rule[Any], Callable[..., Any]]]]" = None,
        *,
        allocations: Optional[Mapping[str, Any]] = None,
        axioms: Sequence[str] = (),
        alpha: Optional[_types.Number] = None,
        exact: bool = True,
        tolerance: Optional[_types.Number] = None,
        seconds: float = 60.0,
        progress: _types.Progress = None,
    ) -> "Comparison":
        """Compares mechanisms on this problem (:func:`evenhand.compare`)."""
        from ._compare import compare

        return compare(
            self, mechanisms, allocations=allocations, axioms=axioms, alpha=alpha, exact=exact, tolerance=tolerance,
            seconds=seconds, progress=progress,
        )  # fmt: skip

    # --- display -------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        users, servers, resources = len(self.users), len(self.servers), len(self.resources)
        return f"<Problem{name}: {users} users, {servers} server classes, {resources} resources>"

    def _repr_html_(self) -> str:
        from . import _pages

        return _pages.problem(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Problem) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __reduce__(self) -> Any:
        return Problem.from_json, (self.to_json(),)


class Entitlements(Result):
    """The fair shares of groups, from a mechanism that gives no tasks."""


def expected_problem(given: Any, field: str = "problem") -> Problem:
    """Returns the problem, or raises an :class:`evenhand.InputError` that names the given type."""
    if isinstance(given, Problem):
        return given
    hint = "Problem.from_file reads a file, Problem.from_dict takes data"
    raise InputError(f"found {type(given).__name__}: expected a Problem ({hint})", field=field)
