"""tune: what it refuses, what it remembers, and how later compilations use it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import polyviz as pv
from polyviz.api import tuning as tuning_module
from polyviz.errors import OptionError
from polyviz.model.processor import Processor
from polyviz.runtime.machine import Machine
from polyviz.tuning.executors import Outcome
from polyviz.tuning.live import Live
from tests.running import function_of

if TYPE_CHECKING:
    from pathlib import Path

    from polyviz.tuning.candidates import Candidate

TRANSPOSE = """
def transpose(A, B):
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = B[j, i]
"""
OPTIONS: dict[str, Any] = {"target": "python", "seconds": 60}


def arrays(n: int = 20) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((n, n)), np.arange(float(n * n)).reshape(n, n)


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch, cache_directory: Path) -> list[str]:
    """Candidates are built, but their times are recorded: tiles of 16 are best."""
    tried: list[str] = []

    def first(live: Live, candidate: Candidate) -> Outcome:
        live.build(candidate)
        return Outcome("accepted", True, 1.0)

    def challenge(live: Live, candidate: Candidate, _champion: Candidate) -> Outcome:
        live.build(candidate)
        tried.append(str(candidate))
        better = candidate.keywords == {"tile": (32, 32)}
        return Outcome(
            "accepted" if better else "slower", True, 0.5 if better else 2.0, 2.0 if better else 0.5
        )

    monkeypatch.setattr(Live, "try_first", first)
    monkeypatch.setattr(Live, "challenge", challenge)
    monkeypatch.setattr(Live, "rematch", lambda *_: Outcome("accepted", True, 0.5, 2.0))
    return tried


def tuned(kernel: pv.Kernel) -> list[str]:
    return [decision.text for decision in kernel.plan.decisions if decision.step == "tuned"]


@pytest.mark.slow
@pytest.mark.parametrize(("schedule", "told"), [("spatial", "without relax_inner"), ("isl", "with serialize")])
def test_what_a_scheduler_is_for_is_the_target_of_the_kernel(recorded: list[str], schedule: str, told: str) -> None:
    """Among the options of a scheduler may be one that `tune` has settled."""
    pv.tune(function_of(TRANSPOSE), *arrays(), schedule=schedule, **OPTIONS)
    assert any(told in name for name in recorded)
    assert not any("target" in name for name in recorded)


@pytest.mark.slow
def test_what_was_found_is_used_by_later_compilations_and_said(recorded: list[str]) -> None:
    function = function_of(TRANSPOSE)
    assert tuned(pv.compile(function, target="python")) == []
    found = pv.tune(function, *arrays(), **OPTIONS)
    assert found.options == {"tile": (32, 32)}
    assert found.speedup == 2.0
    assert "without tile" in recorded
    assert any("fusion max" in name for name in recorded)
    kernel = pv.compile(function, target="python")
    (text,) = tuned(kernel)
    assert text.startswith("tile 32 x 32: found by tuning on ")
    assert text.endswith(
        "for A_shape_0 = A_shape_1 = 20, 2.00 times as fast as the defaults then; tuned=False leaves it out"
    )
    assert kernel.source == pv.compile(function, target="python", tile=(32, 32)).source
    assert tuned(pv.compile(function, target="python", tuned=False)) == []
    assert tuned(pv.compile(function, target="python", schedule="isl")) == []
    assert tuned(pv.compile(function, target="python", contract="strict")) == []


@pytest.mark.slow
def test_options_that_are_given_come_before_those_that_are_remembered(recorded: list[str]) -> None:
    function = function_of(TRANSPOSE)
    pv.tune(function, *arrays(), **OPTIONS)
    kernel = pv.compile(function, target="python", tile=(8, 8))
    assert kernel.source == pv.compile(function, target="python", tile=(8, 8), tuned=False).source
    assert tuned(kernel) == []


@pytest.mark.slow
def test_a_comparison_looks_for_its_own_sizes(recorded: list[str]) -> None:
    function = function_of(TRANSPOSE)
    pv.tune(function, *arrays(), **OPTIONS)
    for size, remembered in ((31, True), (40, False)):
        compared = pv.compare(
            function, *arrays(size), schedules=("pluto",), targets="python", baselines=(), repeats=1
        )
        assert bool(tuned(compared.kernels["pluto/python"])) == remembered


@pytest.mark.slow
def test_with_options_held_fixed_nothing_is_remembered(recorded: list[str]) -> None:
    found = pv.tune(function_of(TRANSPOSE), *arrays(), **OPTIONS, threads=1)
    assert found.remembered == ""
    assert not any("threads" in name for name in recorded)
    assert pv.tune(function_of(TRANSPOSE), *arrays(), **OPTIONS, remember=False).remembered == ""


@pytest.mark.slow
def test_a_second_search_begins_with_what_is_remembered(recorded: list[str]) -> None:
    pv.tune(function_of(TRANSPOSE), *arrays(), **OPTIONS)
    recorded.clear()
    pv.tune(function_of(TRANSPOSE), *arrays(), **OPTIONS)
    assert recorded[0] == "tile 32 x 32"


def test_an_interrupt_keeps_what_was_learned(recorded: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    challenge = Live.challenge

    def interrupted(live: Live, candidate: Candidate, champion: Candidate) -> Outcome:
        if candidate.keywords != {"tile": (32, 32)} and "tile 32 x 32" in recorded:
            raise KeyboardInterrupt
        return challenge(live, candidate, champion)

    monkeypatch.setattr(Live, "challenge", interrupted)
    found = pv.tune(function_of(TRANSPOSE), *arrays(), **OPTIONS)
    assert found.interrupted
    assert found.options == {"tile": (32, 32)}
    assert len(tuned(pv.compile(function_of(TRANSPOSE), target="python"))) == 1


def test_an_interrupt_keeps_that_nothing_better_was_found_yet(
    recorded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    challenge = Live.challenge

    def interrupted(live: Live, candidate: Candidate, champion: Candidate) -> Outcome:
        if len(recorded) == 2:
            raise KeyboardInterrupt
        return replace(challenge(live, candidate, champion), status="slower")

    monkeypatch.setattr(Live, "challenge", interrupted)
    found = pv.tune(function_of(TRANSPOSE), *arrays(), **OPTIONS)
    assert found.interrupted
    (text,) = tuned(pv.compile(function_of(TRANSPOSE), target="python"))
    assert text.startswith("tuning found nothing better than the defaults among 3 candidates")


@pytest.mark.slow
def test_a_search_goes_on_where_an_interrupted_one_ended(
    recorded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    challenge = Live.challenge

    def interrupted(live: Live, candidate: Candidate, champion: Candidate) -> Outcome:
        if len(recorded) == 3:
            raise KeyboardInterrupt
        return replace(challenge(live, candidate, champion), status="slower")

    monkeypatch.setattr(Live, "challenge", interrupted)
    seen: list[str] = []
    for number in range(3):
        found = pv.tune(function_of(TRANSPOSE), *arrays(), **OPTIONS)
        assert not set(recorded) & set(seen)
        seen += recorded
        recorded.clear()
        told = f"{3 * number} candidates that earlier searches found no better came last, if at all"
        assert any(told in note for note in found.notes) == bool(number)
    monkeypatch.setattr(Live, "challenge", challenge)
    found = pv.tune(function_of(TRANSPOSE), *arrays(), **OPTIONS)
    assert found.options == {"tile": (32, 32)}
    assert "tile 32 x 32" in seen
    again = recorded.index("tile 32 x 32")
    assert again >= 20, "what was tried before comes last"
    assert not set(recorded[:20]) & set(seen)


@pytest.mark.slow
def test_a_damaged_file_is_said_in_the_report(recorded: list[str]) -> None:
    from pathlib import Path

    found = pv.tune(function_of(TRANSPOSE), *arrays(), **OPTIONS)
    Path(found.remembered).write_text("{", encoding="utf-8")
    kernel = pv.compile(function_of(TRANSPOSE), target="python")
    assert "tuned: what tuning remembered is damaged and ignored (" in kernel.report()
    kernel(*arrays())


@pytest.mark.slow
def test_options_of_another_version_are_ignored_and_said(recorded: list[str]) -> None:
    from pathlib import Path

    found = pv.tune(function_of(TRANSPOSE), *arrays(), **OPTIONS)
    path = Path(found.remembered)
    path.write_text(path.read_text(encoding="utf-8").replace('"tile"', '"tiling"'), encoding="utf-8")
    kernel = pv.compile(function_of(TRANSPOSE), target="python")
    (text,) = tuned(kernel)
    assert text.startswith("what tuning remembered fits another version and is ignored: ")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["contract", "overlap", "schedule", "stage"])
def test_remembered_options_that_tuning_does_not_choose_are_ignored_and_said(recorded: list[str], name: str) -> None:
    from pathlib import Path

    found = pv.tune(function_of(TRANSPOSE), *arrays(), **OPTIONS)
    path = Path(found.remembered)
    document = json.loads(path.read_bytes())
    document["entries"][0]["options"] = {name: {"contract": "strict", "overlap": "as-written"}.get(name, False)}
    path.write_text(json.dumps(document), encoding="utf-8")
    kernel = pv.compile(function_of(TRANSPOSE), target="python")
    assert (kernel.floating_point, kernel.overlap) == ("reassociate", "refuse")
    (text,) = tuned(kernel)
    assert text.startswith("what tuning remembered fits another version and is ignored: ")
    again = pv.tune(function_of(TRANSPOSE), *arrays(), **OPTIONS)
    assert any("fits another version and is ignored" in note for note in again.notes)
    assert all(name not in trial.options for trial in again.trials)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"seconds": 0}, "The time for tuning is a positive number of seconds, not 0."),
        ({"seconds": "long"}, "The time for tuning is a positive number of seconds, not 'long'."),
        ({"strategy": "sampel"}, "Unknown strategy 'sampel' (did you mean `sample`?)."),
        ({"target": "emulated"}, "Tuning is for processors, and the target 'emulated' is a device."),
        (
            {"schedule": "{ S0[i, j] -> [j, i] }"},
            "Tuning needs a scheduler's name, since it tries the scheduler's options too.",
        ),
    ],
)
def test_wrong_options_are_one_line(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(pv.OptionError) as caught:
        pv.tune(function_of(TRANSPOSE), *arrays(), **{**OPTIONS, **options})
    assert str(caught.value) == sentence


@pytest.mark.slow
def test_a_short_search_for_real(cache_directory: Path) -> None:
    first, second = arrays(5)
    found = pv.tune(function_of(TRANSPOSE), first, second, target="python", seconds=0.01)
    assert [trial.name for trial in found.trials] == ["the defaults"]
    assert found.remembered == ""
    assert not first.any()
    assert "Tuning of transpose, pluto/python for A_shape_0 = A_shape_1 = 5: 1 candidate in" in repr(found)
    assert tuning_module.DEFAULT_SECONDS > 0


PRODUCT = """
def product(C, A, B):
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]
"""


def test_shapes_of_register_tiles_are_tried_and_remembered(
    monkeypatch: pytest.MonkeyPatch, cache_directory: Path
) -> None:
    processor = Processor(32, 16, 32768, 1048576, 2)
    monkeypatch.setattr(Machine, "processor", processor)
    monkeypatch.setattr(Live, "try_first", lambda *_: Outcome("accepted", True, 1.0))
    monkeypatch.setattr(Live, "rematch", lambda *_: Outcome("accepted", True, 0.5, 2.0))
    tried: list[Any] = []

    def challenge(_live: Live, candidate: Candidate, _champion: Candidate) -> Outcome:
        tried.append(candidate.keywords.get("register_tile"))
        better = candidate.keywords == {"register_tile": (4, 3)}
        return Outcome(
            "accepted" if better else "slower", True, 0.5 if better else 2.0, 2.0 if better else 0.5
        )

    monkeypatch.setattr(Live, "challenge", challenge)
    function = function_of(PRODUCT)
    square = [np.ones((16, 16)) for _ in range(3)]
    found = pv.tune(function, *square, target="c", seconds=60)
    assert {shape for shape in tried if isinstance(shape, tuple)} == set(processor.tile_shapes())
    assert found.options == {"register_tile": (4, 3)}
    later = pv.compile(function, target="c")
    assert later.plan.register_tiles[0].shape == (4, 3)
    assert any("register_tile 4 x 3" in text for text in tuned(later))
    assert pv.compile(function, target="c", tuned=False).plan.register_tiles[0].shape is None


@pytest.mark.parametrize("shape", [(0, 3), (8, 9), (31, 1), (8,), (8.0, 3), "8x3", 3])
def test_a_shape_that_no_register_file_holds_is_refused(shape: Any) -> None:
    with pytest.raises(OptionError, match=r"register_tile is True, False, or a tile in rows and vector"):
        pv.compile(function_of(PRODUCT), target="c", register_tile=shape)
