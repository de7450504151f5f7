"""Python statements become loops, choices and leaves; integer temporaries are followed and substituted."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, cast

import islpy as isl

from polyviz.frontend.affine import AffineReader, NotAffine
from polyviz.frontend.assignments import AssignmentReader
from polyviz.frontend.environment import Known
from polyviz.frontend.expressions import ExpressionReader
from polyviz.frontend.inductions import followed
from polyviz.frontend.iteration import assigned
from polyviz.frontend.jumps import ends_early, without_continue
from polyviz.frontend.loops import after_loop, read_header
from polyviz.frontend.new_arrays import Running
from polyviz.frontend.nodes import Choice, Leaf, Nest, Node, Repeat, Requirement
from polyviz.frontend.parts import parts_of
from polyviz.frontend.refuse import ASSERTED_DATA, EXPRESSIONS, STATEMENTS, statement_refusal
from polyviz.frontend.results import read_return
from polyviz.frontend.slices import SliceReader
from polyviz.frontend.swaps import Exchanged
from polyviz.frontend.taken_apart import OfLength
from polyviz.frontend.windows import Within
from polyviz.model.expression import Break, Name
from polyviz.model.scop import Exchange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from polyviz.frontend.program import Program


class StatementReader:
    """Reads statements from top to bottom, keeping the program's environment up to date."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._expressions = ExpressionReader(program)
        self._assignments = AssignmentReader(program, self._expressions)
        self._slices = SliceReader(program, self._expressions)
        self._readers: dict[type[ast.stmt], Callable[[Any], tuple[Node, ...]]] = {
            ast.Assign: self._assignments.assign,
            ast.AugAssign: self._assignments.augmented,
            ast.AnnAssign: self._assignments.annotated,
            ast.For: self._for,
            ast.If: self._if,
            ast.While: self._while,
            ast.Break: self._break,
            ast.Expr: self._expression,
            ast.Pass: lambda node: (),
            ast.Assert: self._assert,
            Exchanged: self._exchanged,
            Running: self._running,
            OfLength: self._of_length,
            Within: self._within,
        }

    def program_body(self, body: Iterable[ast.stmt]) -> tuple[Node, ...]:
        """The whole program; a ``return`` may stand at its end."""
        statements = list(body)
        last = statements[-1] if statements else None
        if not isinstance(last, ast.Return) or self._program.source.is_cell:
            return self.read(statements)
        nodes = self.read(statements[:-1])
        *made, last = self._slices.returned(last)
        nodes += self.read(made)
        assert isinstance(last, ast.Return)
        behind = self._slices.behind_sums(last, last.value) if last.value is not None else None
        if behind is not None:
            nodes += self.read(behind[:-1])
            last = cast("ast.Return", behind[-1])
        return nodes + read_return(self._program, self._expressions, last)

    def read(self, body: Iterable[ast.stmt]) -> tuple[Node, ...]:
        """The nodes of a block; raises an ``ExtractionError`` at what is not supported."""
        return tuple(node for statement in body for node in self._statement(statement))

    def _statement(self, node: ast.stmt) -> tuple[Node, ...]:
        loops = self._slices.loops(node)
        if loops is not None:
            return self.read(loops)
        reader = self._readers.get(type(node))
        if reader is not None:
            return reader(node)
        refusal = statement_refusal(node)
        if refusal is not None:
            raise self._program.source.refuse(node, refusal)
        raise self._misplaced_return(node)

    def _misplaced_return(self, node: ast.stmt) -> Exception:
        if self._program.source.is_cell:
            return self._program.source.error(
                node,
                "`return` stands outside of a function.",
                hint="Leave it out: the arrays are changed in place.",
            )
        makes = isinstance(node, ast.Return) and any(isinstance(part, ast.Call) for part in parts_of(node))
        if makes and not self._program.iterators:
            return self._program.source.error(
                node,
                "`return` is supported of arrays that are there on every path, and an array is made here.",
                reason="What is returned needs one name and one place in memory, whichever path is taken.",
                hint="Make one array before the first `if`, `y = np.zeros(n)`, and return `y` on every path.",
            )
        return self._program.source.error(
            node,
            "`return` is supported at the end of a function, or of branches outside loops, all with as many "
            "numbers or with the same arrays.",
            reason="Leaving earlier skips iterations, which no schedule can keep.",
            hint="Leave it out: loops without iterations do nothing; or put what follows under an `if`."
            if isinstance(node, ast.Return) and node.value is None
            else "Store the result in a variable and return it at the end, where every path comes by.",
        )

    def _expression(self, node: ast.Expr) -> tuple[Node, ...]:
        if isinstance(node.value, ast.Constant):
            return ()
        refusal = EXPRESSIONS.get(type(node.value))
        if refusal is not None:
            raise self._program.source.refuse(node.value, refusal)
        self._expressions.read(node.value)
        raise self._program.source.error(
            node,
            "The value of this expression is not used.",
            hint="Assign it to a variable or an array element, or leave it out.",
        )

    def _for(self, node: ast.For) -> tuple[Node, ...]:
        program = self._program
        header = read_header(program, self._expressions, node)
        block = without_continue(node.body)
        requirements = program.requirements()
        self._check_variable(node, header.variable)
        iterator = program.iterator(header.variable)
        inductions = followed(program, header, iterator, block)
        changed = assigned(block) | {header.variable}
        program.environment.forget(changed)
        program.environment.bind(header.variable, Known(Name(iterator)))
        for name, (inside, *_) in inductions.items():
            program.environment.bind(name, inside)
        program.iterators.append(iterator)
        program.headers.append(header)
        with program.branch():
            body = self.read(block)
        program.iterators.pop()
        program.headers.pop()
        program.environment.forget(changed)
        for name, (_, *behind) in inductions.items():
            program.environment.bind(name, behind[0] if behind else None)
        program.environment.bind(header.variable, None if ends_early(block) else after_loop(header))
        span = program.source.span(node)
        return (
            Nest(
                variable=header.variable,
                iterator=iterator,
                start=header.start,
                stop=header.stop,
                step=header.step,
                body=body,
                header=program.source.span(node, node.iter),
                span=span,
                source=program.source.segment(span),
                requirements=requirements,
            ),
        )

    def _while(self, node: ast.While) -> tuple[Node, ...]:
        program = self._program
        if isinstance(node.test, ast.Constant) and node.test.value and not ends_early(node.body):
            raise program.source.error(
                node.test,
                "This loop never ends: its condition is always true, and no `break` leaves it.",
                hint="Write `break` under a condition in the loop, or the condition behind `while`.",
            )
        block = without_continue(node.body)
        changed = assigned(block)
        program.environment.forget(changed)
        condition = self._expressions.read(node.test)
        requirements = program.requirements()
        with program.branch():
            body = self.read(block)
        program.environment.forget(changed)
        span = program.source.span(node)
        return (Repeat(condition, body, span, program.source.segment(span), requirements),)

    def _break(self, node: ast.Break) -> tuple[Node, ...]:
        span = self._program.source.span(node)
        return (Leaf((Break(),), span, self._program.source.segment(span)),)

    def _exchanged(self, node: Exchanged) -> tuple[Node, ...]:
        """Note that the notebook has to exchange the names of its arrays."""
        program = self._program
        drafts = [program.array(name) for name in node.names]
        own = all(draft is not None and draft.origin == "argument" for draft in drafts)
        if not own or set(node.names) & set(program.aliases):
            raise program.source.error(
                node,
                "Names of arrays are exchanged in this loop, and not all of these arrays come from the notebook.",
                hint="Make the arrays in a cell before this one.",
            )
        count = self._expressions.read(node.count)
        try:
            steps = AffineReader((), program.parameters).value(count).project_domain_on_params()
        except NotAffine:
            raise program.source.error(
                node,
                "Names of arrays are exchanged in this loop, and how often depends on data.",
                hint="Give the number of steps a name before the loops.",
            ) from None
        program.exchanges.append(Exchange(node.names, node.values, steps))
        return ()

    def _running(self, node: Running) -> tuple[Node, ...]:
        """Take for granted that the loops run in which a cell makes an array."""
        program = self._program
        reader = AffineReader((), program.parameters)
        for length in node.lengths:
            try:
                value = reader.value(self._expressions.read(length))
            except NotAffine:
                raise program.source.error(
                    node,
                    "An array is made inside of a loop, and whether the loop runs at all depends on data.",
                    reason="The notebook has the array afterwards only if it does.",
                    hint="Make the array before the loops, and set its elements here: `B[:] = A`.",
                ) from None
            program.assumptions.append(value.gt_set(value.sub(value)).params())
        return ()

    def _assert(self, node: ast.Assert) -> tuple[Node, ...]:
        """Take for granted what is asserted of sizes."""
        holds = self._of_sizes(node.test)
        if holds is None:
            refusal = STATEMENTS[ast.Assert] if self._program.depth else ASSERTED_DATA
            raise self._program.source.refuse(node, refusal)
        return self._taken_for_granted(node, holds)

    def _of_sizes(self, test: ast.expr) -> isl.Set | None:
        """The sizes for which ``test`` holds; None in a loop or condition, and where it asks for anything else."""
        program = self._program
        if program.depth:
            return None
        try:
            return AffineReader((), program.parameters).condition(self._expressions.read(test)).params()
        except NotAffine:
            return None

    def _taken_for_granted(self, node: ast.stmt, holds: isl.Set) -> tuple[Node, ...]:
        self._program.assumptions.append(holds)
        self._program.notes.append(
            f"Line {node.lineno}: calls with other sizes are refused, with an error of polyviz, before anything is "
            "changed."
        )
        return ()

    def _of_length(self, node: OfLength) -> tuple[Node, ...]:
        """Take for granted that a row has as many elements as are written for it."""
        program = self._program
        array = self._expressions.shape_of(node.array)
        if array.rank != node.axis + 1:
            raise program.source.error(
                node,
                f"`{array.name}` has {array.rank} dimensions, and {node.axis} of them are subscripted here.",
                reason="What is taken apart, or set by several values, has to be a row of numbers.",
                hint="Write one assignment per element, with one subscript per dimension.",
            )
        length = AffineReader((), program.parameters).value(program.extent(array, node.axis))
        count = length.sub(length).add_constant_val(isl.Val(node.count))
        program.assumptions.append(length.eq_set(count).params())
        return ()

    def _within(self, node: Within) -> tuple[Node, ...]:
        """Ask that elements of a part of an array are counted from its start, and are in it."""
        error = self._program.source.error(
            node,
            f"An element of the slice `{ast.unparse(node.part)}` is asked for, and it may be counted from the end.",
            reason="Where a subscript is negative, or beyond the slice, it means another element or none.",
            hint="Write the subscripts of the whole array, or make an array of the slice, with `.copy()`.",
        )
        conditions = [self._expressions.read(one) for one in node.conditions]
        self._program.pending += [Requirement(one, error, of_sizes=True) for one in conditions]
        return ()

    def _check_variable(self, node: ast.For, name: str) -> None:
        if name in self._program.stored or name in self._program.arrays:
            raise self._program.source.error(
                node.target,
                f"The loop variable `{name}` is also used for a value that is stored.",
                reason="A loop variable takes its values from the range alone.",
                hint="Use another name for the one or the other.",
            )

    def _if(self, node: ast.If) -> tuple[Node, ...]:
        program = self._program
        if not node.orelse and isinstance(node.body[0], ast.Raise):
            fails = self._of_sizes(node.test)
            if fails is not None:
                return self._taken_for_granted(node, fails.complement())
        condition = self._expressions.read(node.test)
        requirements = program.requirements()
        with program.branch():
            before = program.environment.copy()
            then = self.read(node.body)
            after_then, program.environment = program.environment, before
            otherwise = self.read(node.orelse)
        program.environment = after_then.join(condition, program.environment)
        span = program.source.span(node)
        return (Choice(condition, then, otherwise, span, program.source.segment(span), requirements),)
