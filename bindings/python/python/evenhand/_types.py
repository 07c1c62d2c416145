"""The types of arguments and results, for type checkers and readers.

The names and settings of mechanisms are those of the library; a test compares them.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Callable, List, Literal, Mapping, Optional, Tuple, Union

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    #: An exact number: a float means its shortest decimal, and a text is read like a number in a file.
    Number = Union[int, float, str, Fraction, Decimal, np.integer[Any], np.floating[Any]]
    Doubles = NDArray[np.float64]
    Whole = NDArray[np.int64]
    Truths = NDArray[np.bool_]
else:
    Number = Union[int, float, str, Fraction, Decimal]
    Doubles = Whole = Truths = Any

#: The progress of a call: the number done, the total, and the name of the unit.
Progress = Optional[Callable[[float, Optional[float], str], Any]]

#: Names in a list, or in one text separated by commas.
Names = Union[List[str], Tuple[str, ...], str]
ByResource = Union[Mapping[str, Number], str]

#: How servers are shared: resources are divided, or whole servers are shared by time.
Sharing = Literal["rdm", "tdm"]

#: The outcome of an examination of an axiom.
Outcome = Literal["holds", "within", "violated", "not-applicable", "not-checked"]

#: The possible statements that are proven about a linear programme.
LpStatus = Literal["optimal", "infeasible", "unbounded", "limit"]

#: The mechanisms whose only setting is a time limit.
PlainMechanism = Literal[
    "drf", "cdrf", "tsf", "asset", "per-server-drf", "generic", "finish-time", "utilitarian",
]  # fmt: skip

#: The mechanisms of the library, with their aliases.
MechanismName = Literal[
    "drf", "drfh", "cdrf", "c-drfh", "tsf", "asset", "per-server-drf", "generic", "finish-time", "utilitarian", "oef",
    "proportional", "alpha", "njc", "ps-dsf", "ps-dsf-rdm", "ps-dsf-tdm", "packings", "fill", "slots", "tree",
]  # fmt: skip

#: How a user would use the equal part of the cluster, in problems with rates.
Reference = Literal["proportional", "best"]
#: The condition under which `oef` maximises the sum of tasks.
Variant = Literal["envy-free", "equal"]

#: The preference among several answers.
Goal = Literal["max-utilisation", "max-min-share", "max-tasks"]
#: The share that ``packings`` equalises.
PackedShare = Literal["drfh", "tsf"]
Score = Literal["drf", "tsf", "ps-dsf", "rps-dsf"]
ServerRule = Literal["iid", "rrr", "first-fit", "best-fit", "joint"]
Ties = Literal["low", "high", "random"]
#: The rules of schedulers that give tasks.
TaskRule = Literal["hdrf", "mesos", "kueue", "armada", "yunikorn", "slurm"]
#: The rules of schedulers that give the fair shares of groups instead of tasks.
EntitlementRule = Literal["kai", "kai-sole-queue", "volcano", "volcano-capacity"]
