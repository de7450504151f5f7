"""Assignments of every form: one or several targets, tuples, augmented, and the names of arrays."""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

from polyviz.frontend.creation import CreationReader
from polyviz.frontend.environment import Known
from polyviz.frontend.integers import is_followed, is_integral
from polyviz.frontend.loops import plus
from polyviz.frontend.nodes import Leaf, Node
from polyviz.frontend.renamed import renamed
from polyviz.frontend.usage import subscript_chain
from polyviz.model.expression import Assign, Binary, Constant, Element, Expression, Instruction, Name, walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.frontend.expressions import ExpressionReader
    from polyviz.frontend.program import Program
    from polyviz.frontend.symbols import ArrayDraft

_Pair = tuple[ast.expr, ast.expr]


class AssignmentReader:
    """Reads one assignment statement into at most one leaf; integers that are only substituted leave nothing."""

    def __init__(self, program: Program, expressions: ExpressionReader) -> None:
        self._program = program
        self._expressions = expressions
        self._creations = CreationReader(program, expressions)

    def assign(self, node: ast.Assign) -> tuple[Node, ...]:
        """``a = b = value``, ``x, y = y, x``, ``n, m = A.shape``, ``B = np.zeros(n)``."""
        first = node.targets[0]
        if self._creations.is_creation(node.value) and isinstance(node.value, ast.Call):
            if len(node.targets) > 1:
                raise self._program.source.error(
                    node, "One new array is given to several names.", hint="Write one line for each array."
                )
            self._creations.read(node, first, node.value)
            return ()
        if isinstance(first, ast.Tuple | ast.List) and self._is_shape(node.value):
            return self._unpack_shape(node, first.elts)
        array = self._program.array(node.value.id) if isinstance(node.value, ast.Name) else None
        if array is not None and isinstance(first, ast.Name):
            return self._alias(node, array)
        self._name_extent(first, node.value)
        pairs = [pair for target in node.targets for pair in self._pairs(node, target, node.value)]
        return self._assignments(node, pairs)

    def annotated(self, node: ast.AnnAssign) -> tuple[Node, ...]:
        """``x: float = 0.0``; as for numba, the annotation of a local name means nothing."""
        if node.value is None:
            return ()
        plain = ast.copy_location(ast.Assign(targets=[node.target], value=node.value), node)
        return self.assign(plain)

    def augmented(self, node: ast.AugAssign) -> tuple[Node, ...]:
        """``target op= value``."""
        operator = self._expressions.operator(node, node.op)
        value = self._expressions.read(node.value)
        if not isinstance(node.target, ast.Name):
            target = self._element(node.target)
            return self._leaf(node, [Assign(target, value, operator)])
        loaded = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        before = self._expressions.read(loaded)
        is_sum = operator in ("+", "-") and is_integral(before) and is_integral(value)
        result = plus(before, value, operator) if is_sum else Binary(operator, before, value)
        return self._leaf(node, self._scalar(node.target, result, value, operator))

    def _pairs(self, node: ast.stmt, target: ast.expr, value: ast.expr) -> list[_Pair]:
        if not isinstance(target, ast.Tuple | ast.List):
            return [(target, value)]
        starred = [part for part in target.elts if isinstance(part, ast.Starred)]
        if starred or not isinstance(value, ast.Tuple | ast.List) or len(value.elts) != len(target.elts):
            raise self._program.source.error(
                node,
                "The values on the right cannot be matched with the names on the left.",
                reason="Only `a, b = x, y` with as many values as names, and `n, m = A.shape`, can be taken apart.",
                hint="Write one assignment per name, for elements of rows `x = P[i, 0] - Q[i, 0]`.",
            )
        return [
            pair
            for left, right in zip(target.elts, value.elts, strict=True)
            for pair in self._pairs(node, left, right)
        ]

    def _assignments(self, node: ast.stmt, pairs: Sequence[_Pair]) -> tuple[Node, ...]:
        """All values are read before the first target is written, so a value may need a temporary."""
        for target, value in pairs:
            array = self._program.array(value.id) if isinstance(value, ast.Name) else None
            if array is not None and isinstance(target, ast.Name):
                raise self._renamed(node, array)
            if isinstance(target, ast.Name) and self._program.rank(target.id) is not None:
                raise self._rebound_array(target)
        values = self._read_values(pairs)
        instructions: list[Instruction] = []
        if len(pairs) > 1:
            values = self._saved(pairs, values, instructions)
        for (target, _), result in zip(pairs, values, strict=True):
            if isinstance(target, ast.Name):
                instructions += self._scalar(target, result, result)
            else:
                instructions.append(Assign(self._element(target), result))
        return self._leaf(node, instructions)

    def _read_values(self, pairs: Sequence[_Pair]) -> list[Expression]:
        read: dict[int, Expression] = {}
        for _, value in pairs:
            if id(value) not in read:
                read[id(value)] = self._expressions.read(value)
        return [read[id(value)] for _, value in pairs]

    def _saved(
        self, pairs: Sequence[_Pair], values: list[Expression], instructions: list[Instruction]
    ) -> list[Expression]:
        """Values that an earlier target would change, or that stand for several targets, go through a temporary."""
        uses = Counter(id(node) for _, node in pairs)
        saved: dict[int, Expression] = {}
        written: set[str | None] = set()
        for (target, node), value in zip(pairs, values, strict=True):
            reads = {part.array for part in walk(value) if isinstance(part, Element)}
            needed = reads & written or (uses[id(node)] > 1 and not isinstance(value, Constant | Name))
            if needed and id(node) not in saved and not is_integral(value):
                temporary = self._program.temporary("saved", node)
                instructions.append(Assign(temporary, value))
                saved[id(node)] = temporary
            written.add(_target_name(target, self._program))
        return [saved.get(id(node), value) for (_, node), value in zip(pairs, values, strict=True)]

    def _scalar(
        self, target: ast.Name, result: Expression, value: Expression, operator: str | None = None
    ) -> list[Instruction]:
        """Bind a name to ``result``: an integer is followed, anything else (and what is seen later) is stored."""
        program, name = self._program, target.id
        if name in program.arrays or name in program.aliases or program.usage.is_array(name):
            raise self._rebound_array(target)
        asked = tuple(one for one in program.pending if one.of_sizes)
        conditions = tuple(one.condition for one in program.pending if not one.of_sizes)
        program.environment.bind(name, Known(result, conditions, asked) if is_followed(result) else None)
        is_known = program.environment.known(name) is not None
        if program.source.is_cell and name in program.usage.loop_variables:
            raise self._loop_variable(target)
        if program.source.is_cell or not is_known:
            program.demanded.add(name)
        if is_known and name not in program.stored:
            return []
        return [Assign(program.scalar(name, target), value, operator)]

    def _loop_variable(self, target: ast.Name) -> Exception:
        return self._program.source.error(
            target,
            f"The loop variable `{target.id}` is assigned.",
            reason="Its value after the cell would depend on both.",
            hint="Use another name for the value that is assigned.",
        )

    def _rebound_array(self, target: ast.Name) -> Exception:
        source = self._program.source
        name = source.segment(source.span(target))  # as it was written: a second array has a name of ours
        return source.error(
            target,
            f"The name `{name}` stands for an array and is assigned here.",
            reason="One name stands for one array in the whole program, unless all that it is given are arrays.",
            hint=f"Set its elements, `{name}[i] = ...` or all of them, `{name}[:] = ...`; or say what are arrays on "
            "the right, such as `x[:] + p[:]`, and `A[i, :].copy()` for a part of one; or use another name.",
        )

    def _element(self, target: ast.expr) -> Element:
        source = self._program.source
        if not isinstance(target, ast.Subscript):
            raise source.error(
                target, "This cannot be assigned.", hint="Assign to a name or an array element: `A[i] = ...`."
            )
        base, _ = subscript_chain(target)
        element = self._expressions.element(target) if isinstance(base, ast.Name) else None
        if isinstance(element, Element):
            return element
        if _is_row(base):
            row = ast.unparse(base)
            raise source.error(
                target,
                f"An element of `{row}` cannot be assigned.",
                reason="It may be a copy of the elements or the elements themselves, which depends on how they lie in "
                "memory.",
                hint="Write `A.flat[k] = ...` where the array `A` is meant, and give a copy a name before.",
            )
        raise source.error(
            target, "This cannot be assigned.", hint="Assign to an array element: `A[i] = ...`."
        )

    def _alias(self, node: ast.Assign, array: ArrayDraft) -> tuple[Node, ...]:
        """``B = A`` gives the array a second name, when that is all that ever happens to the name."""
        program = self._program
        for target in node.targets:
            if not isinstance(target, ast.Name) or program.depth or program.usage.bindings(target.id) != 1:
                raise self._renamed(node, array)
            if target.id in program.arrays:
                raise self._rebound_array(target)
            program.aliases[target.id] = array.name
            program.environment.bind(target.id, None)
        return ()

    def _renamed(self, node: ast.stmt, array: ArrayDraft) -> Exception:
        """What is said of ``node``, which gives the name of a variable or of an array to ``array``."""
        names = [one.id for one in getattr(node, "targets", []) if isinstance(one, ast.Name)]
        refusal = renamed(names[0] if names else "", array.name, self._program.arrays)
        return self._program.source.error(node, refusal.construct, reason=refusal.reason, hint=refusal.hint)

    def _is_shape(self, value: ast.expr) -> bool:
        base = (
            value.value if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice) else value
        )
        return isinstance(base, ast.Attribute) and base.attr == "shape"

    def _unpack_shape(self, node: ast.Assign, targets: list[ast.expr]) -> tuple[Node, ...]:
        """``n, m = A.shape`` and ``n, m = A.shape[1:]``."""
        axes, array = self._axes(node)
        if len(axes) != len(targets) or not all(isinstance(target, ast.Name) for target in targets):
            raise self._program.source.error(
                node,
                f"The shape of `{array.name}` has {array.rank} extents; {len(axes)} of them are given to "
                f"{len(targets)} names.",
                hint="Give one name per extent.",
            )
        instructions: list[Instruction] = []
        for target, axis in zip(targets, axes, strict=True):
            if isinstance(target, ast.Name):
                value = self._program.extent(array, axis, self._preferred(target.id))
                instructions += self._scalar(target, value, value)
        return self._leaf(node, instructions)

    def _axes(self, node: ast.Assign) -> tuple[list[int], ArrayDraft]:
        value = node.value
        part = slice(None)
        if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice):
            bounds = (value.slice.lower, value.slice.upper, value.slice.step)
            part = slice(*(None if bound is None else ast.literal_eval(bound) for bound in bounds))
            value = value.value
        array = self._expressions.shape_of(value.value) if isinstance(value, ast.Attribute) else None
        if array is None:
            raise self._program.source.error(
                node, "This shape cannot be taken apart.", hint="Write `n, m = A.shape`."
            )
        return list(range(array.rank))[part], array

    def _name_extent(self, target: ast.expr, value: ast.expr) -> None:
        """``n = A.shape[0]`` and ``n = len(A)`` name the extent as the user does."""
        if not isinstance(target, ast.Name):
            return
        axis, base = _extent_of(value)
        array = self._program.array(base.id) if isinstance(base, ast.Name) else None
        if array is not None and axis is not None and -array.rank <= axis < array.rank:
            self._program.extent(array, axis % array.rank, self._preferred(target.id))

    def _preferred(self, name: str) -> str | None:
        """The user's own name for an extent, when it means nothing else."""
        usage, program = self._program.usage, self._program
        once = len(usage.assigned[name]) == 1 and name not in usage.loop_variables
        arguments = {argument.name for argument in program.symbols.arguments}
        is_free = name not in program.stored | arguments and not program.source.is_cell
        return name if once and is_free else None

    def _leaf(self, node: ast.stmt, instructions: Sequence[Instruction]) -> tuple[Node, ...]:
        requirements = self._program.requirements()
        if not instructions:
            return ()
        span = self._program.source.span(node)
        return (Leaf(tuple(instructions), span, self._program.source.segment(span), requirements),)


def _target_name(target: ast.expr, program: Program) -> str | None:
    base = subscript_chain(target)[0] if isinstance(target, ast.Subscript) else target
    if not isinstance(base, ast.Name):
        return None
    return program.aliases.get(base.id, base.id)


def _is_row(node: ast.expr) -> bool:
    """Whether ``node`` is all elements of an array in one row, or in another shape."""
    match node:
        case ast.Call(func=ast.Attribute(attr=method)):
            return method in ("ravel", "flatten", "reshape")
    return False


def _extent_of(value: ast.expr) -> tuple[int | None, ast.expr | None]:
    """The axis and array of ``A.shape[axis]`` or ``len(A)``."""
    match value:
        case ast.Subscript(
            value=ast.Attribute(value=base, attr="shape"), slice=ast.Constant(value=int() as axis)
        ):
            return axis, base
        case ast.Call(func=ast.Name(id="len"), args=[base]):
            return 0, base
        case _:
            return None, None
