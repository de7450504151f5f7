"""A first look at the names of a program: which are arrays, of what rank, and which are used as sizes.

The user declares nothing; what a name is follows from its use. A name that stands in a loop bound, a subscript or an
extent is an integer; one that is only compared may be; one that takes part in arithmetic on data need not be.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from polyviz.frontend.functions import CREATORS, CREATORS_LIKE, counts_of
from polyviz.frontend.integer_forms import MAKES_WHOLE, is_integer_form, is_root, is_size_form
from polyviz.frontend.parts import names_in, parts_of
from polyviz.frontend.regions import constant_of, is_new_axis
from polyviz.frontend.temporaries import INTEGER_CALLS, temporaries_of_data

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Position = Literal["affine", "rounded", "condition", "data"]


@dataclass
class Usage:
    """Facts by name. ``subscripts`` holds the subscript counts with the first use of each; ``ranks`` exact ranks and
    ``least_ranks`` lower bounds from ``.shape``; ``affine``, ``condition`` and ``data`` how a name is used, ``rounded``
    as ``affine`` inside of ``int(...)``; ``assigned`` where each name is assigned, ``augmented`` how often by ``+=``
    and its like."""

    subscripts: dict[str, dict[int, ast.expr]] = field(default_factory=lambda: defaultdict(dict))
    ranks: dict[str, int] = field(default_factory=dict)
    least_ranks: dict[str, int] = field(default_factory=dict)
    assigned: dict[str, list[ast.AST]] = field(default_factory=lambda: defaultdict(list))
    augmented: Counter[str] = field(default_factory=Counter)
    loop_variables: set[str] = field(default_factory=set)
    affine: set[str] = field(default_factory=set)
    rounded: set[str] = field(default_factory=set)
    condition: set[str] = field(default_factory=set)
    data: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)

    def bindings(self, name: str) -> int:
        """How often ``name`` is assigned; for an array, ``+=`` changes elements and binds nothing."""
        return len(self.assigned[name]) - self.augmented[name]

    def is_array(self, name: str) -> bool:
        """Whether the program subscripts ``name`` or asks for its shape."""
        return name in self.subscripts or name in self.ranks or name in self.least_ranks

    def may_be_size(self, name: str) -> bool:
        """Whether a number of unknown type is taken for an integer parameter."""
        if name in self.affine | self.rounded:
            return True
        return name in self.condition and name not in self.data

    def same_array(self, alias: str, name: str) -> None:
        """``alias = name``: what is known of one array is known of the other."""
        self.subscripts[name] = {**self.subscripts.get(alias, {}), **self.subscripts.get(name, {})}
        if alias in self.ranks:
            self.ranks.setdefault(name, self.ranks[alias])
        self.least_ranks[name] = max(self.least_ranks.get(name, 1), self.least_ranks.get(alias, 1))


def look_at(
    body: Iterable[ast.stmt],
    canonical: Callable[[ast.expr], str | None],
    helper: Callable[[ast.expr], ast.FunctionDef | None] = lambda node: None,
) -> Usage:
    """Collect the facts of ``body``; ``canonical`` resolves global names, ``helper`` finds functions that it calls.

    >>> usage = look_at(ast.parse("for i in range(n - 1): A[i] = k * B[i, m]").body, lambda node: None)
    >>> sorted(usage.affine), sorted(usage.data), {name: sorted(usage.subscripts[name]) for name in "AB"}
    (['i', 'm', 'n'], ['k'], {'A': [1], 'B': [2]})
    """
    statements = list(body)
    visitor = _Visitor(canonical, helper, temporaries_of_data(statements))
    for node in statements:
        visitor.visit(node)
    visitor.spread()
    return visitor.usage


def subscript_chain(node: ast.Subscript) -> tuple[ast.expr, tuple[ast.expr, ...]]:
    """``A[i][j, k]`` as the base ``A`` and the subscripts ``i, j, k``."""
    indices: tuple[ast.expr, ...] = ()
    base: ast.expr = node
    while isinstance(base, ast.Subscript):
        index = base.slice
        indices = (*(index.elts if isinstance(index, ast.Tuple) else (index,)), *indices)
        base = base.value
    return base, indices


def _direct_indices(node: ast.Subscript) -> tuple[ast.expr, ...]:
    """Those of ``subscript_chain`` that are along dimensions of the array itself, not of a slice: ``A[1:][m]``."""
    while isinstance(node.value, ast.Subscript) and _has_slice(node.value):
        node = node.value
    return subscript_chain(node)[1]


def _has_slice(node: ast.Subscript) -> bool:
    return any(isinstance(index, ast.Slice) for index in subscript_chain(node)[1])


def _is_ellipsis(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and index.value is Ellipsis


def _is_mask(index: ast.expr) -> bool:
    """Whether ``index`` chooses elements by what they are compared with."""
    match index:
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return _is_mask(operand)
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr() | ast.BitXor(), right=right):
            return _is_mask(left) or _is_mask(right)
    return isinstance(index, ast.Compare)


class _Visitor(ast.NodeVisitor):
    def __init__(
        self,
        canonical: Callable[[ast.expr], str | None],
        helper: Callable[[ast.expr], ast.FunctionDef | None],
        of_data: set[str],
    ) -> None:
        self.usage = Usage()
        self._canonical = canonical
        self._helper = helper
        self._of_data = of_data
        self._position: Position = "data"
        self._flows: list[tuple[str, ast.expr]] = []
        self._second_names: list[tuple[str, str]] = []

    @contextmanager
    def _at(self, position: Position) -> Iterator[None]:
        before, self._position = self._position, position
        yield
        self._position = before

    def _visit_at(self, position: Position, *nodes: ast.AST) -> None:
        with self._at(position):
            for node in nodes:
                self.visit(node)

    def spread(self) -> None:
        """An integer temporary passes its use on to the names that it is made of, and so does a second name."""
        for target, name in self._second_names:
            if self.usage.is_array(target):
                self.usage.same_array(target, name)
        positions: tuple[Position, ...] = ("affine", "rounded")
        waiting = [(target, value, position) for target, value in self._flows for position in positions]
        while reached := [flow for flow in waiting if flow[0] in getattr(self.usage, flow[2])]:
            waiting = [flow for flow in waiting if flow not in reached]
            for _, value, position in reached:
                self._visit_at(position, value)
        integers = self.usage.affine | self.usage.rounded
        for target, value in self._flows:
            if target not in integers:
                self.usage.data |= names_in(value)

    def visit_Name(self, node: ast.Name) -> None:
        self.usage.names.add(node.id)
        if isinstance(node.ctx, ast.Store):
            self.usage.assigned[node.id].append(node)
            return
        getattr(self.usage, self._position).add(node.id)

    def visit_For(self, node: ast.For) -> None:
        if isinstance(node.target, ast.Name):
            self.usage.loop_variables.add(node.target.id)
        self.visit(node.target)
        bounds = node.iter
        if isinstance(bounds, ast.Call) and self._canonical(bounds.func) == "reversed" and len(bounds.args) == 1:
            bounds = bounds.args[0]
        self._visit_at("affine", *(bounds.args if isinstance(bounds, ast.Call) else [bounds]))
        self._visit_at("data", *node.body, *node.orelse)

    def visit_If(self, node: ast.If) -> None:
        self._visit_at("condition", node.test)
        self._visit_at("data", *node.body, *node.orelse)

    def visit_Assert(self, node: ast.Assert) -> None:
        self._visit_at("condition", node.test)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._visit_at("condition", node.test)
        self.visit(node.body)
        self.visit(node.orelse)

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        if len(operands) == 2 and self._compared_shape(*operands):
            return
        names = {name for operand in operands for name in names_in(operand)}
        if names & self._of_data or not all(is_integer_form(operand) for operand in operands):
            # A threshold for data, or a comparison with a float, says nothing about integers.
            self._visit_at("affine" if self._position == "affine" else "data", *operands)
            return
        iterators = {
            operand.id for operand in operands if isinstance(operand, ast.Name)
        } & self.usage.loop_variables
        in_condition = self._position == "condition"
        self._visit_at("affine" if in_condition and iterators else self._position, *operands)

    def _compared_shape(self, left: ast.expr, right: ast.expr) -> bool:
        """``A.shape == (n, m)`` says how many dimensions there are, and that numbers are sizes."""
        shapes = [one for one in (left, right) if isinstance(one, ast.Attribute) and one.attr == "shape"]
        for shape, sizes in zip(shapes, (one for one in (left, right) if isinstance(one, ast.Tuple)), strict=False):
            if isinstance(shape.value, ast.Name):
                self.usage.names.add(shape.value.id)
                self.usage.ranks.setdefault(shape.value.id, len(sizes.elts))
            self._visit_at("affine", *sizes.elts)
            return True
        return False

    def visit_Subscript(self, node: ast.Subscript) -> None:
        base, indices = subscript_chain(node)
        if isinstance(base, ast.Attribute) and base.attr == "shape" and isinstance(base.value, ast.Name):
            self._shape_axis(base.value.id, indices)
            return
        is_whole = bool(indices) and all(is_new_axis(index) or _is_ellipsis(index) for index in indices)
        if isinstance(base, ast.Name) and is_whole:
            self._at_least(base.id, 1)  # as many as it has
        elif isinstance(base, ast.Name):
            self.usage.names.add(base.id)
            direct = _direct_indices(node)
            self.usage.subscripts[base.id].setdefault(len(direct) - sum(map(is_new_axis, direct)), node)
        else:
            self._visit_at("data", base)
        for index in indices:
            self._visit_at("data" if _is_mask(index) else "affine", index)

    def _shape_axis(self, name: str, indices: tuple[ast.expr, ...]) -> None:
        index = indices[0].lower if isinstance(indices[0], ast.Slice) else indices[0]
        axis = index.value if isinstance(index, ast.Constant) else 0
        least = axis + 1 if isinstance(axis, int) and axis >= 0 else 1
        self._at_least(name, least)

    def _at_least(self, name: str, rank: int) -> None:
        self.usage.names.add(name)
        self.usage.least_ranks[name] = max(rank, self.usage.least_ranks.get(name, 0))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if not isinstance(node.value, ast.Name):
            self._visit_at("data", node.value)
        elif node.attr in ("shape", "size", "dtype", "T", "ndim"):
            self._at_least(node.value.id, 1)
        elif self._canonical(node.value) is None:
            self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        self._passed_on(node)
        self._along_axis(node)
        name = self._canonical(node.func)
        if name is None and isinstance(node.func, ast.Attribute):
            self._visit_at("data", node.func)
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        first = node.args[0] if node.args else None
        if isinstance(first, ast.Name) and (name == "len" or name in CREATORS_LIKE):
            self._at_least(first.id, 1)
            arguments = arguments[1:]
        if isinstance(first, ast.Subscript) and (name == "len" or name in CREATORS_LIKE):
            base, indices = subscript_chain(first)
            if isinstance(base, ast.Name):
                is_walked = any(isinstance(index, ast.Slice) for index in indices)
                self._at_least(base.id, len(indices) + (not is_walked))
                self._visit_at("affine", *indices)
                arguments = arguments[1:]
        if name in CREATORS and first is not None:
            self._visit_at("affine", first)
            arguments = arguments[1:]
        counts = counts_of(name, node)
        self._visit_at("affine", *counts)
        arguments = [one for one in arguments if one not in counts]
        inside = "rounded" if name in MAKES_WHOLE and self._position == "affine" else self._position
        keeps = str(node.func.id) in INTEGER_CALLS if isinstance(node.func, ast.Name) else False
        self._visit_at(inside if keeps or (inside == "rounded" and self._is_root(node)) else "data", *arguments)

    def _is_root(self, node: ast.expr) -> bool:
        return is_root(node, self._canonical) or is_size_form(node, self._canonical)

    def _along_axis(self, node: ast.Call) -> None:
        """``np.roll(A, 1, axis=1)`` and ``A.sum(axis=1)`` go along an axis that the array has."""
        called = self._canonical(node.func) or ""
        is_rolled = called == "numpy.roll"
        given = [one.value for one in node.keywords if one.arg == "axis"] or (node.args[2:3] if is_rolled else [])
        axis = constant_of(given[0]) if given else 0 if is_rolled else None
        operand: ast.expr | None = node
        while isinstance(operand, ast.Call):
            is_method = isinstance(operand.func, ast.Attribute) and not self._canonical(operand.func)
            first = operand.args[0] if operand.args else None
            operand = operand.func.value if is_method and isinstance(operand.func, ast.Attribute) else first
        if axis is not None and axis >= 0 and isinstance(operand, ast.Name) and (axis or is_rolled):
            self._at_least(operand.id, axis + 1)

    def _passed_on(self, node: ast.Call) -> None:
        """An array has as many dimensions as the helper subscripts that it is passed to."""
        helper = self._helper(node.func)
        if helper is None:
            return
        parameters = [argument.arg for argument in (*helper.args.posonlyargs, *helper.args.args)]
        given = [*zip(parameters, node.args, strict=False), *((one.arg or "", one.value) for one in node.keywords)]
        arrays = [(parameter, value.id) for parameter, value in given if isinstance(value, ast.Name)]
        if not arrays:
            return

        def others(called: ast.expr) -> ast.FunctionDef | None:
            found = self._helper(called)
            return None if found is None or found.name == helper.name else found

        inside = look_at(helper.body, self._canonical, others)
        for parameter, name in arrays:
            for count, place in inside.subscripts.get(parameter, {}).items():
                self.usage.subscripts[name].setdefault(count, place)
            if inside.least_ranks.get(parameter):
                self._at_least(name, inside.least_ranks[parameter])

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """What ``int`` makes whole need not be so before: a product of names there is one with a fraction."""
        is_fraction = self._position == "rounded" and self._is_scaled(node)
        self._visit_at("data" if is_fraction else self._position, node.left, node.right)

    def _is_scaled(self, node: ast.BinOp) -> bool:
        """Whether names are multiplied with names, or an iteration is divided by one: affine it is in neither case."""
        left, right = (names_in(part) for part in (node.left, node.right))
        if isinstance(node.op, ast.Div):
            return bool(right) and bool((left | right) & (self.usage.loop_variables | set(self.usage.assigned)))
        return isinstance(node.op, ast.Mult) and bool(left) and bool(right)

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self._visit_at("data", target)
        names = [target for target in node.targets if isinstance(target, ast.Name)]
        if len(names) == len(node.targets) and is_size_form(node.value, self._canonical):
            self._flows += [(target.id, node.value) for target in names]
            if isinstance(node.value, ast.Name):
                self._second_names += [(target.id, node.value.id) for target in names]
            self.usage.names |= names_in(node.value)
            self._lengths(node.value)
            return
        if self._several_sizes(node):
            return
        self._unpacked_shape(node)
        self._patterned(names, node.value)
        self._visit_at("data", node.value)

    def _several_sizes(self, node: ast.Assign) -> bool:
        """``oh, ow = h // 2, w // 2``: names that get values side by side, each from its own."""
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                names = [target.id for target in targets if isinstance(target, ast.Name)]
            case _:
                return False
        are_sizes = all(is_size_form(value, self._canonical) for value in values)
        if not (are_sizes and len(names) == len(targets) == len(values)):
            return False
        self._flows += zip(names, values, strict=True)
        for value in values:
            self.usage.names |= names_in(value)
            self._lengths(value)
        return True

    def _lengths(self, value: ast.expr) -> None:
        for part in parts_of(value):
            if isinstance(part, ast.Call):
                self.visit_Call(part)

    def _patterned(self, targets: Iterable[ast.Name], value: ast.expr) -> None:
        """An array that is made like another one has as many dimensions."""
        if not isinstance(value, ast.Call) or self._canonical(value.func) not in CREATORS_LIKE:
            return
        for pattern in value.args[:1]:
            if isinstance(pattern, ast.Name):
                self._second_names += [(target.id, pattern.id) for target in targets]

    def _unpacked_shape(self, node: ast.Assign) -> None:
        target, value = node.targets[0], node.value
        if not (isinstance(target, ast.Tuple) and isinstance(value, ast.Attribute) and value.attr == "shape"):
            return
        if isinstance(value.value, ast.Name) and not any(
            isinstance(part, ast.Starred) for part in target.elts
        ):
            self.usage.ranks[value.value.id] = len(target.elts)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.target)
        if isinstance(node.target, ast.Name):
            self.usage.augmented[node.target.id] += 1
        if isinstance(node.target, ast.Name) and is_integer_form(node.value):
            self._flows.append((node.target.id, node.value))
            self.usage.names |= names_in(node.value)
            return
        self._visit_at("data", node.value)
