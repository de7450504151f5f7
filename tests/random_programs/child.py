"""The process that touches the product: jobs come in as JSON lines, outcomes go out as they are known."""

from __future__ import annotations

import json
import os
import sys
import warnings
from dataclasses import asdict
from typing import Any, TextIO

from tests.random_programs.program import Argument, Case, Program


def program_of(job: dict[str, Any]) -> Program:
    """The program of a job, rebuilt."""
    fields = dict(job["program"])
    arguments = tuple(Argument(**argument) for argument in fields.pop("arguments"))
    cases = tuple(
        Case(case["sizes"], {name: tuple(shape) for name, shape in case["shapes"].items()})
        for case in fields.pop("cases")
    )
    return Program(arguments=arguments, cases=cases, **fields)


def answer(job: dict[str, Any], output: TextIO) -> None:
    """Write one line per outcome and a last one."""
    from tests.random_programs.oracle import Variant, judge

    variants = [Variant(*variant) for variant in job["variants"]]
    for outcome in judge(program_of(job), variants):
        print(json.dumps(asdict(outcome)), file=output, flush=True)
    print(json.dumps({"done": True}), file=output, flush=True)


def main() -> None:
    """Answer until the input ends; what the product prints goes to the error stream."""
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        answer(json.loads(line), output)


if __name__ == "__main__":
    main()
