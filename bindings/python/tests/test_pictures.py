"""Plots, and the HTML for notebooks."""

import matplotlib.pyplot as plt
import numpy as np

import evenhand as eh


def test_a_comparison_is_drawn(two_servers):
    c = eh.compare(two_servers, ["drfh", "utilitarian", "drf"])
    ax = c.plot()
    assert [line.get_label() for line in ax.get_lines()] == ["drfh", "utilitarian"]
    assert np.allclose(ax.get_lines()[0].get_ydata(), [5 / 7, 5 / 7])
    same = plt.subplots()[1]
    assert c.plot(same) is same
    plt.close("all")


def test_allocations_and_certificates_are_drawn(two_servers):
    a = two_servers.solve("drfh")
    ax = a.plot()
    # There is a bar for each user, for the cpu and the memory of both classes.
    heights = [bar.get_height() for bar in ax.patches]
    assert len(heights) == 8 and np.allclose(heights[:2], [1, 10 / 12])
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"user 1", "user 2"}
    margins = a.certify().plot()
    assert len(margins.patches) == 6
    many = eh.Problem.from_arrays([[100]], np.ones((30, 1)))
    assert "21 others" in {text.get_text() for text in many.solve("drfh").plot().get_legend().get_texts()}
    plt.close("all")


def test_notebooks_show_pictures(two_servers):
    shown = two_servers.solve("drfh")._repr_html_()
    assert "<svg" in shown and "<table" in shown
