from __future__ import annotations

import polyviz as pv
from polyviz.views.linked_memory import accesses_model, array_model


def accesses(source, **values):
    part = pv.extract(source)
    [statement] = part.statements
    found = accesses_model(statement, values)
    return [(one["kind"], one["text"], one["subscripts"]) for one in found]


def test_reads_come_before_the_write_and_parameters_are_numbers():
    found = accesses(
        "def f(A, B, n):\n  for i in range(n):\n    for j in range(n):\n      A[i, n - 1 - j] = B[2 * i + 1] + 1",
        n=5,
    )
    assert found == [
        ("read", "B[2 * i + 1]", [[2, 0, 1]]),
        ("write", "A[i, n - 1 - j]", [[1, 0, 0], [0, -1, 4]]),
    ]


def test_scalars_are_no_memory_and_divisions_no_linear_function():
    found = accesses("def f(A, B, n):\n  for i in range(n):\n    A[i] = B[i // 2] * 2.0", n=5)
    assert found == [("read", "B[i // 2]", None), ("write", "A[i]", [[1, 0]])]


def test_extents_are_those_of_the_source_where_it_tells_them():
    part = pv.extract("def f(A, B):\n  for i in range(A.shape[0] - 1):\n    B[i + 1] = A[i, 0]")
    parameter = part.parameters[0].name
    assert array_model(part.array("A"), part, {parameter: 9})["extents"] == [9, 1]
    assert array_model(part.array("B"), part, {parameter: 9})["extents"] == [9]


def test_elements_are_of_the_given_size_or_that_of_the_type():
    body = "T = np.zeros(n, dtype=np.float32)\n  for i in range(n):\n    T[i] = A[i]\n  return T"
    part = pv.extract(f"import numpy as np\ndef f(A, n):\n  {body}")
    assert array_model(part.array("T"), part, {"n": 4})["element_bytes"] == 4
    assert array_model(part.array("A"), part, {"n": 4})["element_bytes"] == 8
    assert array_model(part.array("A"), part, {"n": 4}, 2)["element_bytes"] == 2


def test_an_array_that_is_not_touched_has_no_extent_of_its_own():
    part = pv.extract("def f(A, n):\n  for i in range(n):\n    A[i] = 0")
    assert array_model(part.array("A"), part, {"n": 0})["extents"] is None
