"""Random moves, legal ones kept: whatever was edited, the program computes what the source computes."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import polyviz as pv
from polyviz.gallery import polybench

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = (
    "gemm",
    "jacobi-1d",
    "lu",
    "trisolv",
    "seidel-2d",
    "mvt",
    "atax",
    "symm",
    "durbin",
    "cholesky",
    "fdtd-2d",
)
ENTRIES = {entry.name: entry for entry in polybench() if entry.name in NAMES}
SMALL = st.integers(2, 4)
POINTS = st.sampled_from([1, 2, 3, "floor({}/2)", "{} - 2"])
ARGUMENTS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "reversal": {},
    "shift": {"amount": st.sampled_from([1, -1, 2, "{}"])},
    "skew": {"factor": st.sampled_from([1, -1, 2])},
    "scale": {"factor": SMALL},
    "tile": {"sizes": st.lists(SMALL, min_size=1, max_size=3)},
    "strip-mine": {"size": SMALL},
    "coalesce": {},
    "distribute": {},
    "split": {"point": POINTS},
    "peel": {"count": st.integers(1, 2), "side": st.sampled_from(["first", "last"])},
    "unroll": {"factor": SMALL},
    "unroll-and-jam": {"factor": SMALL},
    "wavefront": {},
    "parallel": {},
    "vector": {},
    "interchange": {},
    "fuse": {"depth": st.integers(1, 2)},
    "sink": {"point": st.sampled_from([0, 1, "{} - 1"])},
    "reorder": {},
}


def random_move(draw: Callable[..., Any], edited: pv.Edit) -> tuple[str, str | None, dict[str, Any]]:
    name = draw(st.sampled_from(sorted(ARGUMENTS)))
    size = draw(st.sampled_from([parameter.name for parameter in edited.scop.parameters]))
    arguments = {key: draw(values) for key, values in ARGUMENTS[name].items()}
    arguments = {
        key: value.format(size) if isinstance(value, str) else value for key, value in arguments.items()
    }
    statements = st.permutations([statement.name for statement in edited.scop.statements])
    if name in ("fuse", "reorder", "sink"):
        chosen = draw(statements)
        words = {"fuse": {"children": chosen[:2]}, "reorder": {"order": chosen}}
        return name, None, {**arguments, **words.get(name, {"child": chosen[0], "into": chosen[-1]})}
    loops = draw(st.permutations(edited.loops))
    if name == "interchange":
        return name, None, {"order": loops[: draw(st.integers(2, 3))]}
    return name, loops[0], {**arguments, "by": loops[-1]} if name == "skew" else arguments


@pytest.mark.slow
@pytest.mark.parametrize("target", ["python", "c"])
@settings(max_examples=16)
@given(st.data())
def test_edited_programs_compute_the_same(target: str, data: st.DataObject) -> None:
    entry = ENTRIES[data.draw(st.sampled_from(NAMES))]
    edited = pv.edit(entry.function, data.draw(st.sampled_from(["original", "original", "pluto", "isl"])))
    for _ in range(data.draw(st.integers(1, 5))):
        name, at, arguments = random_move(data.draw, edited)
        try:
            edited = edited.apply(name, at, **arguments)
        except (pv.LegalityError, pv.OptionError):
            continue
    assert pv.check(edited.scop, edited.schedule)
    assert not pv.difference(edited.schedule, pv.replay(entry.function, edited.script()).schedule)
    expected = entry.arguments("mini")
    actual = copy.deepcopy(expected)
    pv.compile(entry.function, schedule="original", target="python")(*expected)
    pv.compile(entry.function, schedule=edited, target=target)(*actual)
    for one, other in zip(expected, actual, strict=True):
        if isinstance(one, np.ndarray):
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10, err_msg=edited.script())
