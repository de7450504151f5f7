"""A scop as text for golden files: everything the front end promises, nothing that depends on the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.frontend.spelling import spelled

if TYPE_CHECKING:
    from polyviz.model.scop import Array, Parameter, Scop, Statement


def describe(scop: Scop) -> str:
    lines = [f"{'cell' if scop.is_cell else 'function'} {scop.name}"]
    lines += [
        f"argument {argument.name}{f' = {argument.default!r}' if argument.has_default else ''}"
        for argument in scop.arguments
    ]
    lines += [f"parameter {parameter.name} = {source(parameter)}" for parameter in scop.parameters]
    lines += [f"context {scop.context}"]
    lines += [f"array {array_text(array)}" for array in scop.arrays]
    for statement in scop.statements:
        lines += ["", *statement_lines(statement)]
    lines += ["", *tree_lines(scop.schedule.get_root(), 0)]
    if scop.result.names:
        lines += [f"returns {', '.join(scop.result.names)}{' as a tuple' if scop.result.is_tuple else ''}"]
    lines += [f"afterwards {name} = {value}" for name, value in scop.final_iterators]
    lines += [f"note {note}" for note in scop.notes]
    return "\n".join(lines)


def source(parameter: Parameter) -> str:
    found = parameter.source
    if found.kind == "shape":
        return f"{found.name}.shape[{found.axis}]"
    return found.name if found.expression is None else spelled(found.expression)


def array_text(array: Array) -> str:
    extents = ", ".join("?" if extent is None else str(extent) for extent in array.extents)
    words = [array.origin, *(["in"] if array.live_in else []), *(["out"] if array.live_out else [])]
    if array.creation is not None:
        fill = "" if array.creation.fill is None else f" {spelled(array.creation.fill)}"
        words.append(f"{array.creation.function}{fill} dtype={array.dtype} like={array.creation.like}")
    return f"{array.name}[{extents}] {' '.join(words)}"


def statement_lines(statement: Statement) -> list[str]:
    first = statement.source.splitlines()[0]
    lines = [f"{statement.name} at {statement.span}: {first}", f"  domain {statement.domain}"]
    lines += [f"  loop at {span}" for span in statement.loop_spans]
    for access in statement.accesses:
        how = "" if access.exact else f" MAY ({access.reason})"
        lines.append(f"  {access.kind} `{access.text}` at {access.span} {access.relation}{how}")
    return lines


def tree_lines(node: isl.ScheduleNode, depth: int) -> list[str]:
    kinds = isl.schedule_node_type
    margin = "  " * depth
    kind = node.get_type()
    if kind == kinds.leaf:
        return []
    if kind == kinds.band:
        lines = [f"{margin}band {node.band_get_partial_schedule()}"]
    elif kind == kinds.filter:
        lines = [f"{margin}filter {node.filter_get_filter()}"]
    elif kind == kinds.domain:
        lines = [f"{margin}domain"]
    else:
        lines = [f"{margin}sequence"]
    for position in range(node.n_children()):
        lines += tree_lines(node.child(position), depth + 1)
    return lines
