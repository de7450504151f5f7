"""From source to scop: reads the program, builds its statements, and puts what was found together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import islpy as isl

from polyviz.errors import ExtractionError, OutOfBoundsError
from polyviz.frontend.absent import asked_for_none, without_absent
from polyviz.frontend.added_places import with_added_places
from polyviz.frontend.arms import with_uses_in_arms
from polyviz.frontend.assemble import aligned, arguments, arrays, liveness_of
from polyviz.frontend.bounds import check_bounds
from polyviz.frontend.build import Builder
from polyviz.frontend.cells import Cells
from polyviz.frontend.computed_parts import with_named_parts
from polyviz.frontend.constant_arrays import check_unchanged, with_constant_arrays
from polyviz.frontend.context import check_sizes, given_sizes
from polyviz.frontend.copied_parts import with_copied_parts
from polyviz.frontend.counted import counted
from polyviz.frontend.cut_results import with_cut_results
from polyviz.frontend.diagonals import with_diagonals
from polyviz.frontend.effects import check_effect
from polyviz.frontend.element_loops import over_positions
from polyviz.frontend.exchanged_contents import with_exchanged_contents
from polyviz.frontend.finals import final_values
from polyviz.frontend.flat_loops import with_places
from polyviz.frontend.generator_sums import without_generators
from polyviz.frontend.handed_over import with_own_arrays
from polyviz.frontend.helper_statements import with_helper_statements
from polyviz.frontend.index_loops import with_named_places
from polyviz.frontend.last_values import with_last_values
from polyviz.frontend.listed_places import with_listed_places
from polyviz.frontend.listed_values import with_filled_arrays
from polyviz.frontend.literal_rows import with_literal_rows
from polyviz.frontend.loop_else import without_loop_else
from polyviz.frontend.loop_names import with_loop_names
from polyviz.frontend.masked_names import without_masked_names
from polyviz.frontend.names import GlobalNames
from polyviz.frontend.nested_functions import without_nested_functions
from polyviz.frontend.new_arrays import with_new_arrays
from polyviz.frontend.order import schedule_tree
from polyviz.frontend.other_spellings import with_usual_spellings
from polyviz.frontend.own_parts import with_own_parts
from polyviz.frontend.parts import copies_of
from polyviz.frontend.plain_creations import with_plain_creations
from polyviz.frontend.program import Program
from polyviz.frontend.put_together import with_parts_stored
from polyviz.frontend.ranks import find_ranks
from polyviz.frontend.region_reader import BeyondArray
from polyviz.frontend.repeated_lists import with_repeated_lists
from polyviz.frontend.reshaped import with_columns, with_reshaped_copies
from polyviz.frontend.returns import one_return
from polyviz.frontend.second_names import without_second_names
from polyviz.frontend.shape_names import without_shape_names
from polyviz.frontend.source import Source, read_source, with_ranks
from polyviz.frontend.statements import StatementReader
from polyviz.frontend.subscripted import with_subscripted_names
from polyviz.frontend.swaps import without_swaps
from polyviz.frontend.taken_apart import taken_apart
from polyviz.frontend.tests_apart import with_tests_apart
from polyviz.frontend.tuple_names import without_tuple_names
from polyviz.frontend.turned import with_turned_parts
from polyviz.frontend.usage import look_at
from polyviz.frontend.values_told import with_values
from polyviz.frontend.versions import with_versions
from polyviz.frontend.views import without_views
from polyviz.frontend.written_out import written_out
from polyviz.model.scop import Scop

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from polyviz.frontend.nodes import Node
    from polyviz.model.scop import Statement


def extract(
    source: object,
    *,
    sizes: Mapping[str, int] | None = None,
    namespace: Mapping[str, Any] | None = None,
    filename: str | None = None,
    ranks: Mapping[str, int] | None = None,
) -> Scop:
    """The static control part of a function, of text with one function, or of bare loops.

    ``sizes`` fixes parameters to values. ``namespace`` holds what is known around the text: globals of a function, or
    the names of a notebook, whose arrays, integers and floats the loops of a cell then use; without it, what the names
    of a cell are follows from their use. ``filename`` names the text in Python's own messages. ``ranks`` are the
    dimensions of arguments of a function whose head does not say them, ``ABSENT`` for one that is None, ``Truths`` for
    one that holds truth values, ``Real`` for a number that is no whole number and ``Value`` for one that is known.

    Raises ``ExtractionError`` (and its kinds) with the place, the reason and a hint where the program is no static
    control part, ``OutOfBoundsError`` where a subscript certainly leaves its array, ``OptionError`` for unknown sizes.

    >>> scop = extract("for i in range(1, n): A[i] = A[i - 1] * 2")
    >>> print(scop.statements[0].domain)
    [n] -> { S0[i] : 0 < i < n }
    >>> scop.statements[0].source, str(scop.statements[0].span)
    ('A[i] = A[i - 1] * 2', 'line 1, column 23')
    """
    fixed = given_sizes(sizes)
    try:
        text = with_ranks(without_absent(read_source(source, namespace, filename), ranks or {}), ranks or {})
        return _extracted(with_values(text, ranks or {}), fixed)
    except RecursionError:
        raise ExtractionError(
            "The program cannot be read: some expression of it is nested too deeply.",
            reason="A sum of many hundred terms is as deep as it is long.",
            hint="Split it over several statements: `s = a + b`, then `s = s + c`.",
        ) from None
    except isl.Error as problem:
        raise ExtractionError(
            "The loops could not be represented by the polyhedral library.",
            text=text.text,
            reason=str(problem),
            hint="Simplify the bounds and subscripts, or report this program.",
        ) from problem


def may_be_none(source: object) -> frozenset[str]:
    """The arguments of a function, or of text with one, that it compares with None; of what is none, nothing.

    >>> sorted(may_be_none("def f(x, out=None):\\n if out is None: out = x.copy()"))
    ['out']
    """
    try:
        return asked_for_none(read_source(source, None, None))
    except ExtractionError:
        return frozenset()


def _extracted(source: Source, sizes: dict[str, int], cut: frozenset[int] = frozenset()) -> Scop:
    try:
        program, nodes = _read(source, sizes, cut)
    except BeyondArray as slices:
        return _extracted(source, sizes, cut | {slices.span.line})
    builder = Builder(program)
    order = builder.build(nodes)
    if not builder.statements and not builder.never_run:
        raise ExtractionError(
            "There is no statement to run.",
            text=source.text,
            reason="Nothing is assigned to an element of an array or to a variable.",
            hint="Write loops that do: `for i in range(n): A[i] = ...`.",
        )
    check_unchanged(program.source, program.globals, builder.statements)
    builder.count_from_ends()
    builder.tell_apart()
    parameters = program.parameters.parameters
    check_sizes(parameters, sizes)
    context = program.context()
    try:
        check_bounds(program, Cells(program), builder.checks, context)
    except OutOfBoundsError as error:
        # What is computed together is equally long: all slices of the statement end with their arrays.
        beyond = program.uncut(error.span)
        if not beyond:
            raise
        return _extracted(source, sizes, cut | beyond)
    statements = tuple(aligned(statement, context) for statement in builder.statements)
    schedule = schedule_tree(order, {statement.name: statement.domain for statement in statements})
    named = program.usage.names - program.source.own_loops
    visible = [loop for loop in builder.loops if loop.variable in named]
    finals = final_values(visible, context) if source.is_cell else ()
    unknown = {loop.variable for loop in visible} - {name for name, _ in finals} if source.is_cell else set()
    liveness = liveness_of(statements, schedule, context)
    found = arrays(program, statements, liveness, context)
    check_effect(program, found)
    return Scop(
        name=source.name,
        text=source.text,
        statements=statements,
        arrays=tuple(replace(one, strides=builder.strides.get(one.name, ())) for one in found),
        parameters=parameters,
        context=context,
        schedule=schedule,
        arguments=arguments(program, found),
        result=program.result,
        is_cell=source.is_cell,
        notes=(*builder.notes, *liveness.notes, *_notes(program, unknown)),
        final_iterators=finals,
        exchanges=tuple(program.exchanges),
        docstring=source.docstring,
        deciding=_deciding(program, statements),
    )


def _deciding(program: Program, statements: Iterable[Statement]) -> tuple[str, ...]:
    """The arguments of a function whose values were asked for in vain, since only a constant would be affine.

    The length of the rows of a matrix in one dimension, ``n`` of ``A[i * n + j]``, is none of them: its digits are
    told apart without its value.
    """
    rows = {
        part.get_dim_name(isl.dim_type.param, place)
        for statement in statements
        for access in statement.accesses
        for factors in (*(access.strides[0] if len(access.strides) == 1 else ()), access.starts or ())
        for part in factors
        for place in range(part.dim(isl.dim_type.param))
        if part.involves_dims(isl.dim_type.param, place, 1)
    }
    return tuple(
        one.name
        for one in program.parameters.parameters
        if one.source.kind == "argument" and one.name in program.parameters.wanted - rows and not program.source.is_cell
    )


def _notes(program: Program, unknown: Iterable[str]) -> Iterator[str]:
    """What is said of slices that end with their array, of loop variables that are not left in the notebook, and of
    parameters that are constants."""
    source = program.source
    cut = [span for span in program.slices if span.line in program.cut]
    for span in sorted(cut, key=lambda one: (one.line, one.column)):
        yield f"`{source.segment(span)}` (line {span.line}) ends where the array ends, as for NumPy."
    for name in sorted(source.row_names) if source.is_cell else ():
        yield f"`{name}` keeps the value it had before the cell: it stands for parts of an array inside its loop only."
    for name in sorted(source.absent):
        yield f"`{name}` is None, as in a call without it."
    for name in sorted(source.place_names) if source.is_cell else ():
        yield f"`{name}` keeps the value it had before the cell: it stands for places in arrays inside its loop only."
    for name, value in sorted(source.told.items()):
        yield f"`{name}` is taken as {value}, its value in this call: only for a constant are the loops affine."
    for name in sorted(unknown):
        yield f"`{name}` keeps the value it had before the cell: where its loop ends depends on data."
    for name in sorted(source.constants):
        yield f"`{name}` is an array around the function, taken with its values of now."
    for name, value in program.parameters.frozen.items():
        yield f"`{name}` is taken as {value}, its value now: it stands where only a constant keeps the loops affine."


def _without_lists(source: Source) -> Source:
    source = with_repeated_lists(without_tuple_names(source, GlobalNames(source)), GlobalNames(source))
    return with_filled_arrays(source, GlobalNames(source))


def _read(source: Source, sizes: Mapping[str, int], cut: frozenset[int]) -> tuple[Program, tuple[Node, ...]]:
    """Read the statements, again as long as more names turn out to need memory."""
    # Some passes change lines where they stand, and the text may be read once more.
    source = with_cut_results(without_nested_functions(replace(source, body=tuple(copies_of(source.body)))))
    source = without_loop_else(source, GlobalNames(source))
    source = _without_lists(source)
    source = with_helper_statements(source, GlobalNames(source))
    source = with_listed_places(source, GlobalNames(source))
    source = with_literal_rows(_without_lists(source), GlobalNames(source))  # What helpers have brought, too.
    source = without_shape_names(with_usual_spellings(source, GlobalNames(source)), GlobalNames(source))
    source = without_masked_names(with_added_places(source, GlobalNames(source)), GlobalNames(source))
    source = with_named_places(with_places(source, GlobalNames(source)), GlobalNames(source))
    source = with_loop_names(with_tests_apart(source, GlobalNames(source)), GlobalNames(source))
    source = with_parts_stored(with_columns(source, GlobalNames(source)), GlobalNames(source))
    source = with_plain_creations(with_constant_arrays(source, GlobalNames(source)), GlobalNames(source))
    source = with_turned_parts(with_diagonals(taken_apart(source), GlobalNames(source)), GlobalNames(source))
    source = with_subscripted_names(with_uses_in_arms(source, GlobalNames(source)), GlobalNames(source))
    source = with_own_parts(without_second_names(source, GlobalNames(source)), GlobalNames(source))
    names = GlobalNames(source)
    source = with_copied_parts(with_reshaped_copies(without_views(source, names), names), names)
    source = without_generators(counted(source, names), names)
    source = with_own_arrays(with_named_parts(source, names), names)
    source = with_new_arrays(with_exchanged_contents(with_versions(source, names), names), names)
    source = one_return(without_swaps(source, names), names)
    source = with_last_values(over_positions(written_out(source, names), names), names)
    usage = look_at(source.body, names.canonical, names.helper)
    find_ranks(source, usage, names.canonical)
    stored: frozenset[str] = frozenset()
    while True:
        program = Program(source, usage, names, stored, sizes, cut)
        nodes = StatementReader(program).program_body(source.body)
        if program.demanded <= stored:
            return program, nodes
        stored |= program.demanded
