"""Simulations."""

from __future__ import annotations

import io
import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from . import _evenhand as native
from . import _json, _settings, _types
from ._errors import InputError, of_data
from ._limits import granted
from ._shown import Result


#: The most runs of a scenario, as in the program.
MOST_RUNS = 100_000


class Simulation(Result):
    """The results of the runs of a scenario: the summary, and the tables of each run as CSV."""

    def __init__(self, shown: Any, notes: List[str], runs: Any) -> None:
        super().__init__(shown)
        #: Notes on the runs, such as tasks of a trace that were left out, with the reason.
        self.notes = notes
        #: The tables of each run by seed and name, such as ``series``, ``jobs`` and ``users``.
        self.tables: Dict[int, Dict[str, str]] = {seed: dict(tables) for seed, tables in runs}

    def to_pandas(self, table: str = "series", seed: Optional[int] = None) -> Any:
        """Returns a table of a run as a data frame. The default is the first run."""
        from ._extras import need

        run = self.tables[next(iter(self.tables)) if seed is None else seed]
        if table not in run:
            raise InputError(f"there is no table `{table}`: expected one of {', '.join(run)}", field="table")
        return need("pandas", "tables").read_csv(io.StringIO(run[table]))


def simulate(
    scenario: Union[str, "os.PathLike[str]", Mapping[str, Any]],
    *,
    seed: int = 0,
    replications: int = 1,
    seeds: Optional[Sequence[int]] = None,
    seconds: Optional[_types.Number] = None,
    folder: Union[str, "os.PathLike[str]"] = "",
    progress: _types.Progress = None,
) -> Simulation:
    """Runs a scenario, given as a path or as data, once for each seed: tasks arrive, run and finish under a policy.

    Traces are read from the folder of the file, or from ``folder``.
    """
    first = _settings.seed(seed)
    count = _settings.count(replications, "replications", MOST_RUNS)
    chosen = [(first + k) % 2**64 for k in range(count)] if seeds is None else [_settings.seed(s) for s in seeds]
    if not chosen:
        raise InputError("expected at least one seed", field="seeds")
    if isinstance(scenario, Mapping):
        path, name, text = None, "<dict>", _json.dumps(dict(scenario))
    else:
        path, text = os.fspath(scenario), None
        name, folder = path, folder or os.path.dirname(path)
    asked = path, name, text, os.fspath(folder), chosen, _settings.seconds(seconds), granted(), progress
    try:
        return Simulation(*native.simulate(*asked))
    except InputError as error:
        if path is not None:
            raise
        # Data have no lines.
        raise of_data(error) from None
