"""The command line: ``polyviz demo | explain | bench | grade | doctor``."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import polyviz
from polyviz.errors import OptionError, PolyvizError

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
"""The exit status of a command that the user stopped, as shells count it."""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        raise OptionError(f"{message[:1].upper()}{message[1:]}; {self.prog} --help explains.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is 0, or 2 after an error.

    It is 1 when a variant computed something wrong, or a notebook could not be read.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(words)
    except PolyvizError as error:
        print(f"polyviz: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("polyviz: interrupted", file=sys.stderr)
        return INTERRUPTED


def _run(words: list[str]) -> int:
    # The benchmark brings its own options.
    if words[:1] == ["bench"]:
        from polyviz.benchmark import main as bench

        return int(bench(words[1:]) or 0)
    chosen = _parser().parse_args(words)
    if chosen.command == "demo":
        from polyviz.commands.scenes import chosen_scenes

        scenes = chosen_scenes(chosen.kernel)
        from polyviz.commands.demo import demonstrate

        return demonstrate(chosen.output, scenes)
    if chosen.command == "explain":
        from polyviz.commands.place import function_text

        source = function_text(chosen.function)
        from polyviz.api.sizes import sizes_of_words
        from polyviz.commands.explain import explain

        sizes = sizes_of_words(chosen.set or ())
        print(explain(source, chosen.schedule, chosen.target, code=chosen.code, sizes=sizes))
        return 0
    if chosen.command == "grade":
        return _grade(chosen)
    from polyviz.commands.doctor import diagnose
    from polyviz.commands.terminal import fitted

    print(fitted(repr(diagnose(measure=chosen.measure))))
    return 0


def _grade(chosen: argparse.Namespace) -> int:
    from polyviz.commands.grade import as_table, grade, nothing_checked, problems, write
    from polyviz.commands.terminal import fitted

    grades = grade(chosen.notebook, chosen.exercises)
    if chosen.output is not None:
        write(grades, chosen.output)
    print(fitted(as_table(grades)))
    found = problems(grades)
    for problem in found:
        print(problem, file=sys.stderr)
    return 2 if nothing_checked(grades) else 1 if found else 0


def _parser() -> _Parser:
    parser = _Parser(prog="polyviz", description="See, reshape, verify and time loop nests.")
    parser.add_argument("--version", action="version", version=f"polyviz {polyviz.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_demo(commands)
    _add_explain(commands)
    _add_grade(commands)
    commands.add_parser(
        "bench", help="the benchmark tables against the installed peers; bench --help for its options"
    )
    doctor = commands.add_parser("doctor", help="what is available here, and what to install for the rest")
    doctor.add_argument(
        "--measure",
        action="store_true",
        help="also measure, for a few seconds, what the processor can do: multiply-adds and copies",
    )
    return parser


def _add_demo(commands: argparse._SubParsersAction[_Parser]) -> None:
    demo = commands.add_parser(
        "demo",
        help="the main job end to end on real input: a table and an HTML report",
        description="Extract, analyse, schedule, verify and time a few kernels, and write what was found as HTML.",
    )
    demo.add_argument(
        "--output",
        type=Path,
        default=Path("polyviz-demo.html"),
        metavar="FILE",
        help="the report, default %(default)s",
    )
    demo.add_argument(
        "--kernel",
        action="append",
        metavar="NAME",
        help="only this kernel of the demonstration (may be repeated)",
    )


def _add_explain(commands: argparse._SubParsersAction[_Parser]) -> None:
    explain = commands.add_parser(
        "explain",
        help="domains, dependences, schedule, and why each loop is or is not parallel",
        description="Explain the loops of a function in a Python file; the file is read, not executed.",
    )
    explain.add_argument("function", metavar="FILE:FUNCTION", help="for example kernels.py:gemm")
    explain.add_argument(
        "-s", "--schedule", default="pluto", metavar="NAME", help="a scheduler, default %(default)s"
    )
    explain.add_argument(
        "-t", "--target", default="auto", metavar="NAME", help="for --code, default %(default)s"
    )
    explain.add_argument(
        "--set",
        action="append",
        metavar="NAME=NUMBER",
        help="a size for schedulers that choose by sizes (adaptive)",
    )
    explain.add_argument("--code", action="store_true", help="also print the generated program")


def _add_grade(commands: argparse._SubParsersAction[_Parser]) -> None:
    grade = commands.add_parser(
        "grade",
        help="check the exercises in students' notebooks again, a row per exercise",
        description="Check every %%polycheck cell of the notebooks again; nothing of the notebooks is executed. "
        "The exit status is 0, 1 when some notebook could not be read or some exercise is not known, or 2 when nothing "
        "was checked.",
    )
    grade.add_argument("notebook", nargs="+", type=Path, metavar="NOTEBOOK", help="notebooks as they were handed in")
    grade.add_argument(
        "--exercises", type=Path, metavar="FILE", help="your Python file that sets exercises; it is executed"
    )
    grade.add_argument("--output", type=Path, metavar="FILE", help="also write the rows to FILE.csv or FILE.json")


if __name__ == "__main__":
    sys.exit(main())
