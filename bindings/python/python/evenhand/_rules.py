"""Mechanisms in Python."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Callable, Dict, Generic, Mapping, Optional, TypeVar, Union, overload

from . import _types
from ._errors import InputError

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    from ._problem import Problem

    #: The arguments of a rule after the problem.
    P = ParamSpec("P")
else:
    # Python before 3.10 has no ParamSpec, and types are not checked at run time.
    P = TypeVar("P")

#: The rules by name.
_RULES: Dict[str, "Rule[Any]"] = {}


class Rule(Generic[P]):
    """A mechanism in Python: a function from a problem to an allocation, with a name.

    :func:`evenhand.compare`, :func:`evenhand.audit`, :func:`evenhand.sweep` and ``Problem.solve`` accept it like a mechanism
    of the library.
    """

    def __init__(
        self,
        function: "Callable[Concatenate[Problem, P], Any]",
        name: str,
        title: str,
        axiom: Optional[str],
        sharing: _types.Sharing,
    ) -> None:
        self.function = function
        self.name = name
        self.title = title
        self.axiom = axiom
        self.sharing = sharing
        self.__doc__ = function.__doc__
        self.__name__ = getattr(function, "__name__", name)

    def __call__(self, problem: "Problem", *arguments: "P.args", **settings: "P.kwargs") -> Any:
        return self.function(problem, *arguments, **settings)

    def own(self, settings: Mapping[str, Any]) -> Dict[str, Any]:
        """Returns the settings without the general arguments of ``solve``, unless the rule takes them too."""
        try:
            parameters = inspect.signature(self.function).parameters
        except (TypeError, ValueError):
            return dict(settings)
        takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
        return {
            name: value
            for name, value in settings.items()
            if takes_all or name in parameters or name not in ("exact", "seed", "progress")
        }

    def __repr__(self) -> str:
        return f"<Rule {self.name!r}>"


@overload
def mechanism(name: "Callable[Concatenate[Problem, P], Any]") -> "Rule[P]": ...


@overload
def mechanism(
    name: Optional[str] = None,
    *,
    title: Optional[str] = None,
    axiom: Optional[str] = None,
    sharing: _types.Sharing = "rdm",
) -> "Callable[[Callable[Concatenate[Problem, P], Any]], Rule[P]]": ...


def mechanism(
    name: Union[Callable[..., Any], str, None] = None,
    *,
    title: Optional[str] = None,
    axiom: Optional[str] = None,
    sharing: _types.Sharing = "rdm",
) -> Any:
    """Turns a function from a problem to tasks (an array of users × classes, or a dict) into a mechanism.

    ``axiom`` is the axiom that the mechanism is made to satisfy, such as ``max-min:drfh``.

    >>> import evenhand as eh
    >>> @eh.mechanism("equal-parts")
    ... def equal_parts(problem):
    ...     alone, n = problem.solve("utilitarian"), len(problem.users)
    ...     return {user: {"s0": problem.alone()[user] / n} for user in problem.users}
    >>> p = eh.Problem.from_arrays([[4, 4]], [[1, 2], [2, 1]])
    >>> p.solve("equal-parts").tasks
    {'u0': {'s0': Fraction(1, 1)}, 'u1': {'s0': Fraction(1, 1)}}
    >>> p.solve(equal_parts).certify().verdicts["pareto-optimal"].holds
    False
    """
    from ._mechanisms import mechanisms

    if callable(name):
        return mechanism()(name)

    def made(function: Callable[..., Any]) -> "Rule[Any]":
        own = name if name is not None else getattr(function, "__name__", "rule").replace("_", "-")
        if not isinstance(own, str) or not own:
            raise InputError(f"found {own!r}: expected a name", field="name")
        if own in mechanisms():
            raise InputError(f"`{own}` is a mechanism of the library: expected another name", field="name")
        rule: "Rule[Any]" = Rule(function, own, title or own, axiom, sharing)
        _RULES[own] = rule
        return rule

    return made


def rule_of(given: Any) -> "Optional[Rule[Any]]":
    """Returns the rule that is meant, or None for a mechanism of the library."""
    if isinstance(given, Rule):
        return given
    if isinstance(given, str):
        return _RULES.get(given)
    if callable(given):
        return Rule(given, getattr(given, "__name__", "rule").replace("_", "-"), "", None, "rdm")
    return None
