"""What is said of functions of whole arrays that no loops are read for."""

from __future__ import annotations

import numpy as np
import pytest

from polyviz.errors import ExtractionError
from polyviz.frontend import extract
from polyviz.frontend.whole_calls import WHOLE_HINTS, WHOLE_REASONS


@pytest.mark.parametrize("name", ["numpy.sort", "numpy.unique", "numpy.concatenate", "numpy.linalg.solve"])
@pytest.mark.parametrize("statement", ["y[:] = {}(x)", "y[0] += {}(x[1:])", "z = {}(x)", "return {}(x)"])
def test_the_reason_and_what_to_do_are_said(name: str, statement: str) -> None:
    called = statement.format(name.replace("numpy", "np"))
    with pytest.raises(ExtractionError) as caught:
        extract(f"import numpy as np\ndef f(x, y):\n    x[0] = y[0]\n    {called}")
    assert (caught.value.reason, caught.value.hint) == (WHOLE_REASONS[name], WHOLE_HINTS[name])


def test_methods_are_functions_too() -> None:
    with pytest.raises(ExtractionError) as caught:
        extract("def f(x, y):\n    x[0] = y[0]\n    k = x.argsort()")
    assert caught.value.reason == WHOLE_REASONS["numpy.argsort"]


def test_they_are_functions_of_numpy() -> None:
    for name in WHOLE_REASONS:
        found = np
        for part in name.split(".")[1:]:
            found = getattr(found, part)
        assert callable(found)
