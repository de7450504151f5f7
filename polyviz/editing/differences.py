"""Two schedules side by side: which nodes of their trees are the same, changed, gone or new."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Literal

from polyviz.analysis.times import times_by_statement
from polyviz.errors import OptionError
from polyviz.model.display import Displayable
from polyviz.model.plan import END
from polyviz.model.schedule import Schedule
from polyviz.transform.shape import Branches, Loops, Marked, Part, Shape, shape_of, statements_in
from polyviz.transform.tree import row_texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import islpy as isl

    from polyviz.transform.tree import Path

Change = Literal["same", "changed", "removed", "added"]
_SIGNS: dict[Change, str] = {"same": " ", "changed": "~", "removed": "-", "added": "+"}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a tree: a node, or a loop of a band; ``kind`` and ``statements`` decide what it is compared with."""

    path: Path
    member: int
    depth: int
    kind: str
    statements: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the first tree beside the line of the second that stands for the same thing."""

    change: Change
    left: Line | None
    right: Line | None

    def __str__(self) -> str:
        shown = self.right or self.left
        assert shown is not None
        before = f"   (was {self.left.text})" if self.change == "changed" and self.left is not None else ""
        return f"{_SIGNS[self.change]} {'  ' * shown.depth}{shown.text}{before}"


@dataclass(frozen=True, slots=True, repr=False)
class Difference(Displayable):
    """Two trees, node by node; true when something differs.

    ``rows`` follow the second tree, with what only the first one has in between. ``same_order`` tells whether all
    instances run in the same order in spite of different trees.
    """

    left: str
    right: str
    rows: tuple[Row, ...]
    same_order: bool

    def __bool__(self) -> bool:
        return any(row.change != "same" for row in self.rows)

    def __str__(self) -> str:
        verdict = "the same order of all instances" if self.same_order else "another order of the instances"
        head = f"{self.left} → {self.right}: {verdict}"
        return "\n".join([head, *map(str, self.rows)])


def difference(left: object, right: object) -> Difference:
    """What is different between two schedules of one part; edits, kernels and inspectors stand for theirs.

    Loops are aligned by depth and statements: of two bands that differ in one row, one loop is shown as changed.
    Raises ``OptionError`` for what has no schedule, and for schedules of different programs.
    """
    return _of_schedules(_schedule(left), _schedule(right))


def _schedule(value: object) -> Schedule:
    found = value if isinstance(value, Schedule) else getattr(value, "schedule", None)
    if isinstance(found, Schedule):
        return found
    raise OptionError(
        "A difference is between two schedules, or edits or kernels, which have one, not a value of type "
        f"{type(value).__name__}: pv.schedule(…) makes one."
    )


def _of_schedules(left: Schedule, right: Schedule) -> Difference:
    sizes = _common_sizes(left.tree.get_domain(), right.tree.get_domain())
    before, after = (
        list(_lines(shape_of(left.tree), (0,), _all(left.tree), 0)),
        list(_lines(shape_of(right.tree), (0,), _all(right.tree), 0)),
    )
    names = (left.scheduler, right.scheduler)
    same = same_order(left.map.intersect_params(sizes), right.map.intersect_params(sizes))
    return Difference(*names, tuple(_aligned(before, after)), same)


def _common_sizes(left: isl.UnionSet, right: isl.UnionSet) -> isl.Set:
    """The sizes at which both sides have instances; raises ``OptionError`` unless these are the same then."""
    names = [", ".join(statements_in(domain)) for domain in (left, right)]
    if names[0] != names[1]:
        raise OptionError(
            f"These are schedules of different programs: one orders {names[0]}, the other {names[1]}."
        )
    sizes = left.params().intersect(right.params())
    if not left.intersect_params(sizes).is_equal(right.intersect_params(sizes)):
        raise OptionError("These are schedules of different programs: their statements have different iterations.")
    return sizes


def same_order(left: isl.UnionMap, right: isl.UnionMap) -> bool:
    """Whether two maps into time put every pair of instances in the same order.

    >>> import islpy as isl
    >>> same_order(isl.UnionMap("{ S[i] -> [i] }"), isl.UnionMap("{ S[i] -> [2i + 1, 0] }"))
    True
    """
    return refines(left, right) and refines(right, left)


def refines(finer: isl.UnionMap, coarser: isl.UnionMap) -> bool:
    """Whether ``finer`` orders every pair of instances that ``coarser`` orders, and orders it likewise.

    >>> import islpy as isl
    >>> refines(isl.UnionMap("{ S[i, j] -> [i, j] }"), isl.UnionMap("{ S[i, j] -> [i] }"))
    True
    """
    fine, coarse = times_by_statement(finer), times_by_statement(coarser)
    if fine.keys() != coarse.keys():
        return False
    return all(
        _first(coarse, one, other).is_subset(_first(fine, one, other)) for one in fine for other in fine
    )


def _first(times: dict[str, isl.Map], one: str, other: str) -> isl.Map:
    return times[one].lex_lt_map(times[other])


def _all(tree: isl.Schedule) -> tuple[str, ...]:
    return statements_in(tree.get_domain())


def _lines(shape: Shape, path: Path, statements: tuple[str, ...], depth: int) -> Iterator[Line]:
    if isinstance(shape, Loops):
        for member, row in enumerate(shape.rows):
            functions = {name: text for name, text in row_texts(row).items() if name in statements}
            yield Line(path, member, depth + member, "loop", statements, f"loop {_functions(functions)}")
        depth += len(shape.rows)
    elif isinstance(shape, Part):
        statements = tuple(name for name in statements if name in statements_in(shape.instances))
        yield Line(path, 0, depth, "part", statements, ", ".join(statements))
        depth += 1
    elif isinstance(shape, Branches):
        order = "in this order" if shape.ordered else "in any order"
        yield Line(path, 0, depth, "sequence", statements, order)
        depth += 1
    elif isinstance(shape, Marked) and shape.name != END:
        yield Line(path, 0, depth, f"mark {shape.name}", statements, f"mark {shape.name}")
        depth += 1
    for position, child in enumerate(shape.children):
        yield from _lines(child, (*path, position), statements, depth)


def _functions(functions: dict[str, str]) -> str:
    groups: dict[str, list[str]] = {}
    for name, function in functions.items():
        groups.setdefault(function, []).append(name)
    if len(groups) == 1:
        return next(iter(groups))
    return "; ".join(f"{', '.join(names)}: {function}" for function, names in groups.items())


def _aligned(before: Sequence[Line], after: Sequence[Line]) -> Iterator[Row]:
    """Lines of the same text first; between these, lines of the same kind and statements count as changed."""
    exact = SequenceMatcher(
        None, [_key(line) for line in before], [_key(line) for line in after], autojunk=False
    )
    for tag, first, last, start, stop in exact.get_opcodes():
        old, new = before[first:last], after[start:stop]
        if tag == "equal":
            yield from (Row("same", left, right) for left, right in zip(old, new, strict=True))
        else:
            yield from _replaced(old, new)


def _key(line: Line) -> tuple[str, tuple[str, ...], str]:
    return line.kind, line.statements, line.text


def _replaced(old: Sequence[Line], new: Sequence[Line]) -> Iterator[Row]:
    matcher = SequenceMatcher(
        None, [_key(line)[:2] for line in old], [_key(line)[:2] for line in new], autojunk=False
    )
    for tag, first, last, start, stop in matcher.get_opcodes():
        if tag == "equal":
            pairs = zip(old[first:last], new[start:stop], strict=True)
            yield from (Row("changed", left, right) for left, right in pairs)
            continue
        yield from (Row("removed", line, None) for line in old[first:last])
        yield from (Row("added", None, line) for line in new[start:stop])
