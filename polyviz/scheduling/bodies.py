"""The loop bodies of a part: what stands, one after the other, inside the same loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.transform.tree import is_band, kind_of, statements_under

if TYPE_CHECKING:
    from collections.abc import Iterator

    import islpy as isl


@dataclass(frozen=True, slots=True)
class BodyPart:
    """One child of a body: a statement, or loops with all that is inside them."""

    statements: frozenset[str]
    has_loops: bool


@dataclass(frozen=True, slots=True)
class LoopBody:
    """A sequence inside ``depth`` loops."""

    depth: int
    parts: tuple[BodyPart, ...]

    @property
    def statements(self) -> frozenset[str]:
        """All statements of the body, those in inner loops included."""
        return frozenset().union(*(part.statements for part in self.parts))


def loop_bodies(tree: isl.Schedule) -> Iterator[LoopBody]:
    """Every sequence of ``tree`` that has loops around it, outermost first.

    >>> import islpy as isl
    >>> tree = isl.Schedule('''{ domain: "{ S[i]; T[i] }", child: { schedule: "[{ S[i] -> [i]; T[i] -> [i] }]",
    ...   child: { sequence: [ { filter: "{ S[i] }" }, { filter: "{ T[i] }" } ] } } }''')
    >>> [(body.depth, [sorted(part.statements) for part in body.parts]) for body in loop_bodies(tree)]
    [(1, [['S'], ['T']])]
    """
    yield from _bodies(tree.get_root(), 0)


def _bodies(node: isl.ScheduleNode, depth: int) -> Iterator[LoopBody]:
    if is_band(node):
        depth += node.band_n_member()
    children = [node.child(position) for position in range(node.n_children())]
    if kind_of(node) == "sequence" and depth > 0:
        yield LoopBody(depth, tuple(_parts(node)))
        # A branch that is a sequence itself was taken apart.
        children = [inner for child in children for inner in _loops_under(child)]
    for child in children:
        yield from _bodies(child, depth)


def _parts(node: isl.ScheduleNode) -> Iterator[BodyPart]:
    """What runs at ``node`` one after the other, sequences inside sequences taken apart."""
    for position in range(node.n_children()):
        child = node.child(position)
        if kind_of(child) in ("sequence", "filter") and kind_of(child.child(0)) != "leaf":
            yield from _parts(child)
        else:
            inside = child.child(0) if kind_of(child) == "filter" else child
            yield BodyPart(frozenset(statements_under(inside)), kind_of(inside) != "leaf")


def _loops_under(node: isl.ScheduleNode) -> Iterator[isl.ScheduleNode]:
    if is_band(node):
        yield node
        return
    for position in range(node.n_children()):
        yield from _loops_under(node.child(position))
