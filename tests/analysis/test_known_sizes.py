"""Parts for sizes that are known, and which sizes of a call are worth knowing."""

from __future__ import annotations

import polyviz as pv
from polyviz.analysis.known_sizes import LONGEST, SMALLEST_WORK, short_sizes, with_known_sizes

FILTER = """
def smooth(x, w, y):
    for i in range(y.shape[0]):
        y[i] = 0.0
        for k in range(w.shape[0]):
            y[i] += w[w.shape[0] - 1 - k] * x[i + k]
"""


def test_numbers_stand_in_domains_subscripts_and_the_order() -> None:
    part = pv.extract(FILTER)
    known = with_known_sizes(part, {"w_shape_0": 3})
    assert "k <= 2" in str(known.statements[1].domain)
    assert "w_shape_0 = 3" in str(known.context)
    assert "w_shape_0" not in str(known.statements[1].body)
    assert known.schedule.get_domain().is_equal(known.domain)


def test_what_is_known_already_changes_nothing() -> None:
    part = pv.extract(FILTER)
    assert with_known_sizes(part) is part
    known = with_known_sizes(part, {"w_shape_0": 3})
    assert with_known_sizes(known) is known


def test_extents_of_arrays_become_numbers() -> None:
    part = pv.extract("def f(x, n):\n  t = np.zeros(n + 1)\n  for i in range(n):\n    t[i] = x[i]\n  return t")
    known = with_known_sizes(part, {"n": 3})
    extent = known.array("t").extents[0]
    assert extent is not None
    assert extent.is_cst()
    assert extent.max_val().to_python() == 4


def test_a_short_loop_inside_a_long_one_is_worth_knowing() -> None:
    part = pv.extract(FILTER)
    long = {"w_shape_0": 5, "x_shape_0": SMALLEST_WORK + 4, "y_shape_0": SMALLEST_WORK}
    assert short_sizes(part, long) == {"w_shape_0": 5}
    assert short_sizes(part, {**long, "w_shape_0": LONGEST + 1}) == {}


def test_where_little_is_done_nothing_is_worth_knowing() -> None:
    values = {"w_shape_0": 5, "x_shape_0": 24, "y_shape_0": 20}
    assert short_sizes(pv.extract(FILTER), values) == {}


def test_the_outermost_loop_may_be_short() -> None:
    part = pv.extract("def f(x, y, m, n):\n  for i in range(m):\n    for k in range(n): y[i] += x[i, k]")
    assert short_sizes(part, {"m": 3, "n": SMALLEST_WORK, "y_shape_0": 3}) == {}


def test_loops_that_stay_whole_count() -> None:
    part = pv.extract("""
    def f(x, y, most):
        for i in range(x.shape[0]):
            for k in range(most):
                if x[i] > 4.0:
                    break
                x[i] *= x[i]
                y[i] = k
    """)
    assert short_sizes(part, {"x_shape_0": SMALLEST_WORK, "most": 4}) == {"most": 4}


def test_statements_that_never_run_are_left_out() -> None:
    part = pv.extract("""
    def f(x, n):
        for i in range(x.shape[0]):
            x[i] = 0.0
            for k in range(3, n):
                x[i] += k
    """)
    assert [one.name for one in with_known_sizes(part, {"n": 3}).statements] == ["S0"]
    assert with_known_sizes(part, {"x_shape_0": 0}) is part


def test_a_band_along_the_diagonal_is_a_short_loop() -> None:
    part = pv.extract("""
    def f(A, x, y, width, n):
        for i in range(n):
            for j in range(max(0, i - width), min(n, i + width + 1)):
                y[i] += A[i, j - i + width] * x[j]
    """)
    values = {"n": SMALLEST_WORK, "width": 3} | {one.name: SMALLEST_WORK for one in part.parameters[2:]}
    assert short_sizes(part, {one.name: values[one.name] for one in part.parameters}) == {"width": 3}
