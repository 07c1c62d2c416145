"""Random problems in small whole numbers, in which ties, zeros and constraints are frequent."""

from fractions import Fraction

from hypothesis import strategies as st

import evenhand as eh


def amounts(most):
    return st.integers(0, most)


@st.composite
def parts(draw, users=4, servers=3, resources=3):
    """Draws the arguments of ``from_arrays``."""
    m = draw(st.integers(1, resources))
    k = draw(st.integers(1, servers))
    n = draw(st.integers(1, users))
    row = lambda most: st.lists(amounts(most), min_size=m, max_size=m)  # noqa: E731
    some = lambda most: row(most).filter(any)  # noqa: E731
    of = {
        "capacity": draw(st.lists(row(12), min_size=k, max_size=k)),
        "demand": draw(st.lists(some(6), min_size=n, max_size=n)),
    }
    if draw(st.booleans()):
        of["weights"] = draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    if draw(st.booleans()):
        of["tasks"] = draw(st.lists(st.sampled_from([None, Fraction(1, 2), 1, 3]), min_size=n, max_size=n))
    if draw(st.booleans()):
        of["eligible"] = draw(st.lists(st.lists(st.booleans(), min_size=k, max_size=k).filter(any), min_size=n, max_size=n))
    if draw(st.booleans()):
        of["counts"] = draw(st.lists(st.integers(1, 3), min_size=k, max_size=k))
    return of


def problems(**sizes):
    return parts(**sizes).map(lambda of: eh.Problem.from_arrays(**of))
