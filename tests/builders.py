"""Scops from a few lines of isl text, so that the analysis is tested without the front end.

    scop(
        "n",
        loop("i", loop("j", "S0", loop("k", "S1"))),
        S0=statement("0 <= i, j < n", writes="C[i, j]"),
        S1=statement("0 <= i, j, k < n", reads="C[i, j] A[i, k] B[k, j]", writes="C[i, j]"),
    )

A question mark before an access makes it a may access (``?A[i]``); ``A[*]`` leaves a subscript open.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.errors import Span
from polyviz.model.scop import Access, AccessKind, Array, Parameter, ParameterSource, Scop, Statement

if TYPE_CHECKING:
    from polyviz.model.expression import Instruction


@dataclass(frozen=True)
class Loop:
    iterator: str
    body: tuple[Loop | str, ...]


@dataclass(frozen=True)
class StatementText:
    domain: str
    reads: str = ""
    writes: str = ""
    body: tuple[Instruction, ...] = ()


def loop(iterator: str, *body: Loop | str) -> Loop:
    return Loop(iterator, body)


def statement(
    domain: str = "", *, reads: str = "", writes: str = "", body: tuple[Instruction, ...] = ()
) -> StatementText:
    return StatementText(domain, reads, writes, body)


def scop(
    parameters: str,
    *nest: Loop | str,
    context: str = "",
    live_out: str | None = None,
    extents: dict[str, str] | None = None,
    **statements: StatementText,
) -> Scop:
    """``live_out`` names the arrays seen afterwards (default: all); ``extents`` maps an array to ``"n, m"``."""
    names = [name.strip() for name in parameters.split(",") if name.strip()]
    prefix = f"[{', '.join(names)}] -> "
    iterators = {name: found for part in nest for name, found in _iterators(part, ())}
    built = [
        _statement(prefix, name, iterators[name], text, line)
        for line, (name, text) in enumerate(statements.items(), start=1)
    ]
    heads = {name: f"{name}[{', '.join(iterators[name])}]" for name in statements}
    bound = isl.Set(f"{prefix}{{ : {context} }}") if context else isl.Set(f"{prefix}{{ : }}")
    return Scop(
        name="part",
        text="",
        statements=tuple(built),
        arrays=tuple(_arrays(prefix, built, live_out, extents or {})),
        parameters=tuple(Parameter(name, ParameterSource("argument", name)) for name in names),
        context=bound,
        schedule=_schedule(prefix, nest, heads, built),
        arguments=(),
    )


def _iterators(part: Loop | str, outer: tuple[str, ...]) -> list[tuple[str, tuple[str, ...]]]:
    if isinstance(part, str):
        return [(part, outer)]
    return [found for inner in part.body for found in _iterators(inner, (*outer, part.iterator))]


def _names(part: Loop | str) -> list[str]:
    return [name for name, _ in _iterators(part, ())]


def _statement(
    prefix: str, name: str, iterators: tuple[str, ...], text: StatementText, line: int
) -> Statement:
    head = f"{name}[{', '.join(iterators)}]"
    domain = isl.Set(f"{prefix}{{ {head} : {text.domain} }}" if text.domain else f"{prefix}{{ {head} }}")
    accesses = [
        *_accesses(prefix, head, domain, "read", text.reads),
        *_accesses(prefix, head, domain, "write", text.writes),
    ]
    span = Span(line, 1, line, 10)
    return Statement(name, iterators, domain, tuple(accesses), text.body, span, source=f"{name}")


def _accesses(prefix: str, head: str, domain: isl.Set, kind: AccessKind, texts: str) -> list[Access]:
    found = []
    for may, array, subscripts in re.findall(r"(\?)?(\w+)(?:\[([^\]]*)\])?", texts):
        opened = ", ".join(
            f"o{position}" if part.strip() == "*" else part
            for position, part in enumerate(subscripts.split(","))
        )
        relation = isl.Map(f"{prefix}{{ {head} -> {array}[{opened}] }}").intersect_domain(domain)
        text = f"{array}[{subscripts}]" if subscripts else array
        found.append(Access(kind, array, relation, exact=not may, reason="data" if may else "", text=text))
    return found


def _arrays(
    prefix: str, statements: list[Statement], live_out: str | None, extents: dict[str, str]
) -> list[Array]:
    ranks: dict[str, int] = {}
    for part in statements:
        for access in part.accesses:
            ranks[access.array] = access.relation.dim(isl.dim_type.out)
    return [
        Array(
            name=name,
            rank=rank,
            origin="argument" if rank else "local",
            extents=_extents(prefix, extents.get(name), rank),
            live_in=True,
            live_out=live_out is None or name in live_out.split(),
        )
        for name, rank in sorted(ranks.items())
    ]


def _extents(prefix: str, text: str | None, rank: int) -> tuple[isl.PwAff | None, ...]:
    if text is None:
        return (None,) * rank
    return tuple(isl.PwAff(f"{prefix}{{ [{part}] }}") for part in text.split(","))


def _schedule(
    prefix: str, nest: tuple[Loop | str, ...], heads: dict[str, str], statements: list[Statement]
) -> isl.Schedule:
    domain = isl.UnionSet.empty(statements[0].domain.get_space().params())
    for part in statements:
        domain = domain.union(isl.UnionSet.from_set(part.domain))
    body = _sequence(prefix, nest, heads)
    child = f", child: {body}" if body else ""
    return isl.Schedule(f'{{ domain: "{domain}"{child} }}')


def _sequence(prefix: str, parts: tuple[Loop | str, ...], heads: dict[str, str]) -> str:
    if len(parts) == 1:
        return _tree(prefix, parts[0], heads)
    filters = []
    for part in parts:
        space = "; ".join(heads[name] for name in _names(part))
        inner = _tree(prefix, part, heads)
        child = f", child: {inner}" if inner else ""
        filters.append(f'{{ filter: "{prefix}{{ {space} }}"{child} }}')
    return f"{{ sequence: [ {', '.join(filters)} ] }}"


def _tree(prefix: str, part: Loop | str, heads: dict[str, str]) -> str:
    if isinstance(part, str):
        return ""
    rows = "; ".join(f"{heads[name]} -> [{part.iterator}]" for name in _names(part))
    inner = _sequence(prefix, part.body, heads)
    child = f", child: {inner}" if inner else ""
    return f'{{ schedule: "{prefix}[{{ {rows} }}]"{child} }}'
