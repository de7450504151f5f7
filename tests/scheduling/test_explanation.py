"""The log of a schedule: what each row minimised, what each loop carries, why loops are serial or apart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from polyviz.analysis import check
from polyviz.scheduling import schedule
from polyviz.scheduling.closeness import NO_PARALLEL_ROW
from polyviz.views.text import schedule_text
from tests.scheduling import kernels

if TYPE_CHECKING:
    from polyviz.model.schedule import Decision, Schedule


def entries(result: Schedule, step: str) -> list[Decision]:
    return [decision for decision in result.decisions if decision.step == step]


def details(decision: Decision) -> Any:
    return decision.details


def test_every_row_tells_its_objectives_by_name() -> None:
    first, second = entries(schedule(kernels.jacobi_1d(), "pluto"), "row")
    assert details(first)["functions"] == {"S": "t", "R": "t"}
    assert details(second)["functions"] == {"S": "2t + i", "R": "2t + i + 1"}
    assert list(details(second)["objectives"]) == [
        "bound per parameter",
        "bound",
        "parameter coefficients",
        "iterator coefficients",
    ]
    assert details(second)["objectives"]["bound"] == 2


def test_a_row_that_gave_up_parallelism_says_so() -> None:
    first, second = entries(schedule(kernels.jacobi_1d(), "pluto"), "row")
    assert NO_PARALLEL_ROW in first.text.lower()
    assert NO_PARALLEL_ROW not in second.text.lower()
    bounds_only = schedule(kernels.jacobi_1d(), "pluto", parallel_first=False)
    assert NO_PARALLEL_ROW not in entries(bounds_only, "row")[0].text.lower()


def test_loops_tell_what_they_carry_and_show_a_pair() -> None:
    time, space = entries(schedule(kernels.jacobi_1d(), "pluto"), "loop")
    assert {(one["kind"], one["array"], one["source"], one["sink"]) for one in details(time)["carries"]} == {
        ("flow", "A", "R", "S"),
        ("output", "A", "R", "R"),
        ("anti", "B", "R", "S"),
        ("output", "B", "S", "S"),
    }
    assert {(one["kind"], one["array"]) for one in details(space)["carries"]} == {
        ("anti", "A"),
        ("flow", "B"),
    }
    pair = details(space)["pair"]
    assert (pair["kind"], pair["source"], pair["source_instance"]) == ("flow", "S", (0, 1))
    assert (pair["sink"], pair["sink_instance"], pair["parameters"]) == ("R", (0, 1), {"T": 1, "n": 3})
    assert "iteration (2t + i)=1 writes B[1] in S" in space.text
    assert space.text.endswith("It carries anti of A (S → R) and flow of B (S → R).")


def test_the_pair_of_a_serial_loop_forbids_to_run_it_backwards() -> None:
    """What the log shows is a dependence: the exact check refuses the loop reversed."""
    part = kernels.matmul()
    (serial,) = [one for one in entries(schedule(part, "pluto"), "loop") if not details(one)["parallel"]]
    assert details(serial)["loop"] == "k"
    backwards = "[n] -> { S[i, j] -> [i, j, -n - 1]; R[i, j, k] -> [i, j, -k] }"
    assert not check(part, backwards)


def test_parallel_loops_carry_nothing() -> None:
    for decision in entries(schedule(kernels.matmul(), "pluto"), "loop")[:2]:
        assert details(decision)["parallel"]
        assert details(decision)["carries"] == ()
        assert details(decision)["pair"] is None


def test_loops_of_an_earlier_tree_leave_the_log() -> None:
    tiled = schedule(kernels.seidel_2d(), "pluto", tile=8)
    loops = entries(tiled, "loop")
    assert len(loops) == sum(len(band.members) for band in tiled.bands) == 6
    assert [(details(one)["band"], details(one)["member"]) for one in loops] == [
        (band, member) for band in (0, 1) for member in (0, 1, 2)
    ]


@pytest.mark.parametrize("scheduler", ["original", "isl", "feautrier", "spatial"])
def test_every_scheduler_explains_its_loops(scheduler: str) -> None:
    result = schedule(kernels.fdtd_2d(), scheduler)
    members = [member for band in result.bands for member in band.members]
    assert len(entries(result, "loop")) == len(members)


@pytest.mark.parametrize(
    ("kernel", "because", "text"),
    [
        ("matmul", "depth", "S and R stay apart: their loops have different depths (S: 2, R: 3)."),
        (
            "two_products",
            "parallelism",
            "S2 and S4 stay apart: only 1 of 2 parallel rows would remain (lost: j of S2).",
        ),
        (
            "mvt",
            "distance",
            "S and R stay apart: no value is used again soon enough: even the closest uses, from S to R, are farther "
            "apart the larger the sizes are, in row 1.",
        ),
    ],
)
def test_clusters_that_stay_apart_say_why_in_numbers(kernel: str, because: str, text: str) -> None:
    found = entries(schedule(kernels.KERNELS[kernel](), "pluto"), "fusion")
    chosen = next(one for one in found if details(one)["because"] == because)
    assert chosen.text == text
    assert not details(chosen)["merged"]


def test_the_numbers_behind_what_stays_apart() -> None:
    parallelism = entries(schedule(kernels.two_products(), "pluto"), "fusion")[1]
    assert details(parallelism)["clusters"] == (("S2",), ("S4",))
    assert details(parallelism)["rows"] == (1, 2)
    assert details(parallelism)["lost"] == ("j",)
    (distance,) = entries(schedule(kernels.mvt(), "pluto"), "fusion")
    assert details(distance)["distances"][0] is None


def test_details_are_numbers_and_text_that_views_can_send() -> None:
    for kernel in (kernels.matmul, kernels.two_products, kernels.jacobi_1d):
        for decision in schedule(kernel(), "pluto", concurrent_start=True).decisions:
            assert json.loads(json.dumps(decision.details)) is not None
    depths = entries(schedule(kernels.matmul(), "pluto"), "fusion")[0]
    assert details(depths)["depths"] == (2, 3)


def test_a_constant_distance_is_given_as_a_number() -> None:
    far = kernels.scop(
        "n",
        kernels.loop("i", kernels.loop("j", "S")),
        kernels.loop("i", kernels.loop("j", "R")),
        S=kernels.statement("0 <= i, j < n", reads="A[i, j-1]", writes="A[i, j]"),
        R=kernels.statement("0 <= i, j < n", reads="A[i, j-9] A[i, j] B[i, j-1]", writes="B[i, j]"),
    )
    (decision,) = entries(schedule(far, "pluto"), "fusion")
    assert details(decision)["distances"] == (0, 9)
    assert "up to 9 iterations apart in row 2" in decision.text


def test_what_is_merged_says_so() -> None:
    found = entries(schedule(kernels.pointwise_chain(), "pluto"), "fusion")
    assert [details(one)["merged"] for one in found] == [True, True]
    assert details(found[1])["clusters"] == (("S1", "S2"), ("S3",))


def test_the_text_shows_decisions_and_loops_apart() -> None:
    text = schedule_text(schedule(kernels.jacobi_1d(), "pluto"))
    head, loops = text.split("\nLoops\n")
    assert "Decisions\n" in head
    assert "R, S: loop t is not parallel" in loops
    assert "loop t is not parallel" not in head
