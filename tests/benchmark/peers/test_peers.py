from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from polyviz.benchmark.peers import all_peers
from polyviz.benchmark.peers.gcc import Gcc
from polyviz.benchmark.peers.native import with_known_sizes
from polyviz.benchmark.peers.polly import Polly
from polyviz.benchmark.subject import Data, Subject, analyse

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def subject() -> Subject:
    return analyse(Data("mvt", "mini", "float64"))


def test_a_compiler_that_is_not_on_the_path_is_absent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Gcc().available().reason == "there is no gcc on the PATH"
    assert not Polly().available().available


def test_the_sizes_are_promised_to_the_compiler(subject: Subject) -> None:
    assert subject.program is not None
    text = with_known_sizes(subject.program, subject).text
    assert "{\n    if (n != 40 || A_extent1 != 40) __builtin_unreachable();\n" in text


def test_a_loop_without_prange_or_program_is_refused_with_the_reason(subject: Subject) -> None:
    bare = replace(
        subject,
        parallel=None,
        parallel_reason="nothing is parallel",
        program=None,
        program_reason="no C for it",
    )
    reasons = {
        candidate.label: candidate.reason
        for peer in all_peers()
        for candidate in peer.candidates(bare)
        if candidate.runnable is None
    }
    assert reasons["numba parallel"] == "nothing is parallel"
    assert reasons["gcc"] == "no C for it"


def test_a_kernel_without_a_call_is_refused_by_blas(subject: Subject) -> None:
    other = replace(subject, data=Data("seidel-2d", "mini", "float64"))
    (candidate,) = next(peer for peer in all_peers() if peer.name == "NumPy/BLAS").candidates(other)
    assert candidate.runnable is None
    assert candidate.reason == "no call of NumPy or BLAS does this loop"


def test_the_promise_stands_in_the_kernel_not_in_a_helper_before_it() -> None:
    subject = analyse(Data("floyd-warshall", "mini", "float64"))
    assert subject.program is not None
    text = with_known_sizes(subject.program, subject).text
    helpers, _, kernel = text.rpartition("int64_t kernel_floyd_warshall(")
    assert "__builtin_unreachable" not in helpers
    assert "if (n != 60 || path_extent1 != 60) __builtin_unreachable();" in kernel


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")  # those of the peers
@pytest.mark.parametrize("peer", all_peers(), ids=lambda peer: peer.name)
def test_every_installed_peer_computes_the_same(
    peer: object, subject: Subject, cache_directory: Path
) -> None:
    if not peer.available().available:
        pytest.skip(peer.available().reason)
    expected = dict(zip(subject.names, subject.data.arguments(), strict=True))
    subject.data.entry.function(*expected.values())
    for candidate in peer.candidates(subject):
        values = dict(zip(subject.names, subject.data.arguments(), strict=True))
        example = dict(zip(subject.names, subject.data.example().arguments(), strict=True))
        assert candidate.runnable is not None
        candidate.runnable.prepare(example, subject.example_parameters)(values, subject.parameters)
        for name, array in expected.items():
            np.testing.assert_allclose(values[name], array, rtol=1e-10)
    smallest = np.array([5e-324])
    assert (smallest * 1.0)[0] > 0, "the library changed how this process computes"
