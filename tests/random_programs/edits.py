"""Random moves from the menu, made by hand on random programs; and whether what the menu says of them is true.

    python -m tests.random_programs.edits --seed 0 --minutes 10

A move that is offered must keep the results, its script must make the same tree again, and what is undone must come
back. A refused one must name two instances that exist, touch one cell, of which one writes, and that the move lets run
in another order (or in different iterations of a loop that it marks).
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from dataclasses import replace
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

import polyviz as pv
from tests.random_programs.comparison import difference, within_noise
from tests.random_programs.generator import ODD, SHAPED, SMALL, Profile, generate
from tests.random_programs.oracle import FAULTS, Reference, run
from tests.random_programs.orders import no_conflict, wrong_witness

if TYPE_CHECKING:
    from collections.abc import Iterator

    import islpy as isl

    from polyviz.editing.menu import Choice
    from tests.random_programs.program import Program

DEPTH = 6
"""Most moves of one edit."""
LARGEST = 40
"""Sizes beyond it are left out: the moves are what is looked at."""
LOOKED_AT = 3
"""Loops whose menus are read before each move."""
STARTS = ("original", "original", "original", "pluto", "isl", "feautrier", "spatial")
MARKS = ("parallel", "vector")
SIZES = (2, 3, 5, 8)


def judge_edits(seed: int, profile: Profile = SMALL, targets: tuple[str, ...] = ("c",)) -> Iterator[str]:
    """What is wrong with one random edit of the program of ``seed``; nothing when all is right."""
    program = generate(seed, profile)
    random = Random(f"edits {seed}")
    scop = pv.extract(program.source)
    edit = pv.edit(scop, random.choice(STARTS))
    for _ in range(random.randint(1, DEPTH)):
        edit, problems = _moved(edit, random)
        yield from problems
    yield from _history(scop, edit, random)
    if not pv.check(scop, edit.schedule):
        yield f"the edited order is illegal\n{edit.script()}"
    for target in targets:
        yield from _different(program, scop, edit, target)


def _moved(edit: pv.Edit, random: Random) -> tuple[pv.Edit, list[str]]:
    """The edit after a random move of those that a few loops offer, and wrong refusals among these."""
    problems, makers = [], []
    for loop in random.sample(edit.loops, min(LOOKED_AT, len(edit.loops))):
        for choice, make in edit.prospects(loop):
            if make is None:
                problem = _wrong_refusal(edit, choice)
                problems += [f"{edit.script()}{choice}\n{problem}"] if problem else []
            else:
                makers.append(make)
    for name, at, arguments in _own_moves(edit, random):
        try:
            made = edit.apply(name, at, **arguments)
        except (pv.LegalityError, pv.OptionError):
            continue
        makers.append(lambda made=made: made)  # type: ignore[misc]
    return (random.choice(makers)() if makers else edit), problems


def _own_moves(edit: pv.Edit, random: Random) -> Iterator[tuple[str, str | None, dict[str, Any]]]:
    """Moves with arguments that no menu proposes."""
    if not edit.loops:
        return
    at, number = random.choice(edit.loops), random.choice(SIZES)
    sizes = [parameter.name for parameter in edit.scop.parameters] or ["7"]
    point = random.choice([1, 2, f"floor({random.choice(sizes)}/2)", f"{random.choice(sizes)} - 2"])
    yield random.choice([
        ("split", at, {"point": point}), ("peel", at, {"count": 1, "side": random.choice(["first", "last"])}),
        ("strip-mine", at, {"size": number}), ("unroll", at, {"factor": number}), ("scale", at, {"factor": 2}),
        ("unroll-and-jam", at, {"factor": number}), ("shift", at, {"amount": random.choice([-1, 2, sizes[0]])}),
        ("tile", at, {"sizes": tuple(random.choice(SIZES) for _ in range(random.randint(1, 3)))}),
        ("skew", at, {"by": random.choice(edit.loops), "factor": random.choice([-1, 2])}),
        ("interchange", None, {"order": tuple(random.sample(edit.loops, min(3, len(edit.loops))))}),
    ])  # fmt: skip


def _wrong_refusal(edit: pv.Edit, choice: Choice) -> str:
    """Why the pair that a refusal names forbids nothing; empty where it does."""
    pair = choice.violation
    if pair is None:
        return "" if choice.reason else "refused without a reason"
    if choice.name in MARKS or choice.name == "unroll-and-jam":
        return no_conflict(edit.scop, pair)
    bound = edit._bound(choice.name, choice.at, choice.arguments)
    order = bound.move.apply(bound.tree)[0].get_map()
    return wrong_witness(edit.scop, order, pair)


def _history(scop: pv.Scop, edit: pv.Edit, random: Random) -> Iterator[str]:
    number = random.randint(0, len(edit.done))
    again = edit.undo(number).redo(number)
    if again != edit or not _alike(again.tree, edit.tree):
        yield f"another edit after undo({number}) and redo({number})\n{edit.script()}"
    try:
        replayed = pv.replay(scop, edit.script())
    except pv.PolyvizError as error:
        yield f"the script is refused: {error}\n{edit.script()}"
        return
    if not _alike(replayed.tree, edit.tree):
        yield f"the script makes another tree\n{edit.script()}"


def _alike(one: isl.Schedule, other: isl.Schedule) -> bool:
    return bool(one.plain_is_equal(other)) or not pv.difference(one, other)


def _different(program: Program, scop: pv.Scop, edit: pv.Edit, target: str) -> Iterator[str]:
    kernel = pv.compile(scop, schedule=edit, target=target)
    small = tuple(case for case in program.cases if max(case.sizes.values(), default=0) <= LARGEST)
    reference = Reference(replace(program, cases=small))
    for case, expected in zip(small, reference.expected, strict=True):
        actual = run(kernel, program, case)
        sentence = difference(expected, actual)
        values = partial(reference.plain.values, case)
        if sentence and not within_noise(reference.function, values, expected, actual):
            yield f"{target}: {sentence} at {dict(case.sizes)}\n{edit.script()}"
            return


def main() -> int:
    """Judge edits until the time is over; print what is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.random_programs.edits", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--minutes", type=float, default=5, help="stop after this time")
    parser.add_argument("--target", default="c", help="comma-separated targets")
    options = parser.parse_args()
    deadline, counts, seed = time.monotonic() + 60 * options.minutes, Counter[str](), options.seed
    while time.monotonic() < deadline:
        profile = (SMALL, ODD, SHAPED)[seed % 3]
        try:
            problems = list(judge_edits(seed, profile, tuple(options.target.split(","))))
        except pv.PolyvizError as error:
            counts["refused"] += 1
            problems = [f"{type(error).__name__}: {error}"] if isinstance(error, FAULTS) else []
        except Exception:
            problems = [traceback.format_exc(limit=-6)]
        counts["wrong" if problems else "right"] += 1
        for problem in problems:
            print(f"seed {seed}: {problem}", flush=True)
        seed += 1
    print(f"{seed - options.seed} edits: {dict(counts)}")
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
