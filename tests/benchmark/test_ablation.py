"""The suite that switches techniques off: its table and its options."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from polyviz.api.ablation import SAME_PROGRAM
from polyviz.benchmark.ablation import (
    AblationRow,
    AblationSettings,
    KernelAblation,
    ablation_table,
    run_ablation,
)
from polyviz.benchmark.options import parse
from polyviz.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SETTINGS = AblationSettings(
    "large",
    "float64",
    "pluto",
    "c",
    "reassociate",
    5,
    2,
    "A CPU, 2 usable cores\ncaches: none",
    {"polyviz": "0.1.0"},
)
ROWS = (
    AblationRow("as written/numba", "ok", True, 0.1, (0.09, 0.11), 10.0, ""),
    AblationRow("everything on/c", "ok", True, 0.01, (0.01, 0.01), 1.0, ""),
    AblationRow("without pack/c", "ok", True, None, None, None, SAME_PROGRAM),
    AblationRow("without group/c", "ok", True, None, None, None, SAME_PROGRAM),
    AblationRow("without jam/c", "wrong", False, None, None, None, SAME_PROGRAM),
    AblationRow("without tile/c", "timeout", None, None, None, None, "it ran too long"),
)


def test_the_table(golden: Callable[..., None]) -> None:
    golden(ablation_table(SETTINGS, [KernelAblation("gemm", {"ni": 1000, "nj": 1100}, ROWS)]))


def test_the_options() -> None:
    options = parse(["--suite", "ablation"])
    assert options.kernels == ("gemm", "jacobi-2d")
    assert parse(["--suite", "ablation", "--kernels", "mvt"]).kernels == ("mvt",)
    with pytest.raises(OptionError, match=r"^Unknown kernel 'gem': did you mean 'gemm'\?$"):
        parse(["--suite", "ablation", "--kernels", "gem"])


@pytest.mark.slow
def test_a_small_run_writes_both_files(tmp_path: Path) -> None:
    told: list[str] = []
    status = run_ablation(
        ("mvt",),
        tmp_path,
        told.append,
        size="mini",
        dtype="float64",
        schedule="pluto",
        target="python",
        contract="reassociate",
        repeats=1,
    )
    assert status == 0
    (kernel,) = json.loads((tmp_path / "ablation.json").read_text(encoding="utf-8"))["kernels"]
    assert kernel["rows"][1]["variant"] == "everything on/python"
    assert kernel["rows"][1]["slowdown"] == 1.0
    assert "## mvt (n = 40)" in (tmp_path / "ablation.md").read_text(encoding="utf-8")
    assert told[0].startswith("mvt: ")
