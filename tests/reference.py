"""The text of docs/reference.md, made from docstrings and parsers: ``python -m tests.reference`` writes it."""

from __future__ import annotations

import argparse
import inspect
import re
from pathlib import Path
from typing import Any

import polyviz as pv
from polyviz import cli, exercises, gallery
from polyviz.benchmark.options import _parser as bench_parser
from polyviz.notebook.magics import PolyvizMagics
from polyviz.notebook.words import OPTIONS, SHORT
from polyviz.runtime import storage, toolchain
from polyviz.scheduling import registry as scheduler_registry
from polyviz.transform import registry as move_registry

PATH = Path(__file__).parent.parent / "docs" / "reference.md"
MAGICS = ("polyopt", "polycheck", "polyinspect", "polyschedulers", "polydoctor")
SCHEDULERS = tuple(scheduler_registry._BUILT_IN)

INTRODUCTION = """\
# Reference

Every public name of `polyviz`, every magic with its options, and every command, from their own documentation. This
file is made by `python -m tests.reference` and checked by the tests; the [README](../README.md) is where to begin.

Names that stand elsewhere, such as `polyviz.gallery`, are imported from there. Whatever shows itself has a true and
readable summary as plain text and a static page; most bring JSON of the type `application/vnd.polyviz.v1+json` too.
"""


def reference() -> str:
    """The whole file."""
    parts = [
        INTRODUCTION,
        _functions(),
        _values(),
        _errors(),
        _lists(),
        _goals(),
        _gallery(),
        _magics(),
        _commands(),
        _surroundings(),
    ]
    return "\n".join(parts)


def _is_error(value: Any) -> bool:
    return inspect.isclass(value) and issubclass(value, Exception)


def _functions() -> str:
    names = [name for name in pv.__all__ if inspect.isroutine(getattr(pv, name))]
    return "## Functions\n\n" + "\n".join(_function(f"pv.{name}", getattr(pv, name)) for name in names)


def _function(called: str, function: Any) -> str:
    return f"### `{called}`\n\n```python\n{called}{_signature(function)}\n```\n\n{_prose(function)}\n"


def _signature(function: Any) -> str:
    """The signature without quotes around annotations, a parameter per line where it is long."""
    text = _unquoted(str(inspect.signature(function)))
    if len(text) < 90:
        return text
    inside, _, result = text.removeprefix("(").rpartition(")")
    parameters = [f"    {one}," for one in _split(inside)]
    return "\n".join(["(", *parameters, f"){result}"])


def _unquoted(text: str) -> str:
    text = re.sub(r'"([^"]*)"', r"\1", re.sub(r"(?<=: |> )'([^']*)'", r"\1", text))
    return text.replace("<factory>", "…")


def _split(inside: str) -> list[str]:
    """The parameters of a signature, split at the commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(inside):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(inside[start:place].strip())
            start = place + 1
    return [*parts, inside[start:].strip()]


def _prose(value: Any) -> str:
    """A docstring without its examples, in Markdown."""
    paragraphs = re.split(r"\n\s*\n", inspect.getdoc(value) or "")
    kept = [_markdown(paragraph) for paragraph in paragraphs if not paragraph.lstrip().startswith(">>>")]
    # A sentence that leads to an example means nothing without it.
    return "\n\n".join(re.sub(r"(^|(?<=\.) )[^.]*:$", "", paragraph) for paragraph in kept)


def _markdown(paragraph: str) -> str:
    text = re.sub(r":\w+:`~?([\w.]+)`", r"`\1`", paragraph.replace("``", "`"))
    return " ".join(text.split())


def _values() -> str:
    found = ["## Values\n"]
    for name in pv.__all__:
        value = getattr(pv, name)
        if inspect.isclass(value) and not _is_error(value):
            found.append(_value(f"pv.{name}", value))
    found.append(_value("pv.device", type(pv.device)))
    found.append("### `pv.__version__`\n\nThe version, as text.\n")
    return "\n".join(found)


def _value(called: str, kind: type) -> str:
    rows = []
    for name in sorted(vars(kind)):
        member = inspect.getattr_static(kind, name)
        if name.startswith("_") or not inspect.getdoc(member):
            continue
        if isinstance(member, property) and member.fget is not None:
            rows.append(f"- `.{name}`: {_first(member)}")
        elif inspect.isfunction(member):
            rows.append(f"- `.{name}({', '.join(_parameters(member))})`: {_first(member)}")
    fields = ", ".join(f"`.{name}`" for name in getattr(kind, "__dataclass_fields__", ()) if name[0] != "_")
    told = [f"### `{called}`\n", _prose(kind), *([f"\nFields: {fields}."] if fields else [])]
    return "\n".join([*told, *(["", *rows] if rows else []), ""])


def _parameters(method: Any) -> list[str]:
    """The parameters of a method with their defaults; types stand in the code."""
    listed = list(inspect.signature(method).parameters.values())[1:]
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in listed]
    return [str(one) for one in bare]


def _first(value: Any) -> str:
    return _markdown((inspect.getdoc(value) or "").partition("\n\n")[0])


def _errors() -> str:
    rows = ["## Errors\n", _prose(pv.PolyvizError), ""]
    for name in pv.__all__:
        value = getattr(pv, name)
        if _is_error(value):
            rows.append(f"- `pv.{name}` (a `{value.__mro__[1].__name__}`): {_first(value)}")
    return "\n".join([*rows, ""])


def _lists() -> str:
    """What goes by name; a scheduler or move that some test registered is none of ours."""
    moves = {name: pv.moves()[name] for name in move_registry._BUILT_IN}
    schedulers = {name: pv.schedulers()[name] for name in SCHEDULERS}
    targets = {name: "" for name in pv.targets()}
    return "\n".join(
        [
            "## Names\n",
            _list("Schedulers: `pv.schedule(part, NAME)`, `-s NAME`", schedulers),
            _options_of_schedulers(),
            _list("Moves: `edit.apply(NAME, …)`, and lines of a script", moves),
            _list("Techniques: `NAME=False`, `--without NAME`", pv.techniques()),
            f"### Targets: `target=NAME`, `-t NAME`\n\n{', '.join(f'`{name}`' for name in targets)}; "
            "`pv.targets()` says which can be used here; `auto` is `c` where a compiler is found, else `numba`.\n",
        ]
    )


def _list(title: str, entries: dict[str, str]) -> str:
    rows = [f"- `{name}`: {_markdown(text)}" for name, text in entries.items()]
    return "\n".join([f"### {title}\n", *rows, ""])


def _options_of_schedulers() -> str:
    rows = []
    for name in SCHEDULERS:
        values = scheduler_registry.option_values(name)
        options = [
            f"`{option}={default!r}`"
            + (f" (or {_others(values[option], default)})" if option in values else "")
            for option, default in scheduler_registry.scheduler_options(name).items()
        ]
        rows += [f"- `{name}`: {'; '.join(options)}"] if options else []
    return "\n".join(["Their options are keywords of `pv.schedule`:\n", *rows, ""])


def _others(values: tuple[Any, ...], default: Any) -> str:
    return ", ".join(f"`{value!r}`" for value in values if value != default)


def _goals() -> str:
    made = [getattr(exercises, name) for name in exercises.__all__]
    goals = [one for one in made if inspect.isfunction(one) and "-> 'Goal'" in str(inspect.signature(one))]
    texts = [_function(f"polyviz.exercises.{one.__name__}", one) for one in goals]
    own = [_value(f"polyviz.exercises.{kind.__name__}", kind) for kind in (exercises.Goal, exercises.Verdict)]
    return "## Goals of exercises\n\n" + "\n".join([*texts, *own])


def _gallery() -> str:
    listed = (gallery.kernels, gallery.polybench, gallery.kernel)
    functions = [_function(f"polyviz.gallery.{one.__name__}", one) for one in listed]
    kind = type(gallery.kernel("gemm"))
    return "## Gallery\n\n" + "\n".join([*functions, _value(f"polyviz.gallery.{kind.__name__}", kind)])


def _magics() -> str:
    texts = ["## Magics\n"]
    for name in MAGICS:
        sign = "%%" if name in ("polyopt", "polycheck") else "%"
        texts.append(f"### `{sign}{name}`\n\n{_magic_prose(name)}\n")
        if name == "polyopt":
            texts.append(_options())
    return "\n".join(texts)


def _magic_prose(name: str) -> str:
    text = inspect.getdoc(getattr(PolyvizMagics, name)) or ""
    after = text.split("optional arguments:")[0].split("options:")[0]
    return "\n\n".join(
        _markdown(paragraph).replace("%%%%", "%%")
        for paragraph in re.split(r"\n\s*\n", after)
        if "[--" not in paragraph and paragraph.strip(":\n ")
    )


def _options() -> str:
    shorts = {name: short for short, name in SHORT.items()}
    rows = ["| option | what it does |", "|---|---|"]
    for name, settings in OPTIONS.items():
        spelled = " ".join(filter(None, [name, settings.get("metavar", "")]))
        both = f"`{shorts[name]}`, `{spelled}`" if name in shorts else f"`{spelled}`"
        rows.append(f"| {both} | {_cell(settings['help'])} |")
    return "\n".join([*rows, ""])


def _cell(text: str) -> str:
    return text.replace("%%", "%").replace("|", "\\|")


def _commands() -> str:
    """The subcommands of the command line with their options."""
    parser = cli._parser()
    [actions] = [one for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    helps = {choice.dest: choice.help or "" for choice in actions._choices_actions}
    texts = ["## Commands\n"]
    for name, command in actions.choices.items():
        chosen = bench_parser() if name == "bench" else command
        texts.append(f"### `polyviz {name}`\n\n{helps[name][:1].upper()}{helps[name][1:]}.\n")
        texts.append(_arguments(chosen))
    return "\n".join(texts)


def _arguments(parser: argparse.ArgumentParser) -> str:
    rows = []
    for action in parser._actions:
        if isinstance(action, argparse._HelpAction):
            continue
        spelled = (
            ", ".join(f"`{one}`" for one in action.option_strings) or f"`{action.metavar or action.dest}`"
        )
        value = (
            f" `{action.metavar or action.dest.upper()}`"
            if action.option_strings and action.nargs != 0
            else ""
        )
        text = (action.help or "") % {"default": action.default, "prog": parser.prog}
        rows.append(f"- {spelled}{value}: {text}")
    return "\n".join([*rows, ""])


def _surroundings() -> str:
    rows = [
        f"- `{storage.CACHE_VARIABLE}`: the folder of the build cache and of what `tune` remembers.",
        f"- `{toolchain.COMPILER_VARIABLE}`: the C compiler to use, instead of the first one found.",
        "- `OMP_NUM_THREADS`: how many threads kernels get; without it one per core, and no more than a container gets "
        "the time of.",
        "",
        "Other packages bring schedulers and moves through the entry points "
        f"`{scheduler_registry.ENTRY_POINT_GROUP}` and `{move_registry.ENTRY_POINT_GROUP}`; "
        "[CONTRIBUTING](../CONTRIBUTING.md) says how to write one.",
        "",
    ]
    return "\n".join(["## Surroundings\n", *rows])


if __name__ == "__main__":
    PATH.write_text(reference(), encoding="utf-8")
    print(f"{PATH}: {len(reference().splitlines())} lines")
