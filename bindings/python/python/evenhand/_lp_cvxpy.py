"""Linear programmes of cvxpy."""

from __future__ import annotations

import math
from typing import Any, Dict, List, Optional

from . import _lp_arrays
from ._errors import InputError
from ._lp_programme import Programme


def from_cvxpy(problem: Any) -> Programme:
    """Makes a programme from a ``cvxpy.Problem`` that cvxpy can state with linear rows only.

    cvxpy brings the problem into the form of a linear programme, with columns of its own for parts such as absolute values. Their
    names begin with ``aux``; entries of a variable are called ``x[0]`` or ``x[0,1]``. cvxpy computes this form in double
    precision, and each double is read as its shortest decimal. Problems with integer variables, quadratic terms or cones are refused.
    """
    if not any(base.__module__.startswith("cvxpy.") and base.__name__ == "Problem" for base in type(problem).__mro__):
        raise InputError(f"found {type(problem).__name__}: expected a cvxpy.Problem", field="problem")
    import cvxpy

    if problem.is_mixed_integer():
        raise InputError("some variables have to be integers: expected continuous variables", field="problem")
    try:
        data, _, _ = problem.get_problem_data(cvxpy.SCIPY)
    except cvxpy.error.DCPError as error:
        raise InputError(f"cvxpy refuses the problem: {error}", field="problem") from error
    except cvxpy.error.SolverError as error:
        message = "cvxpy cannot state it with linear rows only: expected no quadratic terms and no cones such as norms of vectors"
        raise InputError(message, field="problem") from error
    return _of_data(data, _names(problem, data["param_prob"]), isinstance(problem.objective, cvxpy.Maximize))


def _of_data(data: Dict[str, Any], columns: List[str], maximise: bool) -> Programme:
    """Makes the programme of a minimisation of ``c x`` with ``A x == b`` and ``G x <= h``. cvxpy minimises the opposite of a maximum."""
    sign = -1 if maximise else 1
    costs = [sign * float(cost) for cost in data["c"]]
    # The constant is the second part of the canonical form.
    constant = sign * float(data["param_prob"].apply_parameters()[1])
    lower, upper = (_ends(data.get(f"{side}_bounds"), len(costs)) for side in ("lower", "upper"))
    has_ub, has_eq = data.get("G") is not None, data.get("A") is not None
    return Programme.from_linprog(
        costs,
        data["G"] if has_ub else None,
        data["h"] if has_ub else None,
        data["A"] if has_eq else None,
        data["b"] if has_eq else None,
        list(zip(lower, upper)),
        maximise=maximise,
        constant=constant,
        columns=columns,
    )


def _ends(bounds: Any, count: int) -> List[Optional[float]]:
    if bounds is None:
        return [None] * count
    return [float(value) if math.isfinite(value) else None for value in bounds]


def _names(problem: Any, canonical: Any) -> List[str]:
    """Returns the names of the columns of the canonical form."""
    own = {variable.name() for variable in problem.variables()}
    names: List[str] = [""] * canonical.x.size
    for variable in canonical.variables:
        first = canonical.var_id_to_col[variable.id]
        is_own = variable.name() in own
        for at in range(variable.size):
            if is_own:
                names[first + at] = f"{variable.name()}{_place(at, variable.shape)}"
    for column, name in enumerate(names):
        names[column] = name or f"aux{column}"
    is_unique = len(set(names)) == len(names)
    return names if is_unique else [f"x{column}" for column in range(len(names))]


def _place(at: int, shape: Any) -> str:
    """Returns the indices of an entry. cvxpy takes the entries of a matrix column by column."""
    indices = []
    for length in shape:
        at, index = divmod(at, length)
        indices.append(str(index))
    return f"[{','.join(indices)}]" if indices else ""
