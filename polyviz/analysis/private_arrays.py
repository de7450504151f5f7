"""Arrays that serve as temporaries get one copy per iteration of the loop around their use.

A row buffer that every iteration fills before it reads it ties the iterations together by nothing but its name. With
another dimension for the loop (array expansion: Feautrier, "Array Expansion", 1988) the loop becomes parallel and its
statements can be distributed. The dimension comes first, so that each iteration has a row, but behind those of an array
of a few cells: then iterations beside each other have theirs beside each other, and may be lanes of a vector. Scalars
have a way of their own (:mod:`polyviz.analysis.privatization`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, prod
from typing import TYPE_CHECKING, TypeVar

import islpy as isl

from polyviz.analysis.accesses import accesses_by_array
from polyviz.analysis.dependences import allowance_for
from polyviz.analysis.live_ranges import fresh_names
from polyviz.analysis.nesting import Nest, common_loops, loop_nests, same_iteration
from polyviz.analysis.order import Order
from polyviz.analysis.privatization import private_depth, statements_of
from polyviz.analysis.times import times_by_statement
from polyviz.analysis.written_out import iterations
from polyviz.model.expression import Assign, Binary, Constant, Element, Expression, Name, rebuild, rewritten
from polyviz.model.isl_callbacks import pieces_of
from polyviz.model.isl_limits import solved
from polyviz.model.scop import Access, Creation, Statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.analysis.accesses import ArrayAccesses
    from polyviz.errors import Span
    from polyviz.model.dependences import Dependence, Dependences
    from polyviz.model.expression import Node
    from polyviz.model.scop import Array, Scop


_T = TypeVar("_T")

FEW_CELLS, FEWEST_CELLS = 64, 8
"""Cells of an array that is copied for each iteration of a loop inside of others, which takes little memory beside what
these work on, and of one loop."""


@dataclass(frozen=True, slots=True)
class _Expansion:
    """``array`` called ``name`` with the iterator ``position`` of its statements as an index before its own, or behind
    these where the array ``is_small``.

    ``last`` maps each cell to the copy that holds its final value; None where nobody looks at it.
    """

    array: Array
    name: str
    position: int
    statements: frozenset[str]
    extents: tuple[isl.PwAff, ...]
    last: isl.PwMultiAff | None
    is_small: bool

    def cell(self, index: Expression, own: tuple[Expression, ...]) -> tuple[Expression, ...]:
        """``own`` indices of a cell with the one of its copy."""
        return _joined(index, own, self.is_small)

    def related(self, index: isl.Map, own: isl.Map) -> isl.Map:
        """The same for maps to them."""
        first, second = (own, index) if self.is_small else (index, own)
        return first.flat_range_product(second).set_tuple_name(isl.dim_type.out, self.name)


def with_private_arrays(scop: Scop, dependences: Dependences) -> Scop:
    """``scop`` with each array expanded by a loop that would be parallel without it; ``scop`` itself without such.

    Only arrays of a few cells, or those whose cells are computed by a loop of their own, are worth the memory. What
    stays visible is copied back at the end, by a statement of its own; notes say so. A block of a few cells that the
    part makes stays as it is where loops inside of each iteration are enough for vector lanes. Where data decide which
    cells are touched, only a few that nobody looks at later get copies.
    """
    nests = loop_nests(scop.schedule)
    found = accesses_by_array(scop)
    order = Order(times_by_statement(scop.schedule.get_map()), scop.context.get_space())
    result = scop
    for accesses in found:
        array = scop.array(accesses.array)
        if not array.rank:
            continue
        expansion = _expansion(scop, array, accesses, order, nests, dependences)
        if expansion is not None and not _has_lanes_inside(scop, expansion, nests, dependences):
            result = _expanded(result, expansion)
    return result


def _expansion(
    scop: Scop,
    array: Array,
    accesses: ArrayAccesses,
    order: Order,
    nests: Mapping[str, Nest],
    dependences: Dependences,
) -> _Expansion | None:
    names = statements_of(accesses)
    used = [statement for statement in scop.statements if statement.name in names]
    exact = all(statement.exact for statement in used)
    if array.live_out and not exact:
        return None
    depth = private_depth(accesses, order, nests, allowance_for([accesses]))
    if not depth:
        return None
    loop = nests[used[0].name]
    carried = {
        dependence.array
        for dependence in dependences.validity_relations
        if _crosses(dependence, nests, loop, depth)
    }
    extents = _extents(scop, used, accesses, depth)
    if carried != {array.name} or extents is None:
        return None
    index, *own = extents
    cells = _cells(own)
    is_small = cells <= FEW_CELLS
    is_cheap = cells <= (FEW_CELLS if depth > 1 else FEWEST_CELLS)
    if not is_small and not exact:
        return None
    if not is_cheap and not any(len(statement.iterators) > depth + array.rank for statement in used):
        return None
    last = None
    if array.live_out:
        last = _last_copy(scop, accesses, order, used, depth)
        if last is None:
            return None
    [name] = fresh_names(scop, array.name, 1)
    extents = _joined(index, tuple(own), is_small)
    return _Expansion(array, name, depth - 1, frozenset(names), extents, last, is_small)


def _has_lanes_inside(
    scop: Scop, expansion: _Expansion, nests: Mapping[str, Nest], dependences: Dependences
) -> bool:
    """Whether each use of an array of a few cells that the part makes has a loop of its own for vector lanes."""
    if expansion.array.origin != "local" or expansion.last is not None or not expansion.is_small:
        return False
    return all(
        any(
            len(iterations(scop.statement(name), [loop], FEW_CELLS) or ()) >= FEWEST_CELLS
            and not any(_crosses(one, nests, nests[name], loop + 1) for one in dependences.validity_relations)
            for loop in range(expansion.position + 1, len(scop.statement(name).iterators))
        )
        for name in expansion.statements
    )


def _joined(index: _T, own: tuple[_T, ...], is_small: bool) -> tuple[_T, ...]:
    return (*own, index) if is_small else (index, *own)


def _cells(extents: Sequence[isl.PwAff]) -> float:
    """How many cells an array of these ``extents`` has; infinity where that depends on sizes."""
    if not all(extent.is_cst() for extent in extents):
        return inf
    return prod(int(extent.max_val().to_python()) for extent in extents)


def _crosses(dependence: Dependence, nests: Mapping[str, Nest], loop: Nest, depth: int) -> bool:
    """Whether the innermost of the ``depth`` loops around ``loop`` carries some of the dependent pairs."""
    ends = nests[dependence.source], nests[dependence.sink]
    if any(common_loops((end, loop)) < depth for end in ends):
        return False
    pairs = dependence.relation
    if depth > 1:
        pairs = pairs.intersect(same_iteration(*ends, depth - 1))
    inside = same_iteration(*ends, depth)
    return not solved(lambda: pairs.is_subset(inside))


def _extents(
    scop: Scop, statements: Sequence[Statement], accesses: ArrayAccesses, depth: int
) -> tuple[isl.PwAff, ...] | None:
    """The extent by which the array is expanded, and its own; None where an index may be negative."""
    loops: isl.Set | None = None
    for statement in statements:
        own = statement.domain.reset_tuple_id().intersect_params(scop.context)
        line = own.project_out(isl.dim_type.set, depth, own.dim(isl.dim_type.set) - depth)
        line = line.project_out(isl.dim_type.set, 0, depth - 1)
        loops = line if loops is None else loops.union(line)
    cells = isl.Set.from_union_set(accesses.reads.union(accesses.writes).range()).reset_tuple_id()
    assert loops is not None
    found = []
    for part in (loops.reset_tuple_id(), cells):
        for axis in range(part.dim(isl.dim_type.set)):
            if not _from_zero(part, axis):
                return None
            found.append(_length(part.dim_max(axis), scop.context))
    return tuple(found)


def _length(last: isl.PwAff, context: isl.Set) -> isl.PwAff:
    """One more than the ``last`` index; nothing negative where the loops never run: their bounds say nothing then."""
    length = last.add_constant_val(isl.Val(1)).coalesce()
    pieces = length.get_pieces()
    if len(pieces) != 1:
        return length
    everywhere = isl.PwAff.from_aff(pieces[0][1])
    nothing = isl.PwAff.val_on_domain(everywhere.domain(), isl.Val(0))
    return length if everywhere.lt_set(nothing).is_disjoint(context) else everywhere.max(nothing).coalesce()


def _from_zero(part: isl.Set, axis: int) -> bool:
    return bool(part.lower_bound_val(isl.dim_type.set, axis, isl.Val(0)).is_equal(part))


def _last_copy(
    scop: Scop, accesses: ArrayAccesses, order: Order, statements: Sequence[Statement], depth: int
) -> isl.PwMultiAff | None:
    """The value of the loop in which each cell is written last, where that is one affine function of the cell."""
    times = order.together()
    writes = accesses.must_writes
    copies = isl.UnionMap.empty(scop.context.get_space())
    for statement in statements:
        copies = copies.union(isl.UnionMap.from_map(_iterator(statement, depth - 1)))

    def search() -> isl.PwMultiAff:
        when = writes.reverse().apply_range(times).lexmax()
        writer = when.apply_range(times.reverse()).intersect(writes.reverse())
        return isl.PwMultiAff.from_map(isl.Map.from_union_map(writer.apply_range(copies).coalesce()))

    found = solved(search, _OPERATIONS)
    if found is None or found.n_piece() != 1 or not _is_whole(found):
        return None
    return found


_OPERATIONS = 100_000


def _is_whole(function: isl.PwMultiAff) -> bool:
    """Whether every piece is a sum of whole multiples, without divisions."""
    pieces = [piece.get_aff(0) for _, piece in pieces_of(function)]
    return all(
        piece.dim(isl.dim_type.div) == 0 and piece.get_denominator_val().is_one() for piece in pieces
    )


def _iterator(statement: Statement, position: int) -> isl.Map:
    """Instances to the value of one iterator."""
    identity = isl.Map.identity(statement.domain.get_space().map_from_set()).intersect_domain(
        statement.domain
    )
    value = identity.reset_tuple_id(isl.dim_type.out)
    value = value.project_out(isl.dim_type.out, position + 1, len(statement.iterators) - position - 1)
    return value.project_out(isl.dim_type.out, 0, position)


def _expanded(scop: Scop, expansion: _Expansion) -> Scop:
    array = expansion.array
    statements = tuple(
        _with_copies(part, expansion) if part.name in expansion.statements else part
        for part in scop.statements
    )
    span = array.span or scop.statements[0].span
    copies = replace(
        array,
        name=expansion.name,
        rank=array.rank + 1,
        origin="local",
        extents=expansion.extents,
        live_in=False,
        live_out=False,
        creation=_creation(array, span),
        rows=(),
        copies=array.copies or array.name,
    )
    [loop] = {
        part.iterators[expansion.position] for part in scop.statements if part.name in expansion.statements
    }
    part = "column" if expansion.is_small else "row"
    note = (
        f"`{array.name}` is filled anew in every iteration of the loop over {loop}: each has a {part} of "
        f"`{expansion.name}` instead, so that they need not wait for each other."
    )
    changed = replace(scop, statements=statements, arrays=(*scop.arrays, copies), notes=(*scop.notes, note))
    return changed if expansion.last is None else _with_final_values(changed, expansion, expansion.last)


def _creation(array: Array, span: Span) -> Creation:
    """How the copies of ``array`` are made: like it, or of the values that are stored in them, and no longer in it."""
    own = array.creation
    if own is not None and (own.of_values or own.numbers):
        return replace(own, span=span)
    return Creation("empty", None, array.name, None, span)


def _with_copies(statement: Statement, expansion: _Expansion) -> Statement:
    iterator = Name(statement.iterators[expansion.position])

    def place(node: Node) -> Node:
        if isinstance(node, Element) and node.array == expansion.array.name:
            return replace(node, array=expansion.name, subscripts=expansion.cell(iterator, node.subscripts))
        return rebuild(node, place)

    accesses = tuple(
        _expanded_access(statement, access, expansion) if access.array == expansion.array.name else access
        for access in statement.accesses
    )
    return replace(statement, accesses=accesses, body=rewritten(statement.body, place))


def _expanded_access(statement: Statement, access: Access, expansion: _Expansion) -> Access:
    index = _iterator(statement, expansion.position)

    def expanded(relation: isl.Map) -> isl.Map:
        return expansion.related(index, relation.reset_tuple_id(isl.dim_type.out))

    return access.mapped(expanded, array=expansion.name)


def _with_final_values(scop: Scop, expansion: _Expansion, last: isl.PwMultiAff) -> Scop:
    """``scop`` with a statement at its end that copies what stays visible back into the array."""
    array = expansion.array
    [name] = fresh_names(scop, "S", 1)
    iterators = tuple(f"{array.name}_axis{axis}" for axis in range(array.rank))
    domain = last.domain().coalesce().set_tuple_name(name)
    for axis, iterator in enumerate(iterators):
        domain = domain.set_dim_name(isl.dim_type.set, axis, iterator)
    own = isl.Map.identity(domain.get_space().map_from_set()).intersect_domain(domain)
    written = own.set_tuple_name(isl.dim_type.out, array.name)
    copy = (
        isl.Map.from_pw_multi_aff(last)
        .set_tuple_name(isl.dim_type.in_, name)
        .reset_tuple_id(isl.dim_type.out)
    )
    read = expansion.related(copy, own.reset_tuple_id(isl.dim_type.out))
    index = _affine_expression(last, iterators)
    cell = tuple(map(Name, iterators))
    target, value = Element(array.name, cell), Element(expansion.name, expansion.cell(index, cell))
    accesses = (Access("read", expansion.name, read), Access("write", array.name, written))
    span = next(part.span for part in reversed(scop.statements) if part.name in expansion.statements)
    source = f"{array.name}[...] = the last {'column' if expansion.is_small else 'row'} of {expansion.name}"
    statement = Statement(
        name, iterators, domain, accesses, (Assign(target, value),), span, source, (span,) * array.rank
    )
    schedule = scop.schedule.sequence(_in_order(domain))
    return replace(scop, statements=(*scop.statements, statement), schedule=schedule)


def _in_order(domain: isl.Set) -> isl.Schedule:
    """One loop per dimension of ``domain``."""
    tree = isl.Schedule.from_domain(isl.UnionSet.from_set(domain))
    local = isl.LocalSpace.from_space(domain.get_space())
    for position in reversed(range(domain.dim(isl.dim_type.set))):
        row = isl.PwAff.from_aff(isl.Aff.var_on_domain(local, isl.dim_type.set, position))
        rows = isl.MultiUnionPwAff.from_union_pw_aff(isl.UnionPwAff.from_pw_aff(row.intersect_domain(domain)))
        tree = tree.get_root().child(0).insert_partial_schedule(rows).get_schedule()
    return tree


def _affine_expression(function: isl.PwMultiAff, iterators: Sequence[str]) -> Expression:
    """The only value of ``function`` in terms of parameters and its arguments, called ``iterators``."""
    pieces = [piece.get_aff(0) for _, piece in pieces_of(function)]
    [affine] = pieces
    terms: list[tuple[int, Expression]] = []
    for position in range(affine.dim(isl.dim_type.param)):
        parameter = Name(str(affine.get_dim_name(isl.dim_type.param, position)))
        terms.append((affine.get_coefficient_val(isl.dim_type.param, position).to_python(), parameter))
    for position, iterator in enumerate(iterators):
        terms.append((affine.get_coefficient_val(isl.dim_type.in_, position).to_python(), Name(iterator)))
    terms.append((affine.get_constant_val().to_python(), Constant(1)))
    result: Expression = Constant(0)
    for factor, term in terms:
        result = _added(result, factor, term)
    return result


def _added(total: Expression, factor: int, name: Expression) -> Expression:
    if not factor:
        return total
    size = abs(factor)
    term = Constant(size) if name == Constant(1) else name if size == 1 else Binary("*", Constant(size), name)
    if total == Constant(0) and factor > 0:
        return term
    return Binary("+" if factor > 0 else "-", total, term)
