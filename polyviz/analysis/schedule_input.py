"""Whatever a caller hands over as a schedule, checked and brought into one form: a time per instance."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

import islpy as isl

from polyviz.analysis.times import maps_of, times_by_statement
from polyviz.analysis.witness import instance_text, parameters_text, smallest_instance, smallest_pair
from polyviz.errors import LegalityError
from polyviz.model.schedule import Schedule

if TYPE_CHECKING:
    from polyviz.model.scop import Scop


def schedule_times(scop: Scop, schedule: Order) -> dict[str, isl.Map]:
    """One map per statement into a common time space, with exactly one time for every instance.

    Raises ``LegalityError`` when ``schedule`` is not that, with an example of an instance that shows it.
    """
    union = _union_map(scop, schedule)
    _refuse_strangers(scop, union)
    if not isinstance(getattr(schedule, "schedule", schedule), Schedule):
        _refuse_long(union)
    inside = union.intersect_params(scop.context).intersect_domain(scop.domain)
    times = times_by_statement(inside)
    for statement in scop.statements:
        domain = statement.domain.intersect_params(scop.context)
        if statement.name not in times:
            times[statement.name] = _empty_times(domain, times)
        _refuse_missing(statement.name, domain, times[statement.name])
        _refuse_several(statement.name, times[statement.name])
    return times


class Scheduled(Protocol):
    """What has a schedule: an edit, a kernel."""

    @property
    def schedule(self) -> Schedule:
        """The order."""


Order = Schedule | Scheduled | isl.Schedule | isl.UnionMap | str
"""Every form in which an order is accepted."""


def _union_map(scop: Scop, schedule: Order) -> isl.UnionMap:
    held = getattr(schedule, "schedule", schedule)
    if isinstance(held, Schedule):
        return held.map
    if isinstance(schedule, isl.Schedule):
        return _of_tree(schedule)
    if isinstance(schedule, isl.UnionMap):
        return schedule
    if isinstance(schedule, str):
        return _parsed(scop, schedule)
    raise LegalityError(
        "A schedule is a polyviz Schedule, an isl.Schedule, an isl.UnionMap or isl text, "
        f"not a value of type {type(schedule).__name__}.",
        hint="The schedule of an edit or of a kernel is its `.schedule`.",
    )


def _of_tree(tree: isl.Schedule) -> isl.UnionMap:
    """The times of the instances that ``tree`` runs; its bands alone may speak of more."""
    return tree.get_map().intersect_domain(tree.get_domain())


def tree_of_text(text: str) -> isl.Schedule | None:
    """The tree that ``text`` is, None for the text of a map; raises ``LegalityError`` where it does not parse.

    Text behind the schedule, which isl would leave unread, is refused for both.
    """
    _refuse_rest(text)
    _refuse_long_text(text)
    if not re.match(r"\s*\{?\s*\"?domain\"?\s*:", text):
        return None
    try:
        return isl.Schedule(text)
    except isl.Error as error:
        raise LegalityError(
            "The text of the schedule is no schedule tree of isl.",
            reason=_unbalanced_bracket(text)
            or "The brackets match, but isl cannot read what is between them.",
            hint="Print `.tree` of any schedule to see one; every node but the last has a child.",
            text=text,
        ) from error


def _parsed(scop: Scop, text: str) -> isl.UnionMap:
    tree = tree_of_text(text)
    if tree is not None:
        return _of_tree(tree)
    try:
        return isl.UnionMap(_with_parameters(scop, text))
    except isl.Error as error:
        raise LegalityError(
            "The text of the schedule is not isl notation.",
            reason=_complaint(scop, text),
            hint=f"Write one time tuple per statement, such as {_example(scop)}.",
            text=text,
        ) from error


def _refuse_rest(text: str) -> None:
    """isl reads the first relation or tree of a text and leaves the rest: say so instead of dropping it."""
    plain = re.sub(r"#[^\n]*", lambda comment: " " * len(comment.group()), text)
    if '"' in plain.partition("{")[0] or _unbalanced_bracket(plain) is not None:
        return
    depth = 0
    for position, character in enumerate(plain, start=1):
        depth += (character == "{") - (character == "}")
        if character == "}" and depth == 0:
            rest = plain[position:].strip()
            break
    else:
        return
    if rest:
        raise LegalityError(
            "The text of the schedule goes on behind its closing brace.",
            reason=f"`{rest.splitlines()[0]}` would not be read.",
            hint="Leave that out, or write the times of all statements into one pair of braces, separated by `;`.",
            text=text,
        )


def _with_parameters(scop: Scop, text: str) -> str:
    """Let a text that starts with its brace use the parameters of the part."""
    names = ", ".join(parameter.name for parameter in scop.parameters)
    return f"[{names}] -> {text}" if names and text.lstrip().startswith("{") else text


def _complaint(scop: Scop, text: str) -> str:
    """What is wrong with the text, as far as a look at its brackets and names tells."""
    bracket = _unbalanced_bracket(text)
    if bracket is not None:
        return bracket
    known = {parameter.name for parameter in scop.parameters} | {
        statement.name for statement in scop.statements
    }
    tuples = re.findall(r"\[([^\[\]]*)\]", text)
    declared = {part.strip() for inner in tuples for part in inner.split(",")}
    for match in re.finditer(r"[A-Za-z_]\w*", text):
        if match.group() not in known | declared | _KEYWORDS:
            return f"`{match.group()}` at character {match.start() + 1} is not known here."
    product = re.search(r"([A-Za-z_]\w*)\s*\*\s*([A-Za-z_]\w*)", text)
    if product is not None:
        return f"`{product.group()}` at character {product.start() + 1} is no affine expression."
    if "->" not in text:
        return "There is no `->` between an instance and its time."
    return "The brackets match, but isl cannot read what is between them."


_KEYWORDS = {
    "and",
    "or",
    "not",
    "mod",
    "floor",
    "ceil",
    "floord",
    "exists",
    "min",
    "max",
    "implies",
    "true",
    "false",
}
_PAIRS = {")": "(", "]": "[", "}": "{"}


def _unbalanced_bracket(text: str) -> str | None:
    opened: list[tuple[str, int]] = []
    for position, character in enumerate(text, start=1):
        if character in "([{":
            opened.append((character, position))
        elif character in _PAIRS:
            if not opened or opened[-1][0] != _PAIRS[character]:
                return f"The `{character}` at character {position} closes nothing that is open."
            opened.pop()
    if opened:
        character, position = opened[-1]
        return f"The `{character}` at character {position} is never closed."
    return None


def _example(scop: Scop) -> str:
    parts = (
        f"{statement.name}[{', '.join(statement.iterators)}] -> [{', '.join((*statement.iterators, str(place)))}]"
        for place, statement in enumerate(scop.statements[:2])
    )
    return f"{{ {'; '.join(parts)} }}"


def _refuse_strangers(scop: Scop, union: isl.UnionMap) -> None:
    arities = {statement.name: statement.domain.dim(isl.dim_type.set) for statement in scop.statements}
    for relation in maps_of(union):
        name = (
            relation.get_tuple_name(isl.dim_type.in_) if relation.has_tuple_name(isl.dim_type.in_) else None
        )
        arity = relation.dim(isl.dim_type.in_)
        if name not in arities:
            spoken = f"`{name}`" if name else "instances without a name"
            raise LegalityError(
                f"The schedule speaks of {spoken}, which this part does not have.",
                hint=f"Its statements are {_heads(scop)}.",
            )
        if arity != arities[name]:
            raise LegalityError(
                f"The schedule gives `{name}` {_counted(arity)}, but it has {arities[name]}.",
                hint=f"Its statements are {_heads(scop)}.",
            )
    _refuse_parameters(scop, union)


_MOST_COMPONENTS = 100
"""Numbers in a time: tiles of tiles of six loops need fewer, and an exact check of 200 takes seconds."""


def _refuse_long(union: isl.UnionMap) -> None:
    """Times so long that the check would not end; those of our own trees are as long as their trees are deep."""
    for relation in maps_of(union):
        _insist_on_length(relation.dim(isl.dim_type.out))


def _refuse_long_text(text: str) -> None:
    """The same before isl reads the text, since reading thousands of numbers takes it minutes."""
    for inner in re.findall(r"\[([^\[\]]*)\]", text):
        _insist_on_length(inner.count(",") + 1)


def _insist_on_length(components: int) -> None:
    if components > _MOST_COMPONENTS:
        raise LegalityError(
            f"The schedule has a tuple of {components} numbers, and {_MOST_COMPONENTS} are the most that are read.",
            reason="Each one more makes the exact check longer.",
            hint="Leave out numbers that are the same for all instances: they order nothing.",
        )


def _refuse_parameters(scop: Scop, union: isl.UnionMap) -> None:
    known = [parameter.name for parameter in scop.parameters]
    space = union.get_space()
    for position in range(space.dim(isl.dim_type.param)):
        name = space.get_dim_name(isl.dim_type.param, position)
        if name not in known:
            raise LegalityError(
                f"The schedule uses a parameter `{name}`, which this part does not have.",
                hint=f"Its parameters are {', '.join(known)}." if known else "It has no parameters.",
            )


def _heads(scop: Scop) -> str:
    return ", ".join(f"{statement.name}[{', '.join(statement.iterators)}]" for statement in scop.statements)


def _counted(number: int) -> str:
    return "1 iterator" if number == 1 else f"{number} iterators"


def _empty_times(domain: isl.Set, times: dict[str, isl.Map]) -> isl.Map:
    length = next(iter(times.values())).dim(isl.dim_type.out) if times else 0
    space = domain.get_space().from_domain().add_dims(isl.dim_type.out, length)
    return isl.Map.empty(space)


def _refuse_missing(name: str, domain: isl.Set, times: isl.Map) -> None:
    missing = domain.subtract(times.domain())
    if missing.is_empty():
        return
    parameters, instance = smallest_instance(missing)
    raise LegalityError(
        f"The schedule is partial: {instance_text(name, instance)} has no time{parameters_text(parameters)}.",
        hint="Give every instance of every statement a time.",
    )


def _refuse_several(name: str, times: isl.Map) -> None:
    if times.is_single_valued():
        return
    twice = times.apply_domain(times).subtract(isl.Map.identity(times.range().get_space().map_from_set()))
    pair = smallest_pair(twice)
    instance = _instance_at(times, pair.source, dict(pair.parameters), pair.sink)
    first, second = _tuple(pair.source), _tuple(pair.sink)
    raise LegalityError(
        f"The schedule runs {instance_text(name, instance)} more than once, at {first} and at {second}"
        f"{parameters_text(pair.parameters)}.",
        hint="Give every instance one time.",
    )


def _tuple(time: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, time))})"


def _instance_at(
    times: isl.Map, first: tuple[int, ...], parameters: dict[str, int], second: tuple[int, ...]
) -> tuple[int, ...]:
    """The first instance that runs at both times."""
    both = _domain_at(times, first).intersect(_domain_at(times, second))
    for name, value in parameters.items():
        both = both.fix_val(isl.dim_type.param, both.find_dim_by_name(isl.dim_type.param, name), value)
    return smallest_instance(both)[1]


def _domain_at(times: isl.Map, moment: tuple[int, ...]) -> isl.Set:
    for position, value in enumerate(moment):
        times = times.fix_val(isl.dim_type.out, position, value)
    return times.domain()
