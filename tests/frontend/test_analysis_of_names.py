"""What is live, what is out of range, and what numbers become: the parts of a scop that follow from use."""

from __future__ import annotations

import pytest

from polyviz.codegen.functions import FUNCTIONS
from polyviz.errors import OutOfBoundsError
from polyviz.frontend import extract
from polyviz.frontend.functions import PURE
from polyviz.model.expression import Element, walk


def live(text: str) -> dict[str, tuple[bool, bool]]:
    return {array.name: (array.live_in, array.live_out) for array in extract(text).arrays}


def test_array_overwritten_before_it_is_read_is_not_live_in() -> None:
    text = "def f(A, B, n):\n    for i in range(n):\n        A[i] = B[i]\n        B[i] = A[i] * 2"
    assert live(text) == {"A": (False, True), "B": (True, True)}


def test_array_read_before_it_is_written_elsewhere_is_live_in() -> None:
    assert live("def f(A, n):\n    for i in range(1, n):\n        A[i] = A[i - 1]") == {"A": (True, True)}
    assert live(
        "def f(A, n):\n    for i in range(n):\n        A[i] = 0\n    for i in range(n + 1):\n        A[n] = A[i]"
    ) == {"A": (True, True)}


def test_write_that_may_not_happen_keeps_the_old_content() -> None:
    text = "def f(A, B, n):\n    for i in range(n):\n        if B[i] > 0:\n            A[i] = 1.0"
    assert live(text)["A"] == (True, True)


def test_write_in_both_arms_is_certain() -> None:
    arms = "if B[i] > 0:\n            A[i] = 1\n        else:\n            A[i] = 2"
    text = f"def f(A, B, n):\n    for i in range(n):\n        {arms}"
    assert live(text)["A"] == (False, True)


def test_temporary_is_local() -> None:
    text = "def f(A, n):\n    for i in range(n):\n        t = A[i]\n        A[i] = t * t"
    assert live(text)["t"] == (False, False)


def test_argument_scalar_is_a_copy() -> None:
    text = "def f(A, x, n):\n    x = x * 2\n    for i in range(n):\n        A[i] = x"
    assert live(text)["x"] == (True, False)


def test_read_within_a_statement_of_what_it_wrote_is_no_access() -> None:
    text = "def f(A, B, n):\n    for i in range(n):\n        if A[i] > 0:\n            t = A[i]\n            B[i] = t"
    accesses = extract(text).statements[0].accesses
    assert [access.array for access in accesses if access.kind == "read"] == ["A", "A"]


@pytest.mark.parametrize(
    ("text", "iteration"),
    [
        (
            "def f(A):\n    n = len(A)\n    for i in range(1, n):\n        A[i] = A[i + 1]",
            "At i = 1 with n = 2",
        ),
        ("def f(A):\n    n = len(A)\n    for i in range(n):\n        A[2 * i] = 0", "At i = 1 with n = 2"),
        ("def f(A):\n    for i in range(len(A), -1, -1):\n        A[i] = 0", "At i = 0 with A_shape_0 = 0"),
        (
            "def f(n):\n    B = np.zeros((n, 4))\n    for i in range(n):\n        B[i, 4] = i\n    return B",
            "At i = 0 with n = 1",
        ),
    ],
)
def test_certain_violation_names_an_iteration(text: str, iteration: str) -> None:
    with pytest.raises(OutOfBoundsError) as caught:
        extract(text)
    assert caught.value.reason.startswith(iteration)


@pytest.mark.parametrize(
    "text",
    [
        "def f(A, n):\n    for i in range(n):\n        A[i + 1] = 0",
        "def f(A, m):\n    n = len(A)\n    for i in range(m):\n        A[i] = n",
        "def f(n):\n    B = np.zeros(100)\n    for i in range(n):\n        B[i] = i\n    return B",
        "def f(A):\n    n = len(A)\n    for i in range(n):\n        A[i] = A[i - 1] if i > 0 else 0",
        "def f(A):\n    n, m = A.shape\n    for i in range(n):\n        for j in range(m):\n            A[j, i] = 0",
        "def f(A):\n    A[2] = A[-2]",
    ],
    ids=["unknown extent", "other size", "literal extent", "guarded", "square only", "few elements"],
)
def test_what_some_sizes_allow_is_not_refused(text: str) -> None:
    assert extract(text).statements


def test_subscript_that_is_negative_in_some_iteration_counts_from_the_end() -> None:
    scop = extract("def f(A, B, n):\n    for i in range(n):\n        B[i] = A[i - 1]")
    read = next(access for access in scop.statements[0].accesses if access.kind == "read")
    assert str(read.relation) == (
        "[n, A_shape_0] -> { S0[i] -> A[-1 + i] : 0 < i < n; S0[i = 0] -> A[-1 + A_shape_0] : n > 0 }"
    )


def test_elements_say_whether_they_are_affine() -> None:
    scop = extract("def f(A, k, n):\n    for i in range(n):\n        A[k[i]] = A[n - 1 - i]")
    found = {
        part.array: part.affine for part in walk(scop.statements[0].body[0]) if isinstance(part, Element)
    }
    assert found == {"A": True, "k": True}
    target = scop.statements[0].body[0].target  # type: ignore[attr-defined]
    assert not target.affine


def test_every_function_that_is_read_can_be_generated() -> None:
    assert {name for name in PURE if name not in FUNCTIONS} == set()


@pytest.mark.parametrize(
    ("use", "is_size"),
    [
        ("A[i] = A[i] * k", False),
        ("A[k] = 0", True),
        ("A[i] = k if A[i] < k else 0", False),
        ("A[i] = 1 if i < k else k", True),
        ("A[i] = 1 if k == 2 else 0", True),
        ("A[i] = 1 if k > 0.5 else 0", False),
        ("A[i] = k if k == 0 else 1", False),
    ],
)
def test_use_decides_whether_a_number_is_a_size(use: str, *, is_size: bool) -> None:
    scop = extract(f"def f(A, k, n):\n    for i in range(n):\n        {use}")
    assert ("k" in [parameter.name for parameter in scop.parameters]) is is_size
    assert ("k" in [array.name for array in scop.arrays]) is not is_size


@pytest.mark.parametrize(
    "computed",
    ["d = A[i] * A[i]", "d = i / 3", "d = math.sqrt(i)", "d = 0\n        d += A[i]", "c, d = 1, A[i]"],
)
def test_what_a_temporary_of_data_is_compared_with_is_no_size(computed: str) -> None:
    text = f"def f(A, r, n):\n    for i in range(n):\n        {computed}\n        if d < r * r:\n            A[i] = 1.0"
    assert [parameter.name for parameter in extract(text).parameters] == ["n"]


@pytest.mark.parametrize("computed", ["d = n // 2", "d = A.shape[0] - 1", "d = len(A)", "d = max(i, 3)"])
def test_what_an_integer_temporary_is_compared_with_is_a_size(computed: str) -> None:
    text = f"def f(A, r, n):\n    for i in range(n):\n        {computed}\n        if d < r:\n            A[i] = 1.0"
    assert "r" in [parameter.name for parameter in extract(text).parameters]


@pytest.mark.parametrize(
    ("lines", "sizes"),
    [
        ("A[i] = B[int(i * s)]", set()),
        ("y = int(i * s)\n  A[i] = B[y]", set()),
        ("at = s * i\n  y = min(int(at), m)\n  A[i] = B[y]", {"m"}),
        ("A[i] = B[int(i / s)]", set()),
        ("A[i] = B[int((i + m) / 2)]", {"m"}),
        ("A[i] = B[i * s]", {"s"}),
        ("y = i * s\n  A[i] = B[y + int(y)]", {"s"}),
    ],
)
def test_what_int_makes_whole_may_be_a_fraction(lines: str, sizes: set[str]) -> None:
    scop = extract(f"def f(A, B, n, m, s):\n for i in range(n):\n  {lines}")
    assert {parameter.name for parameter in scop.parameters} & {"m", "s"} == sizes
