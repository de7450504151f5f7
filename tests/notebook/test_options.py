"""The words of the magic line become checked options; every mistake is one line that helps."""

from __future__ import annotations

from typing import Any

import islpy as isl
import pytest

import polyviz as pv
from polyviz.errors import OptionError
from polyviz.model.techniques import techniques
from polyviz.notebook.magics import _parse
from polyviz.notebook.options import COMPARED_SCHEDULES, Options, read_options


def options(line: str, **namespace: Any) -> Options:
    return read_options(_parse(line), namespace)


def test_no_words_mean_the_defaults() -> None:
    assert options("") == Options()


def test_every_word_arrives() -> None:
    sizes = "--tile 8,16 --threads 3 --set N=1000 --set M=-2,K=3"
    assert options(f"-s isl -t c {sizes} --compare --name s --repeats 3 --no-verify --show tree") == Options(
        schedules={"isl": "isl"},
        targets=("c",),
        tile=(8, 16),
        threads=3,
        compare=True,
        sizes={"N": 1000, "M": -2, "K": 3},
        name="s",
        repeats=3,
        verify=False,
        show="tree",
    )


def test_techniques_contract_and_time_for_tuning_arrive() -> None:
    chosen = options("--without pack,register-tile,threads --contract strict --tune 2.5 --tile 8")
    assert chosen.without == {"pack": False, "register_tile": False, "threads": 1}
    assert (chosen.contract, chosen.tune) == ("strict", 2.5)
    assert chosen.building == {"contract": "strict", **chosen.without, "tile": (8,)}
    assert options("--tune").tune == 20.0
    assert options("--without tile").building["tile"] is False
    assert options("--threads 2").building == {"contract": "reassociate", "threads": 2}


def test_several_variants_are_a_comparison() -> None:
    assert options("-s isl,pluto").compare
    assert options("-s isl -t c,python").compare
    assert not options("-s isl -t c").compare


def test_compare_alone_takes_the_usual_schedules() -> None:
    assert tuple(options("--compare").schedules) == COMPARED_SCHEDULES
    assert tuple(options("--compare -s isl").schedules) == ("isl",)


def test_a_name_given_twice_counts_once() -> None:
    assert tuple(options("-s isl,isl").schedules) == ("isl",)


MAP = "{ S0[i, j] -> [j, i] }"


@pytest.mark.parametrize("text", [f'"{MAP}"', f"'{MAP}'", MAP.replace(" ", "")])
def test_an_isl_map_on_the_line(text: str) -> None:
    (name, chosen), *rest = options(f"-s {text}").schedules.items()
    assert (name, str(chosen).replace(" ", ""), rest) == ("user", MAP.replace(" ", ""), [])


def test_an_isl_map_among_others() -> None:
    chosen = options(f'--schedule="isl, {MAP}, pluto"').schedules
    assert chosen == {"isl": "isl", "user": MAP, "pluto": "pluto"}


class Edit:
    """Something that holds a schedule, as the editor of the inspector does."""

    def __init__(self, schedule: object) -> None:
        self.schedule = schedule


def test_schedules_of_the_notebook_by_name() -> None:
    scop = pv.extract("for i in range(n): A[i] = 0")
    mine, relation = pv.schedule(scop, "original"), isl.UnionMap("{ S0[i] -> [-i] }")
    held = {
        "mine": mine,
        "relation": relation,
        "edit": Edit(mine),
        "text": "{ S0[i] -> [i] }",
        "tree": mine.tree,
    }
    chosen = options("-s pluto,mine,relation,edit,text,tree", **held).schedules
    assert list(chosen) == ["pluto", *held]
    assert [chosen[name] for name in held] == [mine, relation, mine, "{ S0[i] -> [i] }", mine.tree]


def test_a_scheduler_comes_before_a_variable_of_its_name() -> None:
    assert options("-s isl", isl=isl).schedules == {"isl": "isl"}


def test_what_is_no_schedule_is_said() -> None:
    with pytest.raises(OptionError) as caught:
        options("-s rows", rows=[1, 2])
    assert (
        str(caught.value) == "'rows' in the notebook is no schedule (it is of type list), and no scheduler."
    )
    with pytest.raises(OptionError) as caught:
        options("-s minne", mine=isl.UnionMap("{ S0[i] -> [i] }"))
    assert str(caught.value) == "Unknown schedule 'minne': did you mean 'mine'?"


def test_tiling_can_be_switched_off() -> None:
    assert options("--tile off").tile is False


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("-s plutoo", "Unknown schedule 'plutoo': did you mean 'pluto'?"),
        ("-t numbaa", "Unknown target 'numbaa': did you mean 'numba'?"),
        (
            "-t gpu",
            "Unknown target 'gpu': did you mean 'cuda', which needs a GPU, or 'emulated', which runs the same kernels "
            "on the processor?",
        ),
        ("--without packs", "Unknown technique 'packs' (did you mean `pack`?)."),
        (
            "--without everything",
            f"Unknown technique 'everything'; there are {', '.join(techniques())}.",
        ),
        ("--without ,", f"--without needs a technique: one of {', '.join(techniques())}."),
        ("--contract strikt", "Unknown contract 'strikt': did you mean 'strict'?"),
        ("--tune soon", "--tune takes a number of seconds such as 30, not 'soon'."),
        ("--tune -1", "--tune takes a number of seconds such as 30, not '-1'."),
        (
            "--tune --compare",
            "--tune looks around one variant: name one schedule and one target, and leave --compare out.",
        ),
        ("--inspect --tune", "--tune has no effect with --inspect, which runs no loop."),
        ("--show tre", "Unknown view 'tre': did you mean 'tree'?"),
        ("--tile 8,x", "--tile takes whole numbers from 1 on, not 'x'."),
        ("--tile ,", "--tile takes sizes such as 32,32,32, or off; not ','."),
        ("--set N", "--set takes NAME=NUMBER such as N=1000, not 'N'."),
        ("--set N=x", "--set takes NAME=NUMBER such as N=1000, not 'N=x'."),
        ("--name for", "--name takes the name of a variable, not 'for'."),
        ("--compare --repeats 0", "--repeats takes whole numbers from 1 on, not '0'."),
        ("--comprae", "Unknown option '--comprae': did you mean '--compare'?"),
        ("--frobnicate", "Unknown option '--frobnicate': %%polyopt --help lists those there are."),
        ("--inspect --tile 8", "--tile has no effect with --inspect, which runs no loop."),
        ("--inspect --no-verify", "--no-verify has no effect with --inspect, which runs no loop."),
        (
            "--repeats 3",
            "--repeats counts the timings of a comparison: add --compare, or more than one variant.",
        ),
        ("--jobs 4", "Unknown option '--jobs': %%polyopt --help lists those there are."),
        ("--threads two", "--threads takes whole numbers from 1 on, not 'two'."),
        ("--threads 2 --without threads", "--threads has no effect beside --without threads, which stands for one."),
        ("--inspect --threads 2", "--threads has no effect with --inspect, which runs no loop."),
        ("-S isl", "Unknown option '-S': did you mean '-s'?"),
        ("pluto", "Unexpected 'pluto': did you mean '-s pluto'? Several names are separated by commas."),
        ("numba", "Unexpected 'numba': did you mean '-t numba'? Several names are separated by commas."),
        ("please", "Unexpected 'please': %%polyopt takes options only; %%polyopt --help lists them."),
        (
            "--tile 32 32",
            "Unexpected '32': several values of one option are separated by commas, such as '--tile 32,32'.",
        ),
        (
            "-s { S0[i] -> [i] }",
            "Unexpected 'S0[i]': an isl map stands in quotes: -s \"{ S0[i, j] -> [j, i] }\".",
        ),
        (
            "-s '{ S0[i] -> [i }'",
            "The brackets of '{ S0[i] -> [i }' do not match; an isl map stands in quotes: "
            '-s "{ S0[i, j] -> [j, i] }".',
        ),
        ("-s", "--schedule needs a value: NAME[,NAME…]."),
        ("-s 'isl", "The options cannot be read: no closing quotation."),
    ],
)
def test_a_mistake_is_one_line(line: str, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        options(line)
    assert str(caught.value) == message
