"""Which subscripts stay inside their arrays because of what loops keep true of the whole numbers in them.

``while low < high: mid = (low + high) // 2`` leads ``A[mid]`` nowhere else than where ``low`` and ``high`` began. A
subscript that is known to stay needs no test, and without tests threads may share loops under numba, too.
"""

from __future__ import annotations

from functools import reduce
from itertools import groupby
from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.nesting import loop_nests
from polyviz.analysis.scalar_invariants import Runner, ignored, kept_states
from polyviz.analysis.scalar_states import States
from polyviz.model.expression import (
    Assign,
    Binary,
    Branch,
    Call,
    Compare,
    Conditional,
    Constant,
    Element,
    Loop,
    Name,
    Unary,
    While,
    walk,
)
from polyviz.model.isl_limits import solved, with_known_quotients

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from polyviz.analysis.nesting import Step
    from polyviz.analysis.scalar_invariants import Visit
    from polyviz.errors import Span
    from polyviz.model.expression import Expression, Node
    from polyviz.model.scop import Access, Array, Scop, Statement

    Axis = tuple[str, Span | None, int]
    _Nested = tuple[tuple[Step, ...], Statement]
    Inside = Callable[[str, int, isl.Set], bool]

_OPERATIONS = 1_000_000
_MOST = 8
"""Whole numbers that are followed together; sets of more take long."""
_WHOLE = frozenset({"+", "-", "*", "//", "%"})


def axes_inside_by_values(scop: Scop, inside: Inside) -> frozenset[Axis]:
    """The axes along which elements stay inside their arrays, told by statement, place, and axis; ``inside`` decides
    it for an array, an axis and all values of a subscript.

    >>> import polyviz as pv
    >>> part = pv.extract('''
    ... def sunk(A, v):
    ...     j = len(A) - 1
    ...     while j > 0 and A[j] > v:
    ...         j -= 1
    ...     return j
    ... ''')
    >>> inside = axes_inside_by_values(part, lambda array, axis, values: values.dim_min_val(0).is_nonneg())
    >>> [(name, axis) for name, _, axis in inside]
    [('S1', 0)]
    """
    scalars = _followed(scop)
    if not scalars:
        return frozenset()
    met = solved(lambda: _Search(scop, scalars).met(), _OPERATIONS) or {}
    return frozenset(
        place
        for place, found in met.items()
        if all(values is not None and inside(array, place[2], values) for array, values in found)
    )


def _followed(scop: Scop) -> tuple[str, ...]:
    """The whole numbers, and the iterators of loops inside statements, that subscripts depend on."""
    nodes = [node for statement in scop.statements for line in statement.body for node in walk(line)]
    whole = _whole_numbers(scop, nodes)
    iterators = {node.iterator for node in nodes if isinstance(node, Loop)}
    outer = {name for statement in scop.statements for name in statement.iterators}
    taken = {parameter.name for parameter in scop.parameters} | outer
    places = [place for node in nodes if isinstance(node, Element) for place in node.subscripts]
    if not whole.isdisjoint(iterators | taken) or whole.isdisjoint(_read(places)):
        return ()
    names = _related(nodes, _read(places)) & ((whole | iterators) - taken)
    return tuple(sorted(names)) if len(names) <= _MOST else ()


def _read(nodes: Iterable[Node]) -> set[str]:
    """The scalars and iterators in ``nodes``."""
    parts = [part for node in nodes for part in walk(node)]
    names = {part.name for part in parts if isinstance(part, Name)}
    return names | {part.array for part in parts if isinstance(part, Element) and not part.subscripts}


def _related(nodes: Sequence[Node], names: set[str]) -> set[str]:
    """``names`` with all that is compared with them, or that they are made of."""
    compared = [_read([node]) for node in nodes if isinstance(node, Compare)]
    made = [
        ({node.target.array}, _read([node.value]))
        for node in nodes
        if isinstance(node, Assign) and not node.target.subscripts
    ]
    made += [({node.iterator}, _read([node.start, node.stop, node.step])) for node in nodes if isinstance(node, Loop)]
    while True:
        more = set().union(*(one for one in compared if one & names), *(parts for one, parts in made if one & names))
        if more <= names:
            return names
        names |= more


def _whole_numbers(scop: Scop, nodes: Sequence[Node]) -> set[str]:
    """The scalars to which nothing but whole numbers are assigned, in 64 bits."""
    assigns = [node for node in nodes if isinstance(node, Assign) and not node.target.subscripts]
    found = {array.name for array in scop.arrays if _may_be_whole(array)} & {one.target.array for one in assigns}
    while True:
        left = found - {one.target.array for one in assigns if not _is_whole(one.assigned, found)}
        if left == found:
            return found
        found = left


def _may_be_whole(array: Array) -> bool:
    wide = array.dtype in (None, "int64") and not (array.dtype is None and array.keeps_type)
    return array.rank == 0 and array.origin == "local" and not array.live_in and wide


def _is_whole(value: Expression, known: set[str]) -> bool:
    """Whether ``value`` is a whole number where the scalars ``known`` are."""
    match value:
        case Constant(number):
            return isinstance(number, int) and not isinstance(number, bool)
        case Name() | Call("int"):
            return True
        case Element(array, ()):
            return array in known
        case Unary("-" | "+", operand):
            return _is_whole(operand, known)
        case Binary(operator, left, right):
            return operator in _WHOLE and _is_whole(left, known) and _is_whole(right, known)
        case Conditional(_, left, right):
            return _is_whole(left, known) and _is_whole(right, known)
        case Call("min" | "max", arguments):
            return all(_is_whole(one, known) for one in arguments)
    return False


def _on(space: isl.Space, extent: isl.PwAff) -> isl.PwAff:
    """``extent``, a function of sizes, as one of the cells in ``space``."""
    anywhere = isl.Map.from_domain_and_range(isl.Set.universe(space), isl.Set.from_pw_aff(extent).reset_tuple_id())
    return isl.PwMultiAff.from_map(anywhere).get_pw_aff(0)


def _is_read_first(scalar: str, statements: Sequence[Statement]) -> bool:
    """Whether the first of ``statements`` with ``scalar`` may read what it was before."""
    for statement in statements:
        own = [access for access in statement.accesses if access.array == scalar]
        if own:
            return not all(access.kind == "write" and access.exact for access in own)
    return True


class _Search:
    """Runs the statements of ``scop`` in their order, on states of ``scalars`` and of the iterators around."""

    def __init__(self, scop: Scop, scalars: tuple[str, ...]) -> None:
        iterators = tuple(dict.fromkeys(name for one in scop.statements for name in one.iterators))
        parameters = [parameter.name for parameter in scop.parameters]
        dimensions = (*scalars, *iterators)
        space = isl.Space.create_from_names(isl.DEFAULT_CONTEXT, set=[*dimensions], params=parameters)
        sizes = tuple(one.name for one in scop.parameters if one.source.kind == "shape")
        self.scop = scop
        self.states = States(dimensions, space, sizes)
        self.found: dict[Axis, list[tuple[str, isl.Set | None]]] = {}
        self.statement = ""

    def met(self) -> dict[Axis, list[tuple[str, isl.Set | None]]]:
        """For each axis at each place, the array and all values of the subscript whenever the place is reached; None
        where they are not known."""
        nests = loop_nests(self.scop.schedule)  # in the order of the loops
        nested = [(nest.steps, self.scop.statement(name)) for name, nest in nests.items()]
        if any(len(nests[one.name].loops) != len(one.iterators) for _, one in nested):
            return {}
        begin = isl.Set.universe(self.states.space).intersect_params(self.scop.context)
        self._run(nested, begin, self._visit)
        return self.found

    def _run(self, nested: Sequence[_Nested], state: isl.Set, visit: Visit) -> isl.Set:
        """The states behind statements that are ``nested`` in these loops and branches, from those before."""
        for _, group in groupby(nested, key=lambda one: one[0][0].place if one[0] else None):
            together = list(group)
            steps, statement = together[0]
            inner = [(steps[1:], statement) for steps, statement in together]
            if not steps:
                state = self._instance(statement, state, visit)
            elif steps[0].is_loop:
                state = self._loop(together, inner, state, visit)
            else:
                state = self._run(inner, state, visit)
        return state

    def _loop(
        self, around: Sequence[_Nested], inner: Sequence[_Nested], before: isl.Set, visit: Visit
    ) -> isl.Set:
        """The states behind a loop ``around`` statements that are ``inner`` ones."""
        statements = [statement for _, statement in inner]
        iterator, step = _counted(*around[0])
        written = self._written(statements)
        handed_on = tuple(name for name in written if _is_read_first(name, statements))
        own = tuple(name for name in written if name not in handed_on)
        runs = reduce(isl.Set.union, (self._up_to(iterator, one) for one in statements)).coalesce()
        head = self.states.forgotten(before, (*own, iterator))
        if handed_on and step:
            nodes = [node for one in statements for line in one.body for node in walk(line)]
            conditions = [node.condition for node in nodes if isinstance(node, While | Branch)]
            changed = (*handed_on, iterator)
            first = head.intersect(self._first(runs, iterator, step))

            def run_round(head: isl.Set) -> isl.Set:
                behind = self.states.forgotten(self._run(inner, head, ignored), own)
                return self.states.assigned(behind, iterator, Binary("+", Name(iterator), Constant(step)))

            head = kept_states(self.states, first, changed, conditions, run_round)
        elif handed_on:
            head = self.states.forgotten(head, handed_on)
        self._run(inner, head.intersect(runs), visit)
        return self.states.forgotten(head.union(before), (*own, iterator)).coalesce()

    def _up_to(self, iterator: str, statement: Statement) -> isl.Set:
        """The values of the loops around ``statement``, up to the one over ``iterator``, in which it has instances."""
        place = statement.iterators.index(iterator) + 1
        count = statement.domain.dim(isl.dim_type.set)
        inner = statement.domain.project_out(isl.dim_type.set, place, count - place)
        return with_known_quotients(self._in_states(inner, statement.iterators[:place]))

    def _first(self, runs: isl.Set, iterator: str, step: int) -> isl.Set:
        """The states of the first iterations of a loop over ``runs``."""
        place = self.states.scalars.index(iterator)
        later = isl.Map.identity(self.states.space.map_from_set()).eliminate(isl.dim_type.out, place, 1)
        order = later.order_lt if step > 0 else later.order_gt
        return runs.subtract(with_known_quotients(runs.apply(order(isl.dim_type.in_, place, isl.dim_type.out, place))))

    def _written(self, statements: Iterable[Statement]) -> tuple[str, ...]:
        """The scalars that ``statements`` assign."""
        nodes = [node for one in statements for line in one.body for node in walk(line)]
        names = {node.target.array for node in nodes if isinstance(node, Assign)}
        names |= {node.iterator for node in nodes if isinstance(node, Loop)}
        return tuple(name for name in self.states.scalars if name in names)

    def _instance(self, statement: Statement, state: isl.Set, visit: Visit) -> isl.Set:
        """The states behind an instance of ``statement``, which runs for some iterations of the loops around it."""
        runs = with_known_quotients(self._in_states(statement.domain, statement.iterators))
        before = state.intersect(runs)
        for access in statement.accesses:
            if access.exact and not access.is_numbered:
                leaving = self._in_states(self._leaving(access), statement.iterators)
                before = before.subtract(with_known_quotients(leaving))
        self.statement = statement.name
        return Runner(self.states, visit).run(statement.body, before).union(state.subtract(runs)).coalesce()

    def _leaving(self, access: Access) -> isl.Set:
        """The instances in which ``access``, an exact one, leaves its array: sizes that have some are refused."""
        cells = access.relation.range()
        for axis, extent in enumerate(self.scop.array(access.array).extents):
            cells = cells.lower_bound_val(isl.dim_type.set, axis, isl.Val(0))
            if extent is not None:
                own = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(cells.get_space()), isl.dim_type.set, axis)
                cells = cells.intersect(own.lt_set(_on(cells.get_space(), extent)))
        return access.relation.subtract_range(with_known_quotients(cells)).domain()

    def _in_states(self, domain: isl.Set, iterators: Sequence[str]) -> isl.Set:
        """The states whose ``iterators`` are in ``domain``."""
        values = [self.states.value(Name(iterator)) for iterator in iterators]
        whole = isl.Set.universe(self.states.space)
        known = [one for one in values if one is not None]
        if not known:
            return whole.intersect_params(domain.params())
        point = reduce(isl.Map.flat_range_product, map(isl.Map.from_pw_aff, known))
        return point.intersect_range(domain.reset_tuple_id()).domain()

    def _visit(self, element: Element, state: isl.Set) -> None:
        for axis, subscript in enumerate(element.subscripts):
            value = self.states.value(subscript)
            values = None if value is None else with_known_quotients(state.apply(isl.Map.from_pw_aff(value)))
            place = (self.statement, element.span, axis)
            self.found.setdefault(place, []).append((element.array, values))


def _counted(steps: tuple[Step, ...], statement: Statement) -> tuple[str, int]:
    """The iterator of the outermost of the loops ``steps`` around ``statement``, and by what it moves; 0 where it does
    not count one by one."""
    outer = len(statement.iterators) - sum(step.is_loop for step in steps)
    iterator, row = statement.iterators[outer], steps[0].row
    assert row is not None
    for step in (1, -1):
        own = isl.Aff.var_on_domain(
            isl.LocalSpace.from_space(statement.domain.get_space()), isl.dim_type.set, outer
        ).scale_val(isl.Val(step))
        if row.intersect_domain(statement.domain).is_subset(isl.Map.from_aff(own)):
            return iterator, step
    return iterator, 0
