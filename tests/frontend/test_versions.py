"""Names of arrays that are given new values: the same as in NumPy, for the caller's arrays, too."""

from __future__ import annotations

import numpy as np
import pytest

import polyviz as pv
from polyviz.errors import ExtractionError
from polyviz.frontend import extract
from tests.frontend.agreement import agree
from tests.frontend.compiled import same_compiled
from tests.running import function_of


def power(A, v, n):
    for _ in range(n):
        w = A @ v
        v = w / np.sqrt(w @ w)
    return v


def conjugate_gradients(A, b, n):
    x = np.zeros(len(b))
    r = b - A @ x
    p = r
    rs = r @ r
    for _ in range(n):
        Ap = A @ p
        alpha = rs / (p @ Ap)
        x = x + alpha * p
        r = r - alpha * Ap
        new = r @ r
        p = r + (new / rs) * p
        rs = new
    return x


def in_place_beside(A, b, n):
    x = np.zeros(len(b))
    r = b - A @ x
    p = r.copy()
    for _ in range(n):
        x += 0.1 * p
        r -= 0.1 * (A @ p)
        p = r + 0.5 * p
    return x, r


def heat(u, n):
    for _ in range(n):
        un = u.copy()
        un[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = un
    return u


def stepped(u, n):
    for _ in range(n):
        un = np.zeros_like(u)
        for i in range(1, len(u)):
            un[i] = u[i - 1] + u[i]
        u = un
    return u, np.sum(u)


def straight(x, y, n):
    x[0] = 10.0
    x = x + y[:]
    y = x * 2
    x = x - y
    x[1] = 3.0
    return x, y


def aliased(x, y, n):
    x[0] = 1.0
    old = x
    x = x + y[:]
    old[1] = 50.0
    x[2] = 7.0
    return x, old


def under_a_condition(x, n):
    total = np.sum(x[:])
    if total > 2.0:
        x = x / total
    return x


def twice_in_the_body(x, n):
    for _ in range(n):
        y = x[:] * 2.0
        y = y + 1.0
        x = y - x
    return x


def made_then_changed(b, n):
    x = np.zeros(len(b))
    for k in range(n):
        x[k] = 1.0
        x = x + b
        x[0] += 2.0
    return x


def nested_loops(x, n):
    for i in range(n):
        y = x[:] + i
        for _ in range(2):
            y = y * 2.0 - x
        x = y / 4.0
    return x


def of_two_dimensions(A, n):
    for _ in range(n):
        A = 0.5 * (A + A.T)
        A = A @ A
    return A


def broken_off(x, n):
    for _ in range(n):
        new = 0.5 * (x[:] + 1.0)
        change = np.max(np.abs(new - x))
        x = new
        if change < 0.2:
            break
    return x


def copied_again_inside(u, x, n):
    for t in range(n):
        old = np.empty_like(u)
        old = u.copy()
        u[1:-1] = old[2:] + t
        for _ in range(2):
            old = u.copy()
            u[1:-1] = 0.5 * (old[2:] + old[:-2])
    return x


def in_loops_beside_each_other(u, n):
    for _ in range(1, n):
        mean = u[1:] + u[:-1]
        u[1:] = mean * 0.5
    for t in range(n):
        mean = u[2:] * 0.25
        for _ in range(2):
            u[2:] = mean + t
    for _ in range(n):
        if u[0] >= 0.0:
            mean = u[1:3] - 1.0
            u[1:3] = mean
    return u


DATA = {
    "A": np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]]), "v": np.array([1.0, 2.0, 3.0]),
    "b": np.array([1.0, 0.0, 2.0]), "x": np.array([2.0, 3.0, -1.0]), "y": np.array([5.0, 1.0, 2.0]),
    "u": np.arange(6.0) ** 2,
}  # fmt: skip
FUNCTIONS = [power, conjugate_gradients, in_place_beside, heat, stepped, straight, aliased, under_a_condition,
             twice_in_the_body, made_then_changed, nested_loops, of_two_dimensions, broken_off, copied_again_inside,
             in_loops_beside_each_other]  # fmt: skip


def _given(function, n: int) -> dict[str, object]:
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return {**{name: DATA[name] for name in names if name in DATA}, "n": n}


@pytest.mark.parametrize(
    ("function", "target", "contract"),
    [
        pytest.param(function, target, contract, id=f"{function.__name__}-{target}-{contract}")
        for place, function in enumerate(FUNCTIONS)
        for target in ("c", "numba")
        # numba takes seconds for each: there the contracts take turns.
        for contract in (("strict", "reassociate") if target == "c" else (("strict", "reassociate")[place % 2],))
    ],
)
def test_the_values_of_numpy_and_the_arrays_of_the_caller(function, target: str, contract: str) -> None:
    for n in (0, 1, 3):
        same_compiled(function, _given(function, n), target, contract)


@pytest.mark.parametrize(
    "body",
    [
        "un = np.empty_like(u)\n for t in range(n):\n  for i in range(1, n): un[i] = u[i - 1]\n  u = un\n return u",
        "for t in range(n):\n  u[0] = 1.0\n  u = u * 2.0\n return u",
        "for t in range(n):\n  u = u * 2.0\n u[0] = 1.0\n return u",
        "r = u * 2.0\n p = r\n for t in range(n):\n  r -= 0.5 * p\n  p = p + r\n u[0] = p[0]",
        "x = np.zeros(len(u))\n y = x\n for t in range(n):\n  x = x + u\n  y[0] = 5.0\n return x, y",
        "for t in range(n):\n  new = u * 2.0\n  u = new\n  new[0] = 1.0\n return u",
        "keep = u\n for t in range(n):\n  keep[0] = u[1]\n  u = u * 2.0\n return u",
        "for t in range(n):\n  u = np.sum(u)\n return u",
        "for t in range(n):\n  u[0] = u[1]\n  new = np.zeros_like(u)\n  u = new\n return u",
        "if n > 2:\n  u = B\n u[0] = B[0]\n return u",
        "for row in B:\n  row[0] = 1.0\n  if n > 2: B = B + B\n return B",
    ],
    ids=["same array again", "changed before", "changed after", "second name", "second name of a new one",
         "changed behind the back", "kept", "number", "handed over", "other argument", "row"],
)  # fmt: skip
def test_what_might_be_seen_through_another_name_is_refused(body: str) -> None:
    with pytest.raises(ExtractionError):
        extract(f"import numpy as np\ndef f(u, B, n):\n u[0] = u[1]\n {body}")


def test_the_lengths_have_to_agree() -> None:
    def shorter(x, n):
        for _ in range(n):
            x = x[1:] + 1.0
        return x

    with pytest.raises(pv.PolyvizError, match="never have the same number"):
        pv.compile(shorter, target="python")

    def other(x, y, n):
        for _ in range(n):
            x = y[:] + 1.0
        return x, x[0]

    with pytest.raises(pv.PolyvizError):
        pv.compile(other, target="python")(np.ones(3), np.ones(2), 2)


@pytest.mark.parametrize("target", ["c", "numba", "python"])
def test_the_types_have_to_agree(target: str) -> None:
    def halved(x, n):
        for _ in range(n):
            x = x[:] / 2
        return x

    def doubled(x, n):
        for _ in range(n):
            x = x[:] + x
        return x

    kernel = pv.compile(halved, target=target)
    for dtype in ("float64", "float32"):
        same_compiled(halved, {"x": np.ones(3, dtype), "n": 2}, target, "strict")
    with pytest.raises(pv.PolyvizError, match="is given values of float64"):
        kernel(np.ones(3, "int64"), 2)
    for dtype in ("float32", "int64", "complex64"):
        same_compiled(doubled, {"x": np.ones(3, dtype), "n": 2}, target, "strict")


def test_a_type_that_depends_on_others_elements_is_compared() -> None:
    def turned(x, n):
        for _ in range(n):
            x = x[::-1] / 2
        return x

    with pytest.raises(pv.PolyvizError, match="is given values of float64"):
        pv.compile(turned, target="python")(np.arange(3), 2)
    same_compiled(turned, {"x": np.arange(3.0), "n": 3}, "c", "strict")


@pytest.mark.parametrize("start", ["x = x.astype(np.float64)", "x = x[:].copy()"])
def test_a_name_may_begin_with_a_copy(start: str) -> None:
    text = f"def f(x, n):\n {start}\n for _ in range(n):\n  x = x * 2.0\n return x"
    same_compiled(function_of(text), {"x": np.arange(3.0), "n": 2}, "python", "strict")


def test_the_hint_for_types_names_them() -> None:
    kernel = pv.compile(function_of("def f(x, n):\n for _ in range(n):\n  x = x[:] > 1\n return x"), target="python")
    with pytest.raises(pv.PolyvizError) as caught:
        kernel(np.arange(3), 2)
    assert "begin with `v = v.astype(np.bool_)`" in str(caught.value)
    assert "`v = (...).astype(np.int64)`" in str(caught.value)


def test_a_row_is_no_array_that_a_name_may_begin_with() -> None:
    text = "def f(A, x, n):\n row = A[0]\n for i in range(n):\n  x[i] = row[1]\n  row = A[i]"
    with pytest.raises(ExtractionError, match="`row` stands for an array and is assigned here") as caught:
        extract(text)
    assert "`A[i, :].copy()` for a part of one" in str(caught.value)


def test_numbers_keep_their_names() -> None:
    text = "def f(A, n):\n s = A[0]\n s = s * 2.0\n for i in range(n):\n  s = s + A[i]\n return s"
    scop = agree(text, A=np.ones(3), n=3)
    assert [array.name for array in scop.arrays] == ["A", "s"]


def test_where_new_values_go_is_said() -> None:
    notes = extract("def f(v, n):\n for t in range(n):\n  v = v[:] * 2.0\n return v").notes
    assert "Line 3 stores its new values in `v_new`, a copy that is made of the old ones before." in notes


def test_an_argument_that_is_changed_through_another_one() -> None:
    def passed_twice(v, w, n):
        for _ in range(n):
            w[0] = v[1] + 1.0
            v = v * 2.0 + w
        return v

    one, other = np.arange(3.0), np.arange(3.0)
    with pytest.raises(pv.OverlapError, match="v and w overlap in memory"):
        pv.compile(passed_twice, target="c")(other, other, 3)
    expected = passed_twice(one, one, 3)
    kernel = pv.compile(passed_twice, target="c", overlap="as-written")
    with pytest.warns(pv.OverlapWarning):
        assert np.array_equal(kernel(other, other, 3), expected)
    assert np.array_equal(one, other)


def test_the_head_says_what_are_arrays() -> None:
    text = """
def doubled(x: "float64[:]", k):
    if k > 2:
        x = x * 2.0
    else:
        x = x + 1.0
    return x
"""
    for k, expected in ((3, 2.0), (1, 2.0), (4, 2.0)):
        given = np.ones(5)
        assert (pv.compile(text, target="python")(given, k) == expected).all()
        assert (given == 1).all()
    with pytest.raises(ExtractionError, match="array"):
        pv.compile(text.replace("x * 2.0", "x[0]"), target="python")


def test_a_value_that_nobody_looks_at_is_not_made() -> None:
    part = extract(function_of("""
        def f(x, n):
            for t in range(n):
                y = x.copy()
                y = x + 1.0
                x[0] = y[1]
    """))
    assert len(part.statements) == 2


def test_a_value_that_is_looked_at_stays() -> None:
    part = extract(function_of("""
        def f(x, n):
            for t in range(n):
                y = x.copy()
                y = x + y
                x[0] = y[1]
    """))
    assert len(part.statements) == 3
