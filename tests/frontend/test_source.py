"""What can be extracted from: functions in every wrapping, text with one function, cells."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

from polyviz.errors import ExtractionError, Span, UnsupportedSyntaxError
from polyviz.frontend import extract
from polyviz.frontend.spelling import spelled
from polyviz.model.expression import Assign, Expression
from tests.frontend import kernels_to_unwrap


def value_of(text: str, **options: object) -> Expression:
    """The value that the first statement assigns."""
    instruction = extract(text, **options).statements[0].body[0]  # type: ignore[arg-type]
    assert isinstance(instruction, Assign)
    return instruction.value


def test_decorated_function_resolves_globals_helpers_and_aliases_of_modules() -> None:
    scop = extract(kernels_to_unwrap.decorated)
    (statement,) = scop.statements
    (instruction,) = statement.body
    assert isinstance(instruction, Assign)
    two_pi = repr(2 * math.pi)
    assert spelled(instruction.value) == (
        f"(((min(max(A[i, j], -1.0), {two_pi}) + ((A[i, j] * A[i, j]) + 0.001)) + math.exp(1.0)) + "
        f"math.sin({two_pi})) + numpy.sqrt(2.0)"
    )
    assert str(statement.domain) == "[A_shape_0] -> { S0[i, j] : 0 <= i < A_shape_0 and 0 <= j <= 15 }"
    assert any("prange" in note for note in scop.notes)
    assert scop.docstring.startswith("Everything a module offers.")


def test_spans_count_in_the_dedented_source_of_the_function() -> None:
    scop = extract(kernels_to_unwrap.with_closure(3))
    assert scop.text.startswith("def shift(A: Any) -> None:\n    for i in range(distance, len(A)):\n")
    assert scop.statements[0].span == Span(3, 9, 3, 31)
    assert scop.statements[0].loop_spans == (Span(2, 5, 2, 37),)
    assert str(scop.statements[0].domain) == "[A_shape_0] -> { S0[i] : 3 <= i < A_shape_0 }"


def test_what_a_decorator_has_put_a_function_around_is_found_by_hand_only() -> None:
    assert extract(kernels_to_unwrap.wrapped.__wrapped__).name == "wrapped"
    with pytest.raises(UnsupportedSyntaxError) as caught:
        extract(kernels_to_unwrap.calls_wrapped)
    assert caught.value.message == "The call of `doubled` is not supported."


def test_decorators_that_leave_a_function_as_it_is_may_stand_in_a_text() -> None:
    text = "\ndef f(A):\n    for i in range(3):\n        A[i] = 0.0\n"
    for decorator in ("@njit", "@numba.njit(parallel=True)", "@functools.lru_cache", "@pv.optimize(target='c')"):
        assert extract(decorator + text).name == "f"


def test_a_cache_is_no_reason_to_refuse() -> None:
    assert extract(functools.lru_cache(kernels_to_unwrap.constant_condition)).name == "constant_condition"


def test_constant_condition_leaves_one_arm() -> None:
    scop = extract(kernels_to_unwrap.constant_condition)
    assert [statement.source for statement in scop.statements] == ["A[i] = 1.0"]
    assert scop.notes == ("The statement at line 6 never runs: its iteration domain is empty.",)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            kernels_to_unwrap.Owner().method,
            "`Owner.method` is a method of an object, and loops are extracted from plain functions.",
        ),
        (kernels_to_unwrap.wrapped, "A decorator has put a function of its own around `wrapped`."),
        (kernels_to_unwrap.anonymous, "`<lambda>` is not a `def` function."),
        (
            kernels_to_unwrap.uses_global_array,
            "`TABLE` is an array of the surroundings, not an argument of the function, and it has 4000 numbers, and "
            "512 at most are put into the code.",
        ),
        (np.sqrt, "Loops cannot be extracted from an object of type `ufunc`."),
        (len, "Loops cannot be extracted from an object of type `builtin_function_or_method`."),
        (3, "Loops cannot be extracted from an object of type `int`."),
    ],
    ids=["method", "decorator", "lambda", "global array", "ufunc", "builtin", "number"],
)
def test_what_is_no_function_is_refused(source: object, message: str) -> None:
    with pytest.raises(UnsupportedSyntaxError) as caught:
        extract(source)
    assert caught.value.message == message


def test_function_without_source_is_refused() -> None:
    names: dict[str, object] = {}
    exec("def f(A):\n    for i in range(3):\n        A[i] = 0.0", names)
    with pytest.raises(UnsupportedSyntaxError, match="The source of `f` cannot be found"):
        extract(names["f"])


def test_magic_line_counts_as_the_first_line() -> None:
    scop = extract("%%polyopt -s isl\nfor i in range(n):\n    A[i] = 0\n")
    assert scop.statements[0].span == Span(3, 5, 3, 13)


def test_indented_text_keeps_its_columns() -> None:
    with pytest.raises(ExtractionError) as caught:
        extract("    for i in range(n):\n        A[i] = 'x'\n")
    assert caught.value.span == Span(2, 16, 2, 19)
    assert str(caught.value).splitlines()[1:3] == ["  2 |         A[i] = 'x'", "    |                ^^^"]


def test_columns_are_characters() -> None:
    with pytest.raises(ExtractionError) as caught:
        extract("for i in range(n):\n    größe[i] = ärger\n", namespace={"n": 3, "größe": np.zeros(3)})
    assert caught.value.span == Span(2, 16, 2, 21)


def test_imports_of_the_text_name_the_functions() -> None:
    assert (
        spelled(value_of("import numpy as q\nfor i in range(n):\n    A[i] = q.sin(A[i])"))
        == "numpy.sin(A[i])"
    )
    text = "from math import *\nfor i in range(n):\n    A[i] = sqrt(2.0)"
    assert spelled(value_of(text)) == "math.sqrt(2.0)"
    text = "from math import sqrt as root\nfor i in range(n):\n    A[i] = root(2.0)"
    assert spelled(value_of(text)) == "math.sqrt(2.0)"


def test_conventional_names_need_no_import() -> None:
    assert spelled(value_of("for i in range(n):\n    A[i] = np.sqrt(np.pi)")) == f"numpy.sqrt({math.pi!r})"
    assert spelled(value_of("for i in range(n):\n    A[i] = nb.float32(i)")) == "numpy.float32(i)"


def test_namespace_decides_what_a_name_means() -> None:
    namespace = {"n": 3, "A": np.zeros(3), "np": math}
    assert (
        spelled(value_of("for i in range(n):\n    A[i] = np.sqrt(2.0)", namespace=namespace))
        == "math.sqrt(2.0)"
    )


def test_local_name_hides_a_function() -> None:
    with pytest.raises(UnsupportedSyntaxError, match="`max` is a variable here, not a function"):
        extract("def f(A, max, n):\n    for i in range(n):\n        A[i] = max(A[i], 0.0)")


def test_numbers_beside_the_function_are_constants() -> None:
    scop = extract("N = 10\nM = 2 * N + 1\ndef f(A):\n    for i in range(M):\n        A[i] = N")
    assert str(scop.statements[0].domain) == "{ S0[i] : 0 <= i <= 20 }"


def test_helper_of_the_text_is_inlined() -> None:
    text = "def twice(x):\n    return x + x\n\ndef f(A, n):\n    for i in range(n):\n        A[i] = twice(A[i] * 3)"
    assert extract(text).name == "f"
    assert spelled(value_of(text)) == "(A[i] * 3) + (A[i] * 3)"
    read = [access.text for access in extract(text).statements[0].accesses if access.kind == "read"]
    assert read == ["A[i]", "A[i]"]


def test_source_of_a_statement_is_the_users_text() -> None:
    scop = extract(
        "def f(A, n):\n    for i in range(n):\n        A[i] = (A[i]  +\n                1.0)  # more\n"
    )
    assert scop.statements[0].source == "A[i] = (A[i]  +\n        1.0)"
    assert scop.statements[0].span == Span(3, 9, 4, 21)
