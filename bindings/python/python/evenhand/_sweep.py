"""Many problems under many mechanisms."""

from __future__ import annotations

import itertools
import json
import os
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Sized, Tuple, Union

from . import _evenhand as native
from . import _numbers, _settings, _types
from ._errors import DefectError, EvenhandError, InputError, LimitError, NotApplicable, SolverError
from ._extras import need
from ._files import replacing
from ._limits import granted, limits
from ._problem import Problem, expected_problem
from ._rules import Rule, rule_of


#: The number of problems in a block, for a backend that returns all results of a block at once.
AT_ONCE = 500
#: The number of times that a worker of Ray may die and be restarted.
RETRIES = 4


#: A mechanism, or a pair of a mechanism and its settings.
_Mechanism = Union[_types.MechanismName, "Rule[Any]", Callable[..., Any]]
_Asked = Union[_Mechanism, Tuple[_Mechanism, Mapping[str, Any]]]


class Task(NamedTuple):
    """A mechanism with its settings and its name in the lines."""

    name: str
    mechanism: Any
    settings: Dict[str, Any]


class Sweep:
    """The lines of a sweep, which are read one by one: a dict for every problem and mechanism."""

    def __init__(self, path: Optional[str], lines: Optional[List[str]], count: int) -> None:
        self.path = path
        self._lines = lines
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        if self._lines is not None:
            yield from map(json.loads, self._lines)
            return
        with open(str(self.path), encoding="utf-8") as file:
            yield from map(json.loads, file)

    def to_pandas(self) -> Any:
        """Returns a data frame of verdicts and shares, without the tasks of users: a row for every problem and mechanism."""
        rows = []
        for record in self:
            row = {key: record.get(key) for key in ("problem", "number", "mechanism", "status", "failed", "cause", "not_applicable")}
            row.update({key: value for key, value in record.get("settings", {}).items()})
            for key in ("total_tasks", "least_dominant_share", "jain"):
                row[key] = None if record.get(key) is None else _numbers_of(record[key])
            for name, used in record.get("utilisation", {}).items():
                row[f"utilisation of {name}"] = None if used is None else _numbers_of(used)
            for name, verdict in record.get("axioms", {}).items():
                row[name] = verdict["verdict"]
            rows.append(row)
        return need("pandas", "tables").DataFrame(rows)

    def __repr__(self) -> str:
        return f"<Sweep: {self._count} lines{f' in {self.path}' if self.path else ''}>"


def _numbers_of(text: str) -> float:
    from fractions import Fraction

    return float(Fraction(text))


def sweep(
    problems: Iterable[Any],
    mechanisms: "Union[Sequence[_Asked], Mapping[str, _Asked]]",
    *,
    backend: str = "loky",
    jobs: int = -1,
    out: Union[None, str, "os.PathLike[str]"] = None,
    certify: bool = True,
    axioms: Optional[Sequence[str]] = None,
    tolerance: Any = None,
    exact: bool = True,
    seed: int = 0,
    progress: _types.Progress = None,
) -> Sweep:
    """Solves every problem under every mechanism and judges the allocations, one line of JSON for each, in that order.

    Problems are :class:`Problem`, data or paths, and may come from a generator. Mechanisms are names, rules in Python, pairs
    of a mechanism and its settings, or a dict of these by their names in the lines. The lines do not depend on ``backend``
    (``sequential``, or a backend of joblib: ``loky``, ``threading``, ``dask``, ``ray``) or ``jobs``, and ``evenhand sweep``
    writes the same lines for the same problems and mechanisms. With ``out`` they are written to a file, which appears only when
    it is complete.

    >>> import evenhand as eh
    >>> ps = [eh.Problem.from_arrays([[c, 4]], [[1, 2], [2, 1]]) for c in (2, 4)]
    >>> [line["total_tasks"] for line in eh.sweep(ps, ["drfh", "utilitarian"], backend="sequential")]
    ['3/2', '2', '8/3', '8/3']
    """
    if isinstance(problems, (Problem, Mapping, str, os.PathLike)):
        # A single problem.
        problems = [problems]
    asked = list(_tasks(mechanisms))
    options = {
        "certify": bool(certify),
        "axioms": None if axioms is None else [str(axiom) for axiom in axioms],
        "tolerance": _numbers.optional(tolerance, "tolerance"),
        "exact": bool(exact),
        "seed": _settings.seed(seed),
        "limits": granted(),
    }
    total = float(len(problems) * len(asked)) if isinstance(problems, Sized) else None
    blocks = _blocks(problems, asked, options, backend, jobs)
    if out is None:
        lines = list(_told(blocks, total, progress))
        return Sweep(None, lines, len(lines))
    path, count = os.path.realpath(os.fspath(out)), 0
    with replacing(path) as file:
        for line in _told(blocks, total, progress):
            file.write(line + "\n")
            count += 1
    return Sweep(path, None, count)


def _tasks(mechanisms: Any) -> Iterator[Task]:
    if isinstance(mechanisms, str):
        mechanisms = [mechanisms]
    if isinstance(mechanisms, Mapping):
        for name, given in mechanisms.items():
            yield _task(given)._replace(name=str(name))
        return
    for given in mechanisms:
        yield _task(given)


def _task(given: Any) -> Task:
    mechanism, settings = given if isinstance(given, tuple) else (given, {})
    rule = rule_of(mechanism)
    if rule is not None:
        return Task(rule.name, rule, dict(settings))
    return Task(_settings.name(mechanism), mechanism, dict(settings))


def _told(blocks: Iterable[List[str]], total: Optional[float], progress: Any) -> Iterator[str]:
    done = 0
    for lines in blocks:
        for line in lines:
            done += 1
            yield line
        if progress is not None:
            progress(float(done), total, "lines")


def _blocks(
    problems: Iterable[Any], asked: List[Task], options: Dict[str, Any], backend: str, jobs: int
) -> Iterator[List[str]]:
    """Yields the lines of each problem."""
    if backend == "sequential":
        for number, problem in enumerate(problems):
            yield _lines(number, problem, asked, options)
        return
    joblib = need("joblib", "sweeps")
    known = {"ray", *joblib.parallel.BACKENDS, *joblib.parallel.EXTERNAL_BACKENDS}
    if backend not in known:
        names = ", ".join(["sequential", *sorted(known - {"sequential"})])
        raise InputError(f"found {_numbers.shown(backend)}: expected one of {names}", field="backend")
    more: Dict[str, Any] = {}
    if backend == "ray":
        need("ray.util.joblib", "sweeps").register_ray()
        # A worker that dies is restarted with its task, unless the task kills it again and again.
        more["ray_remote_args"] = {"max_restarts": RETRIES, "max_task_retries": RETRIES}
    of = joblib.delayed(_lines_alone if backend != "threading" else _lines)
    with joblib.parallel_config(backend=backend, n_jobs=jobs, **more):
        tasks = (of(number, problem, asked, options) for number, problem in enumerate(problems))
        try:
            parallel = joblib.Parallel(return_as="generator")
        except ValueError:
            # Ray returns the results of a call all at once.
            with joblib.Parallel() as parallel:
                while some := list(itertools.islice(tasks, AT_ONCE)):
                    yield from parallel(some)
            return
        yield from parallel(tasks)


def _lines_alone(number: int, problem: Any, asked: List[Task], options: Dict[str, Any]) -> List[str]:
    """Computes the lines in a worker. It uses one thread, since the workers share the machine."""
    global _is_worker
    if not _is_worker:
        native.set_threads(1)
        _is_worker = True
    return _lines(number, problem, asked, options)


_is_worker = False


def _lines(number: int, problem: Any, asked: List[Task], options: Dict[str, Any]) -> List[str]:
    with limits(**options["limits"]):
        problem = _problem(problem)
        return [_line(number, problem, task, options) for task in asked]


def _problem(given: Any) -> Problem:
    if isinstance(given, Problem):
        return given
    if isinstance(given, Mapping):
        return Problem.from_dict(given)
    if isinstance(given, (str, os.PathLike)):
        return Problem.from_file(given)
    return expected_problem(given, "problems")


#: The causes in the lines for exceptions of rules in Python.
_CAUSES = {LimitError: "limit", SolverError: "solver", DefectError: "defect"}


def _line(number: int, problem: Problem, task: Task, options: Dict[str, Any]) -> str:
    """Returns the line, which the library writes as it does for the program."""
    settings = {key: _plain(value) for key, value in task.settings.items()}
    about = (number, task.name, json.dumps(settings, ensure_ascii=False))
    judge = (options["certify"], options["axioms"], options["tolerance"])
    rule = rule_of(task.mechanism)
    if rule is None:
        asked = _settings.name(task.mechanism), options["exact"], options["seed"], _settings.texts(task.settings)
        return native.sweep_line(problem._native, about, *asked, judge, granted())
    try:
        allocation = problem._by_rule(rule, task.settings)
    except InputError:
        # Wrong input is wrong for every problem, so it ends the sweep.
        raise
    except NotApplicable as error:
        return native.sweep_failed(problem._native, about, None, str(error))
    except EvenhandError as error:
        return native.sweep_failed(problem._native, about, _CAUSES.get(type(error), "solver"), str(error))
    also = [] if rule.axiom is None else [rule.axiom]
    return native.sweep_judged(allocation._native, about, also, judge, granted())


def _plain(value: Any) -> Any:
    if isinstance(value, (bool, str)) or value is None:
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return _numbers.text(value, "settings")
