"""The Python printers: readable loops for teaching, and the same loops for numba.

Both give a complete function with the original signature, so that its text can be copied out and used as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from polyviz.codegen.array_sums_numba import NumbaArraySums, copies_allowed
from polyviz.codegen.blocks_numba import NumbaBlocks
from polyviz.codegen.bodies import (
    apart,
    inner_iterators,
    placed_body,
    planned_body,
    private_name,
    reading_back,
)
from polyviz.codegen.calling import result_names, run_time_failures, written_arrays
from polyviz.codegen.definitions import read_first, unsure_results
from polyviz.codegen.dtypes import numpy_name
from polyviz.codegen.expressions_python import PythonExpressionPrinter
from polyviz.codegen.fast_math import fast_math
from polyviz.codegen.guards import granted, guard_of_loop
from polyviz.codegen.helpers_python import PYTHON_HELPERS
from polyviz.codegen.identifiers import Identifiers, part_names
from polyviz.codegen.loops import Block, For, If, Instance, LoopNode, descendants, instances
from polyviz.codegen.loops_python import BothEnds, parallel_lines, range_text, serial_notes
from polyviz.codegen.lower import lower
from polyviz.codegen.nonzero import is_never_zero
from polyviz.codegen.periodic import PeriodicPrinter, Spelling
from polyviz.codegen.prologue_python import creation, expansion_line, parameter_value
from polyviz.codegen.regions import SMALLEST_PARALLEL_WORK, Regions
from polyviz.codegen.regularity import is_slanted
from polyviz.codegen.reserved_python import PYTHON_RESERVED, python_reserved
from polyviz.codegen.scalars_python import numpy_scalars
from polyviz.codegen.text import TextBuilder, imports_of, title_of
from polyviz.codegen.typed_variables import with_conversions, with_copies_computed
from polyviz.codegen.typing import Environment, assignments
from polyviz.codegen.widths import widened
from polyviz.model.expression import Element, Expression, Name, walk
from polyviz.model.program import ArrayType, FloatingPoint, Program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import islpy as isl

    from polyviz.model.expression import Instruction
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop, Statement

INITIAL = {"bool": "False", "int64": "0", "float64": "0.0", "complex128": "0j"}


def print_python(
    scop: Scop, plan: Plan, types: Mapping[str, ArrayType], floating_point: FloatingPoint = "reassociate"
) -> Program:
    """``plan`` as plain Python; parallel loops are marked by a comment."""
    return _PythonProgram(scop, plan, types, floating_point, "python").program()


def print_numba(
    scop: Scop, plan: Plan, types: Mapping[str, ArrayType], floating_point: FloatingPoint = "reassociate"
) -> Program:
    """``plan`` for numba: ``prange`` for parallel loops, arithmetic errors as in NumPy."""
    return _PythonProgram(scop, plan, types, floating_point, "numba").program()


@dataclass
class _PythonProgram:
    """The state of printing one function; lives for one call."""

    scop: Scop
    plan: Plan
    types: Mapping[str, ArrayType]
    floating_point: FloatingPoint
    target: str
    text: TextBuilder = field(default_factory=TextBuilder)
    inside_parallel: bool = False
    uses_parallel: bool = False
    uses_index: bool = False
    packed: Instance | None = None
    """The block whose columns are packed already, since all iterations of the loop around it read them."""
    cells: dict[str, str] = field(default_factory=dict)
    """Scalars that a parallel loop assigns and others see, kept in arrays of one element: what an iteration of
    ``prange`` assigns to a variable is lost, or taken for a step of a reduction."""

    def __post_init__(self) -> None:
        self.identifiers = Identifiers(part_names(self.scop), python_reserved(part_names(self.scop), self.target))
        spelled = (*(parameter.name for parameter in self.scop.parameters), *inner_iterators(self.scop))
        names = {name: self.identifiers.of(name) for name in spelled}
        self.index = self.identifiers.derived("index")
        self.failures = () if self.plan.untested else run_time_failures(self.scop)
        self.printer = PythonExpressionPrinter(names, self._element)
        private = frozenset(self.plan.locals) | {expansion.array for expansion in self.plan.expansions}
        self.dtypes = {name: kind.dtype for name, kind in self.types.items()}
        self.dtypes |= {private_name(self.scop, array): self.dtypes[array] for array in private}
        self.bodies = {one.name: self._planned(self.plan, one) for one in self.scop.statements}
        self.given = frozenset(argument.name for argument in self.scop.arguments)
        self.array_sums = NumbaArraySums(self.plan, self.dtypes, self.identifiers, self.printer, self.text)
        self.blocks = NumbaBlocks(self.scop, self.plan, self.types, self.dtypes, self.identifiers, self.printer)
        self.regions = Regions(self.plan, most=2)
        added = self.identifiers.derived
        spelling = Spelling(Environment(self.dtypes), self.printer.expression, added, "{} = {}", scoped=False)
        self.periodic = PeriodicPrinter(self.scop, self.plan, self.text, spelling, self._one_loop, self._one_loop)
        self.numbers: frozenset[str] = frozenset()
        if self.target == "python":
            self.numbers = numpy_scalars([*self.bodies.values()], self.dtypes, self.given)
            self.bodies = {name: self._widened(name) for name in self.bodies}

    def _planned(self, plan: Plan, statement: Statement) -> Sequence[Instruction]:
        body = with_conversions(self.scop, planned_body(self.scop, plan, statement), Environment(self.dtypes))
        return with_copies_computed(body, Environment(self.dtypes)) if self.target == "numba" else body

    def _widened(self, statement: str) -> tuple[Instruction, ...]:
        never_zero = partial(is_never_zero, self.scop.statement(statement))
        return widened(self.bodies[statement], self.dtypes, self.numbers, never_zero)

    def program(self) -> Program:
        loops = lower(self.scop, self.plan, self.identifiers.taken, frozenset(self.blocks.blocks))
        self.bodies |= {mark: self.bodies[block.statement.name] for mark, block in self.blocks.blocks.items()}
        cells = sorted(self._assigned_in_parallel(loops)) if self.target == "numba" else ()
        self.cells = {name: self.identifiers.derived(f"{name}_cell") for name in cells}
        self._prologue()
        self._initial_values(loops)
        self.blocks.find_own(loops, self._runs_in_parallel)
        self.blocks.allocate(self.text, 1)
        functions = self._functions()
        self._apart(self.plan.ahead)
        self._node(loops, 1)
        self._apart(self.plan.behind)
        self._return()
        above = f"{functions.text()}{self._signature()}"
        head = (start := self._head(above + self.text.text())) + above
        shifts = ((start.count("\n"), functions), (head.count("\n"), self.text))
        return Program(
            target=self.target,
            name=self.symbol,
            text=head + self.text.text(),
            arguments=(),
            types=dict(self.types),
            lines={line + shift: origin for shift, text in shifts for line, origin in text.origins.items()},
            floating_point=self.floating_point,
            checked=self.checked,
            failures=self.failures,
            written=written_arrays(self.scop),
            results=result_names(self.scop),
            result_is_tuple=self.scop.is_cell or self.scop.result.is_tuple,
            cut=self.scop.result.cut,
            notes=(*(serial_notes(self.failures) if self.target == "numba" else ()), *self.blocks.notes),
            untiled=tuple(self.blocks.refused),
        )

    def _apart(self, tree: isl.Schedule | None) -> None:
        """What computes the final values of temporaries, with no copies of them, by itself."""
        if tree is None:
            return
        plan = apart(self.plan, tree)
        self.text.add(1, "# The last iteration once more: what it leaves in its temporaries stays visible.")
        own = {one.name: self._planned(plan, one) for one in self.scop.statements}
        bodies, self.bodies, self.inside_parallel = self.bodies, own | reading_back(self.scop, plan), True
        self._node(lower(self.scop, plan, self.identifiers.taken), 1)
        self.bodies, self.inside_parallel = bodies, False

    def _assigned_in_parallel(self, loops: LoopNode) -> set[str]:
        """The scalars without private copies that statements inside parallel loops assign."""
        private = {private_name(self.scop, array) for array in self.plan.locals}
        return {
            part.target.array
            for node in descendants(loops)
            if isinstance(node, For) and self._runs_in_parallel(node)
            for instance in instances(node)
            for part in assignments(self.bodies[instance.statement])
            if not part.target.subscripts and part.target.array not in private
        }

    @property
    def symbol(self) -> str:
        """The name of the function: one called ``min`` must not replace the one that bounds call."""
        return f"{self.scop.name}_" if self.scop.name in PYTHON_RESERVED else self.scop.name

    def _functions(self) -> TextBuilder:
        """The functions of register tiles."""
        names = [self.identifiers.of(parameter.name) for parameter in self.scop.parameters]
        names += [self._whole(name).partition("[")[0] for name in self.dtypes]
        return self.blocks.functions(self._decorator(), names, self._index, self._print_apart)

    def _print_apart(self, text: TextBuilder, loops: LoopNode, indent: int) -> None:
        """``loops`` in a function that some thread calls."""
        self.text, kept = text, self.text
        self.inside_parallel, outside = True, self.inside_parallel
        self._node(loops, indent)
        self.text, self.inside_parallel = kept, outside

    def _head(self, functions: str) -> str:
        """All that stands before ``functions``, the function itself and those of register tiles."""
        lines = []
        if self.uses_index:
            comment = "unsigned: cannot count from the end, so nothing is tested"
            lines += [f"{self.index} = np.uint64  # {comment}", "", ""]
        for helper in sorted(self.printer.helpers):
            lines += [*PYTHON_HELPERS[helper].splitlines(), "", ""]
        helpers = "".join(f"{line}\n" for line in lines)
        words = f'"""{title_of(self.scop, self.plan)}"""'
        return f"{words}\n\n{imports_of(helpers + functions)}\n{helpers}"

    def _signature(self) -> str:
        arguments = ", ".join(self.identifiers.of(argument.name) for argument in self.scop.arguments)
        decorator = f"{self._decorator()}\n" if self.target == "numba" else ""
        return f"{decorator}def {self.symbol}({arguments}):\n"

    @property
    def checked(self) -> bool:
        """Whether some subscripts or steps can only be tested while the loops run."""
        return bool(self.failures)

    def _decorator(self) -> str:
        options = ["parallel=True"] if self.uses_parallel else []
        if self.checked:
            options.append("boundscheck=True")
        options.append('error_model="numpy"')
        if allowed := fast_math(self.scop, Environment(self.dtypes), self.floating_point):
            options.append(allowed)
        return f"@numba.njit({', '.join(options)})"

    def _prologue(self) -> None:
        for parameter in self.scop.parameters:
            if parameter.name not in self.given:
                value = parameter_value(self.scop, parameter, self.identifiers, self.printer)
                self.text.add(1, f"{self.identifiers.of(parameter.name)} = {value}")
        for name in sorted(self.numbers & self.given):
            argument = self.identifiers.of(name)
            self.text.add(1, f"{argument} = np.{numpy_name(self.dtypes[name])}({argument})  # wraps around")
        for array in self.scop.arrays:
            if array.creation is not None and array.rank:
                made = creation(array, self.types[array.name].dtype, self.printer)
                self.text.add(1, f"{self.identifiers.of(array.name)} = {made}")
        for expansion in self.plan.expansions:
            dtype = self.types[expansion.array].dtype
            line = expansion_line(self.scop, expansion, dtype, self.identifiers, self.printer)
            self.text.add(1, line)
        for name, cell in self.cells.items():
            initial = self.identifiers.of(name) if name in self.given else "0"
            self.text.add(1, f"{cell} = np.full(1, {initial}, dtype=np.{numpy_name(self.types[name].dtype)})")

    def _initial_values(self, loops: LoopNode) -> None:
        """Values for variables that a condition keeps from being read without one, or that may be handed back so."""
        known = self.given | self.cells.keys()
        for name in sorted((read_first(loops, self.bodies) | {*unsure_results(self.scop)}) - known):
            dtype = self.dtypes[name]
            plain = dtype in INITIAL and name not in self.numbers
            value = INITIAL[dtype] if plain else f"np.{numpy_name(dtype)}(0)"
            self.text.add(1, f"{self.identifiers.of(name)} = {value}  # where nothing assigns it")

    def _return(self) -> None:
        flat = {one.name for one in self.scop.arrays if one.rows and one.origin == "local"}
        names = [self._whole(name) + ".reshape(-1)" * (name in flat) for name in result_names(self.scop)]
        if not names:
            return
        comma = "," if (self.scop.result.is_tuple or self.scop.is_cell) and len(names) == 1 else ""
        self.text.add(1, f"return {', '.join(names)}{comma}")

    def _node(self, node: LoopNode, indent: int) -> None:
        match node:
            case Block(children) if not children:
                self.text.add(indent, "pass")
            case Block(children):
                for child in children:
                    self._node(child, indent)
            case If(condition, then, otherwise):
                self.text.add(indent, f"if {self.printer.expression(condition)}:")
                self._node(then, indent + 1)
                if otherwise is not None:
                    self.text.add(indent, "else:")
                    self._node(otherwise, indent + 1)
            case For() if (guard := guard_of_loop(self.scop, node, self.bodies)) is not None:
                self.text.add(indent, f"if {self.printer.expression(guard.asked)}:")
                with granted((node,), self.bodies):
                    self._node(node, indent + 1)
            case For():
                self._for(node, indent)
            case Instance():
                self._instance(node, indent)

    def _for(self, node: For, indent: int) -> None:
        has_parts = self.target == "numba" and not node.reduced
        if not (has_parts and self.periodic.write(node, self.bodies, indent)):
            self._one_loop(node, indent)

    def _one_loop(self, node: For, indent: int) -> None:
        if not self._written_twice(node, indent):
            self._loop(node, indent)

    def _written_twice(self, node: For, indent: int) -> bool:
        """Write a parallel loop inside others for threads, if its work pays for their start, and for one."""
        mark = node.parallel or node.reduced
        starts = self.target == "numba" and self._runs_in_parallel(node) and not self.inside_parallel
        has_blocks = any(instance.statement in self.blocks.blocks for instance in instances(node))
        work = self.regions.work_to_ask_for(node, mark) if starts and not has_blocks else None
        if work is None:
            return False
        with self.regions.deciding(mark):
            self.text.add(indent, f"if {self.printer.expression(work)} > {SMALLEST_PARALLEL_WORK}:")
            self._loop(node, indent + 1)
            self.text.add(indent, "else:")
            self._loop(replace(node, parallel="", reduced=""), indent + 1)
        return True

    def _loop(self, node: For, indent: int) -> None:
        parallel = self._runs_in_parallel(node) and not self.inside_parallel
        if parallel and self._adds_into_copies(node):
            self._share(node, indent)
            return
        self.packed = self._pack_before(node, indent, team=parallel)
        if parallel and self.target == "numba":
            self._parallel_header(node, indent)
        else:
            comment = "  # parallel" if parallel else ""
            numbers = range_text(self.printer, node.start, node.stop, node.step)
            self.text.add(indent, f"for {node.iterator} in {numbers}:{comment}")
        self.inside_parallel, outside = self.inside_parallel or parallel, self.inside_parallel
        self.uses_parallel = self.uses_parallel or parallel
        with self.regions.inside(node):
            self._node(node.body, indent + 1)
        self.inside_parallel = outside

    def _pack_before(self, node: For, indent: int, *, team: bool) -> Instance | None:
        """Pack what all iterations of ``node`` read, where they are blocks; a ``team`` of threads does it."""
        found = self.blocks.pack_before(node)
        if found is not None:
            start, stop = self.printer.bound(node.start), self.printer.bound(node.stop)
            self.text.add(indent, f"if {start} < {stop}:")
            self.blocks.pack(self.text, found, indent + 1, inside=self.inside_parallel, team=team)
        return found

    def _runs_in_parallel(self, node: For) -> bool:
        # numba loses what an iteration of prange raises, so loops with tested subscripts or steps stay serial there;
        # and its parallel loops take microseconds to start also for one thread.
        shared = bool(node.parallel) or self._adds_into_copies(node)
        return shared and not (self.target == "numba" and (self.checked or self.plan.threads == 1))

    def _adds_into_copies(self, node: For) -> bool:
        reorders = self.target == "numba" and self.floating_point == "reassociate"
        return reorders and copies_allowed(node, self.array_sums.sums)

    def _share(self, node: For, indent: int) -> None:
        """A loop whose iterations go to threads that add into copies of their own."""
        self.uses_parallel = self.inside_parallel = True
        self.array_sums.start(node, indent)
        self.bodies, shared = self.array_sums.bodies(node, self.bodies), self.bodies
        self._node(node.body, indent + 2)
        self.bodies, self.inside_parallel = shared, False
        self.array_sums.finish(node, indent)

    def _parallel_header(self, node: For, indent: int) -> None:
        counter = self.identifiers.derived(f"{node.iterator}_number")
        ends = None
        if is_slanted(node) or self.blocks.is_slanted(node):
            ends = BothEnds(*(self.identifiers.derived(f"{node.iterator}_{name}") for name in ("count", "turn")))
        for level, line in parallel_lines(self.printer, node, counter, ends):
            self.text.add(indent + level, line)

    def _instance(self, node: Instance, indent: int) -> None:
        if node.statement in self.blocks.blocks:
            if node is not self.packed:
                self.blocks.pack(self.text, node, indent, inside=self.inside_parallel, team=False)
            self.blocks.update(self.text, node, indent, inside=self.inside_parallel)
            return
        statement = self.scop.statement(node.statement)
        body = placed_body(statement, self.bodies[node.statement], node.arguments)
        lines = self.printer.instructions(body, 0)
        for number, line in enumerate(lines):
            comment = f"  # line {statement.span.line}" if number == 0 else ""
            self.text.add(indent, line + comment, statement)

    def _element(self, element: Element, printer: PythonExpressionPrinter) -> str:
        name = self._whole(element.array)
        if not element.subscripts:
            return name
        return f"{name}[{', '.join(self._subscript(subscript, printer) for subscript in element.subscripts)}]"

    def _whole(self, array: str) -> str:
        """An array, or the value of a scalar."""
        return f"{self.cells[array]}[0]" if array in self.cells else self.identifiers.of(array)

    def _subscript(self, subscript: Expression, printer: PythonExpressionPrinter) -> str:
        text = printer.expression(subscript)
        moves = any(isinstance(part, Name) for part in walk(subscript))
        return self._index(text) if self.target == "numba" and moves else text

    def _index(self, text: str) -> str:
        """The subscript ``text`` where nothing is known to be wrong with it."""
        if self.checked:
            return text
        self.uses_index = True
        return f"{self.index}({text})"
