"""The long run: ``python -m tests.random_programs --count 10000 --seed 0 --out report.json``.

A report that exists is continued: seeds that it holds are not run again.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polyviz.model.program import CONTRACTS
from tests.random_programs.generator import (
    BY_HAND,
    DEEP,
    EVERYTHING,
    HOISTED,
    MIXED,
    ODD,
    SHAPED,
    SMALL,
    generate,
)
from tests.random_programs.oracle import EXTRACTION, Outcome, Variant
from tests.random_programs.reporting import DEFECTS, script, smallest, variants_of
from tests.random_programs.runner import Runner

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.random_programs.program import Program

SCHEDULES = ("original", "isl", "feautrier", "pluto", "adaptive", "spatial", "superposition")
PROFILES = {
    "everything": EVERYTHING,
    "small": SMALL,
    "mixed": MIXED,
    "shaped": SHAPED,
    "odd": ODD,
    "deep": DEEP,
    "hoisted": HOISTED,
    "by-hand": BY_HAND,
}
TARGETS = ("c", "numba", "python")


def main(arguments: list[str] | None = None) -> int:
    """Run programs, write the report, print the summary; 1 when something is wrong."""
    options = _parser().parse_args(arguments)
    report = _Report(options.out)
    variants = [
        Variant(schedule, target, options.contract) for schedule in options.schedule for target in options.target
    ]
    profile = PROFILES[options.profile]
    deadline = time.monotonic() + options.minutes * 60 if options.minutes else float("inf")
    with Runner(options.patience) as runner:
        for seed in range(options.seed, options.seed + options.count):
            if time.monotonic() > deadline:
                break
            missing = [variant for variant in variants if str(variant) not in report.known(seed)]
            if missing and not report.finished(seed):
                program = generate(seed, profile)
                outcomes = runner.judge(program, missing)
                report.add(seed, outcomes)
                _tell(program, outcomes, runner, options.shrink)
    report.save()
    print(report.summary())
    return 1 if report.defects() else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.random_programs", description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="number of programs")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument(
        "--profile",
        choices=PROFILES,
        default="everything",
        help="what the programs hold: `small` ones are quick to analyse, `mixed` ones hold what is rare elsewhere, "
        "`shaped` ones are products, stencils, recurrences and the like, `odd` ones rarer shapes in odd layouts, "
        "`deep` ones tensors, recurrences in place, exchanged arrays and the like, `hoisted` ones factors in "
        "variables, `by-hand` ones loops that somebody has cut into strips or unrolled",
    )
    parser.add_argument("--schedule", type=_names, default=SCHEDULES, help="comma-separated schedulers")
    parser.add_argument(
        "--target", type=_names, default=TARGETS, help="comma-separated targets; also `interpreter`"
    )
    parser.add_argument("--contract", choices=CONTRACTS, default="reassociate", help="that of floating point")
    parser.add_argument("--out", type=Path, help="JSON report, continued when it exists")
    parser.add_argument("--minutes", type=float, help="stop after this time; the report can be continued")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds that one variant may take")
    parser.add_argument("--shrink", type=int, default=0, help="trials to make a failing program smaller")
    return parser


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _tell(program: Program, outcomes: Iterable[Outcome], runner: Runner, budget: int) -> None:
    defects = [outcome for outcome in outcomes if outcome.kind in DEFECTS]
    for outcome in defects:
        print(f"seed {program.seed}: {outcome.variant}: {outcome.kind}: {outcome.detail}", flush=True)
    if defects and budget and variants_of(defects[0]):
        print(script(smallest(program, defects[0], runner, budget), defects[0]), flush=True)


class _Report:
    """Outcomes by seed, kept in a JSON file that is rewritten now and then."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.programs: dict[str, list[dict[str, Any]]] = {}
        if path is not None and path.exists():
            self.programs = json.loads(path.read_text(encoding="utf-8"))["programs"]

    def known(self, seed: int) -> set[str]:
        return {outcome["variant"] for outcome in self.programs.get(str(seed), [])}

    def finished(self, seed: int) -> bool:
        """An extraction that failed has no variants to run."""
        return any(
            outcome["variant"] == EXTRACTION and outcome["kind"] != "equal"
            for outcome in self.programs.get(str(seed), [])
        )

    def add(self, seed: int, outcomes: Iterable[Outcome]) -> None:
        known = self.known(seed)
        self.programs.setdefault(str(seed), []).extend(
            {"variant": outcome.variant, "kind": outcome.kind, "detail": outcome.detail}
            for outcome in outcomes
            if outcome.variant not in known
        )
        if len(self.programs) % 10 == 0:
            self.save()

    def save(self) -> None:
        if self.path is None:
            return
        kinds = Counter(outcome.kind for outcome in self._outcomes())
        text = json.dumps({"outcomes": dict(kinds), "programs": self.programs}, indent=1)
        temporary = self.path.with_suffix(".partial")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(self.path)

    def _outcomes(self) -> list[Outcome]:
        return [Outcome(**outcome) for outcomes in self.programs.values() for outcome in outcomes]

    def defects(self) -> list[Outcome]:
        return [outcome for outcome in self._outcomes() if outcome.kind in DEFECTS]

    def summary(self) -> str:
        """Programs, outcomes by variant and kind, refusals and defects by reason."""
        outcomes = self._outcomes()
        lines = [
            f"{len(self.programs)} programs, {sum(o.variant != EXTRACTION for o in outcomes)} runs of variants"
        ]
        for variant in sorted({outcome.variant for outcome in outcomes}):
            kinds = Counter(outcome.kind for outcome in outcomes if outcome.variant == variant)
            lines.append(
                f"  {variant}: " + ", ".join(f"{kind} {number}" for kind, number in kinds.most_common())
            )
        reasons = Counter((outcome.kind, outcome.key) for outcome in outcomes if outcome.kind != "equal")
        lines += [f"  {kind} {number}: {reason}" for (kind, reason), number in reasons.most_common()]
        return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
