from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from polyviz.benchmark.store import Store, resumed, with_kernel
from polyviz.errors import OptionError
from tests.benchmark.samples import BROKEN, FAST, RESULTS, SETTINGS, SLOW

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "benchmarks", "polybench-large")


def test_nothing_to_resume(store: Store) -> None:
    assert store.load() is None


def test_what_was_saved_is_loaded(store: Store) -> None:
    store.save(RESULTS)
    assert store.load() == RESULTS
    assert store.table.read_text(encoding="utf-8").startswith("# polybench, size large, float64")


def test_a_half_written_file_is_no_results(store: Store) -> None:
    store.save(RESULTS)
    store.json.write_text(store.json.read_text(encoding="utf-8")[:200], encoding="utf-8")
    with pytest.raises(OptionError, match="holds no benchmark results"):
        store.load()


def test_a_file_of_something_else_is_no_results(store: Store) -> None:
    store.directory.mkdir()
    store.json.write_text("[1, 2]", encoding="utf-8")
    with pytest.raises(OptionError, match="holds no benchmark results"):
        store.load()


def test_a_directory_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "benchmarks").write_text("in the way")
    with pytest.raises(OptionError, match="cannot be written"):
        Store(tmp_path / "benchmarks", "x").save(RESULTS)


def test_the_same_settings_are_resumed() -> None:
    assert resumed(RESULTS, replace(RESULTS, kernels=())) is RESULTS


def test_other_settings_are_not_mixed_into_one_table() -> None:
    fresh = replace(RESULTS, settings=replace(SETTINGS, size="small", targets=("c", "numba")))
    with pytest.raises(OptionError, match=r"size large there, small now; targets c there, c,numba now"):
        resumed(RESULTS, fresh)


def test_other_versions_are_not_mixed_into_one_table() -> None:
    with pytest.raises(OptionError, match="other versions"):
        resumed(RESULTS, replace(RESULTS, versions={"polyviz": "0.2.0"}))


def test_other_peers_are_not_mixed_into_one_table() -> None:
    with pytest.raises(OptionError, match="other peers"):
        resumed(RESULTS, replace(RESULTS, peers=RESULTS.peers[:1]))


def test_kernels_keep_the_order_of_the_suite_and_are_replaced() -> None:
    order = ("gemm", "lu", "adi")
    results = with_kernel(replace(RESULTS, kernels=(SLOW,)), FAST, order)
    assert [kernel.kernel for kernel in results.kernels] == ["gemm", "lu"]
    again = with_kernel(results, replace(FAST, wall_seconds=1.0), order)
    assert [kernel.wall_seconds for kernel in again.kernels] == [1.0, SLOW.wall_seconds]
    assert with_kernel(again, BROKEN, order).kernels[-1] is BROKEN
