"""The types of arrays that are made of values: ``B = A + 1.0``.

NumPy and numba promote arrays by rules of their own: beside a single-precision array a number counts for nothing to
NumPy, ``uint8`` stays ``uint8``, and the two do not always agree. Where they do, their type is taken
(``polyviz.codegen.array_rules``), or that of the elements computed one by one, as numba computes numbers, if that is
what both would give the array; where it may not be, the program has to say.
"""

from __future__ import annotations

import re
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from polyviz.codegen.array_rules import UnclearTypeError
from polyviz.codegen.functions import FUNCTIONS
from polyviz.codegen.ruled_arrays import ruled_value
from polyviz.codegen.typing import Environment, assignments, infer
from polyviz.errors import CodegenError
from polyviz.model.expression import Assign, Binary, Call, Element, children, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from polyviz.errors import Span
    from polyviz.model.expression import Node
    from polyviz.model.scop import Array, Scop

_WIDE = {"int64", "float64", "complex128"}
"""Types among which arrays and numbers are promoted alike."""


def made_arrays(scop: Scop) -> dict[str, Assign]:
    """The arrays that are made of values, with the assignment that fills them."""
    made = {array.name for array in scop.arrays if array.creation is not None and array.creation.of_values}
    found: dict[str, Assign] = {}
    for assignment in (one for statement in scop.statements for one in assignments(statement.body)):
        if assignment.target.array in made:
            found.setdefault(assignment.target.array, assignment)
    return found


def arrays_of_numbers(scop: Scop) -> dict[str, list[Assign]]:
    """The arrays that are made of computed numbers, with the assignments that store these."""
    counts = {array.name: array.creation.numbers for array in scop.arrays if array.creation is not None}
    found: dict[str, list[Assign]] = {name: [] for name, count in counts.items() if count}
    for assignment in (one for statement in scop.statements for one in assignments(statement.body)):
        name = assignment.target.array
        if name in found and len(found[name]) < counts[name]:
            found[name].append(assignment)
    return {name: stored for name, stored in found.items() if stored}


def sums_of_numbers(scop: Scop) -> list[Assign]:
    """For each array that is made of numbers an assignment of their sum, which has its type."""
    stored = arrays_of_numbers(scop)
    return [
        Assign(Element(name), reduce(lambda one, other: Binary("+", one, other), [each.value for each in found]))
        for name, found in stored.items()
    ]


def require_clear_types(scop: Scop, types: Mapping[str, str]) -> None:
    """Raise ``CodegenError`` for an array made of values of which NumPy may see the type otherwise.

    ``types``: the dtype names of all arrays and scalars.
    """
    _require_types_of_numbers(scop, types)
    _require_types_of_lists(scop, types)
    made = made_arrays(scop)
    named = {name: one for name, one in made.items() if re.search(rf"\b{name}\b", scop.text)}
    # What a rebound name is given is often made of an array whose own type is not clear: the user meets that one first.
    _require_clear_elements(scop, types, named)
    _require_kept_types(scop, types)
    others = {name: one for name, one in made.items() if name not in named}
    _require_clear_elements(scop, types, others, is_named=False)


def _require_clear_elements(
    scop: Scop, types: Mapping[str, str], made: Mapping[str, Assign], *, is_named: bool = True
) -> None:
    for name, assignment in made.items():
        if not _is_clear(scop, assignment, types):
            creation = scop.array(name).creation
            raise CodegenError(
                f"The type of the elements of {f'`{name}`' if is_named else 'this array'} is not clear: "
                f"{_difference(scop, assignment, types)}.",
                span=None if creation is None else creation.span,
                text=scop.text,
                hint=_hint(assignment, types),
            )


def _difference(scop: Scop, assignment: Assign, types: Mapping[str, str]) -> str:
    """What NumPy and numba do not agree about."""
    met = _listed(scop, assignment, types)
    try:
        ruled_value(scop, assignment, types)
    except UnclearTypeError as unclear:
        if unclear.numpy and unclear.numba:
            return f"NumPy makes {unclear.numpy} of {met}, numba {unclear.numba}"
    return f"NumPy and numba promote {met} in different ways"


def _hint(assignment: Assign, types: Mapping[str, str]) -> str:
    """How to say which type is meant, with that of an array that the value is made of."""
    arrays = [types[part.array] for part in walk(assignment.value) if isinstance(part, Element) and part.subscripts]
    kind = _spelled(arrays[0] if arrays else "float32")
    hint = (
        f"Say which type you mean: `(...).astype({kind})` around all that is computed, or make the array before, "
        f"`B = np.empty(shape, dtype={kind})`, and set its elements, `B[...] = ...`."
    )
    if kind in ("np.bool_", "np.int64", "np.float64", "np.complex128"):
        return hint
    number = "0.5" if kind in ("np.float32", "np.complex64") else "2"
    return f"{hint} Numbers of its own type, `{kind}({number})`, leave an array as it is."


def _require_types_of_numbers(scop: Scop, types: Mapping[str, str]) -> None:
    """Raise where NumPy might make another array of numbers, or numba."""
    for name, stored in arrays_of_numbers(scop).items():
        kinds = [infer(one.value, Environment(types)).name for one in stored]
        is_clear = all(_is_clear(scop, one, types) for one in stored) and "bool" not in kinds
        if is_clear and np.result_type(*kinds).name == types[name]:
            continue
        creation, found = scop.array(name).creation, " and ".join(dict.fromkeys(kinds))
        raise CodegenError(
            f"The type of the elements of `{name}` is not clear: they are made of {found}.",
            span=None if creation is None else creation.span,
            text=scop.text,
            hint="Say which type is meant: `np.array([...], dtype=np.float64)`.",
        )


def _require_types_of_lists(scop: Scop, types: Mapping[str, str]) -> None:
    """Raise where a list that became an array is given values that do not fit its type."""
    listed = {array.name for array in scop.arrays if array.creation is not None and array.creation.is_listed}
    stored = (one for statement in scop.statements for one in assignments(statement.body))
    for assignment in (one for one in stored if one.target.array in listed):
        name = assignment.target.array
        found = infer(assignment.value, Environment(types)).name
        if not np.can_cast(found, types[name]):
            raise CodegenError(
                f"The list `{name}` is made of {types[name]}, and given {found} here.",
                span=assignment.target.span,
                text=scop.text,
                reason="An array takes its place in generated code, and has elements of one type.",
                hint=f"Begin with a value of the other type, such as `[{_beginning(found)}] * n`, or convert what is "
                "stored.",
            )


def _beginning(dtype: str) -> str:
    """A zero of a type, as it is written in a list."""
    return repr(np.zeros((), dtype).item()) if dtype in _WIDE else f"np.{dtype}(0)"


def _require_kept_types(scop: Scop, types: Mapping[str, str]) -> None:
    """Raise where a name is given values of another type in a loop: which one it has then would depend on what ran."""
    for array in scop.arrays:
        for place, assignment in _rebound(scop, array):
            found = infer(assignment.value, Environment(types)).name
            is_clear = _is_clear(scop, assignment, types)
            if found == types[array.name] and is_clear:
                continue
            raise CodegenError(
                f"The name of an array of {types[array.name]} is given values of {found} in a loop or condition.",
                span=place,
                text=scop.text,
                reason="" if is_clear else f"{found} is what numba makes of {_listed(scop, assignment, types)}; NumPy "
                "may make something else of them.",
                hint=f"Pass an array of {found}, or begin with `v = v.astype({_spelled(found)})`; or convert the new "
                f"values, `v = (...).astype({_spelled(types[array.name])})`.",
            )


def _spelled(name: str) -> str:
    return "np.bool_" if name == "bool" else f"np.{name}"


def rebound_values(scop: Scop) -> list[Assign]:
    """The assignments that give the elements of an array new values where its name is bound again."""
    return [one for array in scop.arrays for _, one in _rebound(scop, array)]


def _rebound(scop: Scop, array: Array) -> Iterator[tuple[Span, Assign]]:
    """Where the array is given new values, with the assignments that store them."""
    for place in array.rebound:
        for statement in scop.statements:
            if statement.span.line <= place.line <= statement.span.end_line:
                stored = (one for one in assignments(statement.body) if one.target.array == array.name)
                yield from ((place, one) for one in stored if _is_at(one, place))


def _is_at(assignment: Assign, place: Span) -> bool:
    """Whether ``assignment`` is of the line of ``place``: the statement around it may be a whole loop."""
    span = assignment.target.span
    return span is None or place.line <= span.line <= place.end_line


def _listed(scop: Scop, assignment: Assign, types: Mapping[str, str]) -> str:
    """The types that meet in ``assignment``, those of arrays first."""
    arrays = dict.fromkeys(kind for kind, is_array in _leaves(assignment.value, scop, types) if is_array)
    return f"arrays of {' and '.join(arrays)} and numbers" if arrays else "these numbers"


def _is_clear(scop: Scop, assignment: Assign, types: Mapping[str, str]) -> bool:
    try:
        return bool(ruled_value(scop, assignment, types))
    except UnclearTypeError:
        return _is_alike(scop, assignment, types)


def _is_alike(scop: Scop, assignment: Assign, types: Mapping[str, str]) -> bool:
    """Whether the types that meet are such that numbers and arrays come to the same result."""
    result = infer(assignment.value, Environment(types)).name
    found = list(_leaves(assignment.value, scop, types))
    if result == "bool" or all(kind in _WIDE for kind, _ in found):
        return True
    arrays = {kind for kind, is_array in found if is_array}
    if not arrays:
        return result != "uint64" and all(kind == result for kind, _ in found)
    return result in arrays and ("uint64" not in arrays or result == "uint64")


def _leaves(value: Node, scop: Scop, types: Mapping[str, str]) -> Iterator[tuple[str, bool]]:
    """The types that meet in ``value``, each with whether an array has it; what is converted has its new one."""
    ranks = {array.name: array.rank for array in scop.arrays}
    inside = [part.array for part in walk(value) if isinstance(part, Element) and part.array in types]
    if isinstance(value, Call) and FUNCTIONS[value.function].kind == "cast":
        yield infer(value, Environment(types)).name, any(map(ranks.get, inside))
        return
    if isinstance(value, Element) and value.array in types:
        yield types[value.array], bool(ranks.get(value.array))
    for part in children(value):
        yield from _leaves(part, scop, types)
