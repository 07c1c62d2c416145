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


#: Runs of a scenario at most, as for the program.
MOST_RUNS = 100_000


class Simulation(Result):
    """What came of the runs of a scenario: the summary, and by seed its tables as CSV."""

    def __init__(self, shown: Any, notes: List[str], runs: Any) -> None:
        super().__init__(shown)
        #: What a reader should know: tasks of a trace that were left out, and why.
        self.notes = notes
        #: By seed: tables by name, such as ``series``, ``jobs`` and ``users``.
        self.tables: Dict[int, Dict[str, str]] = {seed: dict(tables) for seed, tables in runs}

    def to_pandas(self, table: str = "series", seed: Optional[int] = None) -> Any:
        """A table of a run, the first where no seed is stated, as a frame."""
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
    """Runs a scenario, a path or its data, once for each seed: tasks come, run and finish under a policy.

    Traces are looked for beside the file, or in ``folder``.
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
        # Data has no lines.
        raise of_data(error) from None
