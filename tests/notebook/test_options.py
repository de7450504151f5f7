"""The words of the magic line become checked options; every mistake is one line that helps."""

from __future__ import annotations

import pytest

from polyviz.errors import OptionError
from polyviz.notebook.magics import _parse
from polyviz.notebook.options import COMPARED_SCHEDULES, Options, read_options


def options(line: str) -> Options:
    return read_options(_parse(line))


def test_no_words_mean_the_defaults() -> None:
    assert options("") == Options()


def test_every_word_arrives() -> None:
    line = "-s isl -t c --tile 8,16 --compare --set N=1000 --set M=-2,K=3 --name s --repeats 3 --no-verify --show tree"
    assert options(line) == Options(
        schedules=("isl",),
        targets=("c",),
        tile=(8, 16),
        compare=True,
        sizes={"N": 1000, "M": -2, "K": 3},
        name="s",
        repeats=3,
        verify=False,
        show="tree",
    )


def test_several_variants_are_a_comparison() -> None:
    assert options("-s isl,pluto").compare
    assert options("-s isl -t c,python").compare
    assert not options("-s isl -t c").compare


def test_compare_alone_takes_the_usual_schedules() -> None:
    assert options("--compare").schedules == COMPARED_SCHEDULES
    assert options("--compare -s isl").schedules == ("isl",)


def test_a_name_given_twice_counts_once() -> None:
    assert options("-s isl,isl").schedules == ("isl",)


def test_tiling_can_be_switched_off() -> None:
    assert options("--tile off").tile is False


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("-s plutoo", "Unknown schedule 'plutoo': did you mean 'pluto'?"),
        ("-t numbaa", "Unknown target 'numbaa': did you mean 'numba'?"),
        ("-t gpu", "Unknown target 'gpu': there are auto, c, numba, python."),
        ("--show tre", "Unknown view 'tre': did you mean 'tree'?"),
        ("--tile 8,x", "--tile takes whole numbers from 1 on, not 'x'."),
        ("--tile ,", "--tile takes sizes such as 32,32,32, or off; not ','."),
        ("--set N", "--set takes NAME=NUMBER such as N=1000, not 'N'."),
        ("--set N=x", "--set takes NAME=NUMBER such as N=1000, not 'N=x'."),
        ("--name for", "--name takes the name of a variable, not 'for'."),
        ("--compare --repeats 0", "--repeats takes whole numbers from 1 on, not '0'."),
        ("--comprae", "Unknown option '--comprae': did you mean '--compare'?"),
        ("--frobnicate", "Unknown option '--frobnicate': %%polyopt? lists those there are."),
        ("--inspect --tile 8", "--tile has no effect with --inspect, which runs no loop."),
        ("--inspect --no-verify", "--no-verify has no effect with --inspect, which runs no loop."),
        ("--repeats 3", "--repeats counts the timings of a comparison: add --compare, or more than one variant."),
        ("pluto", "Unexpected 'pluto': %%polyopt takes options only; %%polyopt? lists them."),
        ("-s", "Argument -s/--schedule: expected one argument."),
        ("-s 'isl", "The options cannot be read: no closing quotation."),
    ],
)
def test_a_mistake_is_one_line(line: str, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        options(line)
    assert str(caught.value) == message
