"""Mechanisms in Python."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional

from ._errors import InputError

#: Rules by name.
_RULES: Dict[str, "Rule"] = {}


class Rule:
    """A mechanism in Python: a function from a problem to an allocation, with a name.

    It takes part in :func:`evenhand.compare`, :func:`evenhand.audit`, :func:`evenhand.sweep` and ``Problem.solve`` like a
    mechanism of the library.
    """

    def __init__(
        self, function: Callable[..., Any], name: str, title: str, axiom: Optional[str], sharing: str
    ) -> None:
        self.function = function
        self.name = name
        self.title = title
        self.axiom = axiom
        self.sharing = sharing
        self.__doc__ = function.__doc__
        self.__name__ = getattr(function, "__name__", name)

    def __call__(self, *arguments: Any, **settings: Any) -> Any:
        return self.function(*arguments, **settings)

    def __repr__(self) -> str:
        return f"<Rule {self.name!r}>"


def mechanism(
    name: Any = None,
    *,
    title: Optional[str] = None,
    axiom: Optional[str] = None,
    sharing: str = "rdm",
) -> Any:
    """Makes a mechanism of a function from a problem to tasks: an array of users × classes, or a dict.

    ``axiom`` is the axiom that it is made to satisfy, such as ``max-min:drfh``.

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

    def made(function: Callable[..., Any]) -> Rule:
        own = name if name is not None else getattr(function, "__name__", "rule").replace("_", "-")
        if not isinstance(own, str) or not own:
            raise InputError(f"found {own!r}: expected a name", field="name")
        if own in mechanisms():
            raise InputError(f"`{own}` is a mechanism of the library", field="name")
        rule = Rule(function, own, title or own, axiom, sharing)
        _RULES[own] = rule
        return rule

    return made


def rule_of(given: Any) -> Optional[Rule]:
    """The rule that is meant, where it is none of the library's mechanisms."""
    if isinstance(given, Rule):
        return given
    if isinstance(given, str):
        return _RULES.get(given)
    if callable(given):
        return Rule(given, getattr(given, "__name__", "rule").replace("_", "-"), "", None, "rdm")
    return None
