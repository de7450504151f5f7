"""The one way from a plan to a program: find the types, then let the target's printer write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from polyviz.codegen.bodies import fits
from polyviz.codegen.c import print_c
from polyviz.codegen.cancelling import asks_for_zero
from polyviz.codegen.compensated import compensated_statements
from polyviz.codegen.conditional_sums import adds_under_conditions
from polyviz.codegen.cuda import print_cuda
from polyviz.codegen.decisive import decisive_statements
from polyviz.codegen.definitions import unsure_note
from polyviz.codegen.guessed import whole_numbers
from polyviz.codegen.made_arrays import made_arrays, rebound_values, require_clear_types, sums_of_numbers
from polyviz.codegen.ordered_sums import ordered_statements
from polyviz.codegen.python import print_numba, print_python
from polyviz.codegen.real_numbers import require_real_numbers
from polyviz.codegen.ruled_arrays import with_array_rules
from polyviz.codegen.typing import Environment, assigned_type, assignments, infer, infer_scalars
from polyviz.codegen.whole_numbers import require_whole_numbers
from polyviz.codegen.zeros import with_typed_zeros
from polyviz.errors import CodegenError
from polyviz.model.expression import Assign, Element
from polyviz.model.plan import Plan
from polyviz.model.program import ArrayType, FloatingPoint, Program
from polyviz.model.scop import Array, Creation, Scop, Statement

Printer = Callable[[Scop, Plan, Mapping[str, ArrayType], FloatingPoint], Program]
_PRINTERS: dict[str, Printer] = {
    "c": print_c,
    "numba": print_numba,
    "python": print_python,
    "cuda": print_cuda,
    "emulated": print_cuda,
}


def generate(
    scop: Scop, plan: Plan, given: Mapping[str, ArrayType], floating_point: FloatingPoint = "reassociate"
) -> Program:
    """The program of ``plan`` for arguments of the ``given`` types.

    Arguments without a type are taken as float64, as int64 where only whole numbers will do, or as complex128 where
    complex values are stored (arrays: C-contiguous).
    Raises CodegenError when a type cannot be found or the target cannot express the part.
    """
    if plan.target not in _PRINTERS:
        raise CodegenError(f"There is no printer for the target {plan.target!r}.")
    scop, types = with_types(scop, given)
    if plan.otherwise is not None and not fits(scop, plan, types):
        plan = plan.otherwise
    require_whole_numbers(scop, types)
    require_real_numbers(scop, types)
    environment = Environment(_names(types))
    decisive = decisive_statements(scop, environment) if floating_point == "reassociate" else ()
    asking = asks_for_zero(scop, environment) if floating_point == "reassociate" else ()
    ordered = ordered_statements(scop, environment) if floating_point == "reassociate" else ()
    compensated = compensated_statements(scop, environment) if floating_point == "reassociate" else ()
    contract: FloatingPoint = "strict" if ordered or compensated else floating_point
    program = _PRINTERS[plan.target](with_typed_zeros(scop, types, contract), plan, types, contract)
    transposed = tuple(array.name for array in scop.arrays if array.is_transposed)
    notes = (
        *program.notes,
        *unsure_note(scop),
        *_exact_note(decisive, "a last bit decides about a whole number"),
        *_exact_note(asking, "a last bit decides whether a difference of products is zero"),
        *_order_note(ordered, "every step is cut off to what the cell holds, so all sums keep their order"),
        *_order_note(compensated, "terms cancel but for what rounding leaves of them, so all is computed as written"),
        *map(_transposed_note, transposed),
    )
    return replace(
        program,
        notes=notes,
        threads=plan.threads,
        exact=bool(decisive or asking),
        scalar=plan.scalar,
        branching=plan.target == "c" and contract == "strict" and adds_under_conditions(scop, environment),
        transposed=transposed,
        rows=tuple((array.name, array.rows) for array in scop.arrays if array.rows),
    )


def _transposed_note(name: str) -> str:
    return f"{name} lies in Fortran order, so the loops are planned and written for its transpose"


def _exact_note(decisive: Sequence[str], reason: str) -> tuple[str, ...]:
    if not decisive:
        return ()
    names = ", ".join(decisive)
    return (f"{names}: {reason}, so nothing is fused, and terms stay as written",)


def _order_note(names: Sequence[str], reason: str) -> tuple[str, ...]:
    return (f"{', '.join(names)}: {reason}, as under `strict`",) if names else ()


def all_types(scop: Scop, given: Mapping[str, ArrayType]) -> dict[str, ArrayType]:
    """The type of every array and scalar of the part: given, fixed by the source, or inferred from its values."""
    return with_types(scop, given)[1]


def with_types(scop: Scop, given: Mapping[str, ArrayType]) -> tuple[Scop, dict[str, ArrayType]]:
    """The part with the conversions that the rules of arrays ask for, and the type of all its arrays and scalars."""
    places = [*made_arrays(scop).values(), *rebound_values(scop)]
    scop = with_array_rules(scop, places, lambda part: _names(_found_types(part, given)))
    types = _found_types(scop, given)
    require_clear_types(scop, _names(types))
    return scop, types


def _names(types: Mapping[str, ArrayType]) -> dict[str, str]:
    return {name: kind.dtype for name, kind in types.items()}


def _found_types(scop: Scop, given: Mapping[str, ArrayType]) -> dict[str, ArrayType]:
    unknown = any(array.origin == "argument" and array.name not in given for array in scop.arrays)
    guesses = dict.fromkeys(whole_numbers(scop), "int64") if unknown else {}
    types = _types_by(guesses, scop, given)
    while unknown and (complex_ones := _complex_arguments(scop, types, given)):
        guesses.update(dict.fromkeys(complex_ones, "complex128"))
        types = _types_by(guesses, scop, given)
    return types


def _types_by(guesses: Mapping[str, str], scop: Scop, given: Mapping[str, ArrayType]) -> dict[str, ArrayType]:
    """All types, with float64 for the arguments that are neither given nor among the ``guesses``."""
    types: dict[str, ArrayType] = {}
    for array in sorted(scop.arrays, key=_is_filled):  # what arrays are filled with has its type by then
        known = _known_type(array, given, types, guesses.get(array.name, "float64"))
        if known is not None:
            types[array.name] = known
    ranks = {array.name: array.rank for array in scop.arrays}
    types.update({name: ArrayType(dtype, ranks[name]) for name, dtype in _assigned_types(scop, types).items()})
    for array in scop.arrays:
        if array.name not in types and array.creation is not None and array.creation.like in types:
            types[array.name] = ArrayType(types[array.creation.like].dtype, array.rank)
    return {array.name: types.get(array.name, ArrayType("float64", array.rank)) for array in scop.arrays}


def _complex_arguments(scop: Scop, types: Mapping[str, ArrayType], given: Mapping[str, ArrayType]) -> set[str]:
    """The arguments whose type is a guess that has no room for the complex values that are stored there."""
    guessed = {
        array.name
        for array in scop.arrays
        if array.origin == "argument" and array.dtype is None and array.creation is None and array.name not in given
    }
    environment = Environment(_names(types))
    stored = [one for statement in scop.statements for one in assignments(statement.body)]
    return {
        one.target.array
        for one in stored
        if one.target.array in guessed
        and environment.array(one.target.array).is_real
        and not assigned_type(one, environment).is_real
    }


def largest_cell(types: Mapping[str, ArrayType]) -> int:
    """Bytes of the largest cell of any array; eight where there is none.

    >>> largest_cell({"A": ArrayType("float32", 2), "n": ArrayType("float64", 0)})
    4
    """
    return max((np.dtype(kind.dtype).itemsize for kind in types.values() if kind.rank), default=8)


def _assigned_types(scop: Scop, types: Mapping[str, ArrayType]) -> dict[str, str]:
    """The types that follow from what statements assign: of scalars, from all values, also the one passed by the
    caller; of arrays made of values, from the first."""
    made = made_arrays(scop)
    copied = {array.name: like for array in scop.arrays if array.name not in types and (like := _pattern(array))}
    scalars = {array.name for array in scop.arrays if array.rank == 0 and not array.keeps_type}
    assigned = {name for statement in scop.statements for name in _targets(statement)} & scalars
    elements = {name: kind.dtype for name, kind in types.items() if name not in assigned}
    passed = {name: types[name].dtype for name in assigned if name in types}
    # What the caller passed counts as a first assignment.
    elements.update({_passed(name): dtype for name, dtype in passed.items()})
    first = [Assign(Element(name), Element(_passed(name))) for name in sorted(passed)]
    first += [Assign(Element(name), Element(like)) for name, like in copied.items()]
    of_numbers = sums_of_numbers(scop)
    known_first = {*made, *copied, *(one.target.array for one in of_numbers)}
    bodies = [first, of_numbers, *(statement.body for statement in scop.statements)]
    inferred = infer_scalars(bodies, elements, known_first)
    return {name: dtype for name, dtype in inferred.items() if name in scalars or name in known_first}


def _pattern(array: Array) -> str | None:
    return None if array.creation is None else array.creation.like


def _passed(name: str) -> str:
    return f"{name} as passed"


def _targets(statement: Statement) -> set[str]:
    return {assignment.target.array for assignment in assignments(statement.body)}


def _is_filled(array: Array) -> bool:
    return array.creation is not None and array.creation.fill is not None


def _type_of_fill(creation: Creation, known: Mapping[str, ArrayType]) -> str:
    """What NumPy makes an array of where no type is given: of the type of its value, or float64 without one."""
    if creation.fill is None:
        return "float64"
    return infer(creation.fill, Environment({name: kind.dtype for name, kind in known.items()})).name


def _known_type(
    array: Array, given: Mapping[str, ArrayType], known: Mapping[str, ArrayType], guess: str
) -> ArrayType | None:
    if array.name in given:
        return given[array.name]
    if array.creation is not None:
        like = array.creation.like
        if like is not None and like in known:
            return ArrayType(known[like].dtype, array.rank)
        if array.creation.of_values or array.creation.numbers or like is not None:
            return None
        return ArrayType(array.creation.dtype or _type_of_fill(array.creation, known), array.rank)
    if array.origin == "argument":
        return ArrayType(array.dtype or guess, array.rank)
    return None
