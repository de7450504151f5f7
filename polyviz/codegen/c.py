"""The C printer: loops with OpenMP, arrays as C99 arrays of run-time extents, original expressions and names."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from polyviz.codegen.accumulate_c import AccumulationPrinter
from polyviz.codegen.array_sums_c import ArraySumPrinter
from polyviz.codegen.arrays_c import ArrayPrinter
from polyviz.codegen.blocks_c import BlockPrinter
from polyviz.codegen.bodies import apart, placed_body, private_name, reading_back, work_of
from polyviz.codegen.body_versions_c import BodyVersions
from polyviz.codegen.bytes_apart import lanes_of
from polyviz.codegen.calling import local_arrays, made_sizes, result_names, written_arrays
from polyviz.codegen.choices_c import ChoicePrinter
from polyviz.codegen.conditional_cells_c import CellPrinter
from polyviz.codegen.even_strips_c import StripPrinter
from polyviz.codegen.expressions_c import CExpressionPrinter, never_free
from polyviz.codegen.factored import planned_bodies
from polyviz.codegen.guards_c import GuardPrinter
from polyviz.codegen.held_tiles_c import HeldTilePrinter
from polyviz.codegen.jam_c import JamPrinter
from polyviz.codegen.lanes_around_c import LanesAroundPrinter
from polyviz.codegen.lifted_c import LiftedPrinter
from polyviz.codegen.local_ranges import ranges_of_locals
from polyviz.codegen.loops import Block, For, If, Instance, LoopNode
from polyviz.codegen.lower import lower
from polyviz.codegen.mirrored_c import MirrorPrinter
from polyviz.codegen.panels_c import PanelPrinter
from polyviz.codegen.parted_c import PartPrinter
from polyviz.codegen.periodic import PeriodicPrinter, spelling_of_c
from polyviz.codegen.pipeline_c import PipelinePrinter
from polyviz.codegen.regions import SMALLEST_PARALLEL_WORK
from polyviz.codegen.regions_c import RegionPrinter
from polyviz.codegen.regularity import CHUNK, dynamic, is_collapsed, is_regular
from polyviz.codegen.reserved_c import C_RESERVED
from polyviz.codegen.row_blocks_c import RowBlockPrinter
from polyviz.codegen.rows_ahead_c import RowsAheadPrinter
from polyviz.codegen.runtime_c import helper_source
from polyviz.codegen.select_c import Choice, SelectPrinter
from polyviz.codegen.shared_values_c import SharedValuePrinter
from polyviz.codegen.teams_c import TeamPrinter
from polyviz.codegen.temporaries_c import TemporaryPrinter
from polyviz.codegen.text import TextBuilder, title_of
from polyviz.codegen.threads_c import PIPELINE, THREADS
from polyviz.codegen.time_steps_c import TimeStepPrinter
from polyviz.codegen.unroll import written_out
from polyviz.codegen.vector_library_c import vector_declarations
from polyviz.codegen.vectors_c import VectorFunctions
from polyviz.codegen.versions_c import VersionPrinter
from polyviz.codegen.windows_kept_c import WindowPrinter
from polyviz.mapping.blocks import SMALLEST_SHARED_WORK
from polyviz.model.program import ArrayType, FloatingPoint, Program, ProgramArgument

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import islpy as isl

    from polyviz.model.expression import Instruction
    from polyviz.model.plan import Plan
    from polyviz.model.scop import Scop


def print_c(
    scop: Scop,
    plan: Plan,
    types: Mapping[str, ArrayType],
    floating_point: FloatingPoint = "reassociate",
) -> Program:
    """``plan`` as a C function over arrays of the given ``types`` (locals and scalars included).

    The function returns 0, ``NO_MEMORY``, or the 1-based number of the entry of ``Program.failures`` that was hit.
    Raises ``CodegenError`` for what C cannot express.
    """
    return _CProgram(scop, plan, types, floating_point).program()


@dataclass
class _CProgram:
    """The state of printing one function; lives for one call of ``print_c``. ``sharing``: a team of threads runs what
    is printed; ``in_lanes``: it is inside a vector loop, where the compiler writes out the loops that are left."""

    scop: Scop
    plan: Plan
    types: Mapping[str, ArrayType]
    floating_point: FloatingPoint
    text: TextBuilder = field(default_factory=TextBuilder)
    sharing: bool = False
    in_lanes: bool = False
    chosen: Choice | None = None

    def __post_init__(self) -> None:
        self.arrays = ArrayPrinter(self.scop, self.types, C_RESERVED, untested=self.plan.untested)
        names = {array.name: self.types[array.name].dtype for array in self.scop.arrays}
        self.private = frozenset(self.plan.locals) | {expansion.array for expansion in self.plan.expansions}
        self.dtypes = names | {private_name(self.scop, array): names[array] for array in self.private}
        ways = (self.arrays.variable_names, self.arrays.element, self.arrays.step, self.arrays.going_on)
        self.printer = CExpressionPrinter(self.dtypes, *ways, scales=self.floating_point == "reassociate")
        self.bodies = planned_bodies(self.scop, self.plan, self.printer.environment, self.floating_point)
        self.printer.ranges = ranges_of_locals(self.scop, self.plan, self.dtypes, self.bodies)
        self.printer.steady, self.printer.fixed = self.arrays.steady, self.arrays.fixed
        shown = (self.arrays, self.printer, self.text)
        self.blocks = BlockPrinter(self.scop, self.plan, self.types, *shown, self._node, self.floating_point)
        self.teams = TeamPrinter(self.scop, self.plan, self.dtypes, *shown, self.blocks)
        self.strips, self.regions = StripPrinter(self.scop, self.plan, *shown), RegionPrinter(self.plan, *shown[1:])
        self.temporaries = TemporaryPrinter(self.scop, self.plan, self.bodies, self.dtypes, self.arrays, self.printer)
        self.vectors = VectorFunctions(self.plan.vectors)
        typed = (self.types, self.private, self.dtypes, *shown, self.floating_point)
        folded = (self.bodies, self.temporaries.declarations, self.vectors)
        self.folds = AccumulationPrinter(self.scop, self.plan, *typed, *folded)
        self.cells = CellPrinter(self.scop, self.folds, *shown, self._plain_loop, self.bodies)
        self.selects = SelectPrinter(self.scop, self.plan, self.dtypes, *shown)
        self.choices = ChoicePrinter(*shown[:2], self.floating_point, wanted=self.plan.selects is not None)
        self.around = LanesAroundPrinter(self.scop, self.plan, self.dtypes, *shown, self._node)
        self.windows = WindowPrinter(self.scop, self.types, self.dtypes, *shown)
        self.shared = SharedValuePrinter(self.scop, self.dtypes, *shown)
        self.versions = VersionPrinter(self.scop, self.plan, *shown, self._loop)
        self.printer.versions = BodyVersions(self.scop, self.plan, self.dtypes, *shown[:2]).lines
        self.parted = PartPrinter(self.scop, self.plan, *shown, self._loop)
        self.row_blocks = RowBlockPrinter(self.scop, self.types, self.private, *shown, self._node, self.vectors)
        swept = (self.scop, self.plan, self.row_blocks.types)
        self.lifted = LiftedPrinter(*swept, self.dtypes, *shown, self._plain_loop, self.vectors, self.floating_point)
        self.held = HeldTilePrinter(*swept, *shown, self._node, self.vectors)
        self.guards, self.jams = GuardPrinter(self.scop, *shown, self._node), JamPrinter(self.scop, *shown, self._node)
        self.time = TimeStepPrinter(*swept, *shown, self._plain_loop, self.vectors)
        self.panels = PanelPrinter(*typed, self.folds, self.vectors)
        self.pipelines = PipelinePrinter(self.plan, *shown, self.blocks, self.row_blocks, self._node)
        self.mirrors = MirrorPrinter(self.scop, self.plan, self.dtypes, *shown)
        self.ahead = RowsAheadPrinter(self.scop, self.plan, self.types, *shown)
        self.periodic = PeriodicPrinter(
            self.scop, self.plan, self.text, spelling_of_c(self.printer, self.arrays), self._plain_loop, self._one_loop
        )
        added = (*shown, self.floating_point, SMALLEST_PARALLEL_WORK, self.bodies)
        self.array_sums = ArraySumPrinter(self.plan, self.types, self.dtypes, *added)

    def program(self) -> Program:
        self._apart(self.plan.ahead)
        self._top(lower(self.scop, self.plan, self.arrays.taken, frozenset(self.blocks.blocks)))
        self._apart(self.plan.behind)
        prologue = self._prologue()
        self._epilogue()
        arguments = self.arrays.arguments()
        self.vectors.write(functions := self.blocks.functions())
        start = self._head(between := f"{functions.text()}\n" if functions.lines else "")
        head = f"{start}{between}{self._signature(arguments)}{prologue}"
        printers = (self.blocks, self.array_sums, self.lifted, self.held, self.panels, self.row_blocks, self.time)
        shifts = ((start.count("\n"), functions), (head.count("\n"), self.text))
        return Program(
            target="c",
            name=self.symbol,
            text=head + self.text.text(),
            arguments=arguments,
            types=dict(self.types),
            lines={line + shift: origin for shift, text in shifts for line, origin in text.origins.items()},
            floating_point=self.floating_point,
            checked=bool(self.arrays.failures),
            failures=tuple(self.arrays.failures),
            locals=local_arrays(self.scop, self.types),
            sizes=made_sizes(self.scop),
            written=written_arrays(self.scop),
            results=result_names(self.scop),
            result_is_tuple=self.scop.is_cell or self.scop.result.is_tuple,
            cut=self.scop.result.cut,
            notes=tuple(note for printer in (*printers, self.pipelines, self.mirrors) for note in printer.notes),
            untiled=tuple(self.blocks.refused),
        )

    def _top(self, node: LoopNode) -> None:
        """The loops of the whole function; buffers for blocks that no parallel loop surrounds live as long as these."""
        self.blocks.allocate(marks := self.blocks.below(node, outside_parallel=True), 1)
        self.blocks.allocate_lasting(node, 1)
        self.lifted.write_or(self.bodies, 1, lambda indent: self._node(node, indent))
        self.blocks.release(marks, 1)
        self.blocks.release(self.blocks.lasting, 1, shared=True)

    def _apart(self, tree: isl.Schedule | None) -> None:
        """What computes the final values of temporaries, with no copies of them, by itself."""
        if tree is None:
            return
        self.text.add(1, "/* The last iteration once more: what it leaves in its temporaries stays visible. */")
        plan = apart(self.plan, tree)
        bodies, self.in_lanes = self.bodies, True
        self.bodies = planned_bodies(self.scop, plan, self.printer.environment, self.floating_point)
        self.bodies |= reading_back(self.scop, plan)
        self._node(lower(self.scop, plan, self.arrays.taken), 1)
        self.bodies, self.in_lanes = bodies, False

    @property
    def symbol(self) -> str:
        """The exported name; prefixed so that no function of the C library is shadowed."""
        return f"kernel_{self.scop.name}"

    def _head(self, functions: str) -> str:
        """All that stands before the function itself, and before those of register tiles."""
        is_complex = self.printer.uses_complex or any(name.startswith("complex") for name in self.dtypes.values())
        includes = ["#include <complex.h>\n#undef I"] * is_complex
        users = (self.array_sums, self.pipelines, self.teams, self.strips, self.blocks.even)
        includes += [f"#include <{name}.h>" for name in ("math", "stdint", "stdlib")]
        includes += [THREADS] * any(user.used for user in users) + [PIPELINE] * self.pipelines.used
        helpers = helper_source(self.printer.helpers | self.arrays.helpers)
        several = vector_declarations(f"{helpers}\n{functions}\n{self.text.text()}", self.floating_point)
        start = "\n".join([f"/* {title_of(self.scop, self.plan)} */", *includes])
        return "".join(f"{part}\n\n" for part in (start, several, helpers) if part)

    def _signature(self, arguments: tuple[ProgramArgument, ...]) -> str:
        parameters = ",\n    ".join(map(self.arrays.declaration, arguments)) or "void"
        return f"int64_t {self.symbol}(\n    {parameters})\n{{\n"

    def _prologue(self) -> str:
        """Written last, since only the loops tell which failures there are."""
        lines = (*self.arrays.prologue(self.private), *self.temporaries.allocations())
        failure = "    int64_t failure = 0;\n" if self.arrays.helpers else ""
        return failure + "".join(f"    {line}\n" for line in lines)

    def _epilogue(self) -> None:
        for line in (*self.temporaries.releases(), *self.arrays.epilogue()):
            self.text.add(1, line)
        self.text.add(1, f"return {'failure' if self.arrays.helpers else 0};")
        self.text.add(0, "}")

    def _node(self, node: LoopNode, indent: int) -> None:
        match node:
            case Block() | For() if not self.sharing and self.blocks.team(node) is not None:
                self.teams.together(node, SMALLEST_SHARED_WORK, indent, self._shared)
            case Block():
                self._block(node, self.temporaries.declarations(node), indent)
            case If(condition, then, otherwise):
                for head, part in ((f"if ({self.printer.expression(condition)}) {{", then), ("} else {", otherwise)):
                    if part is not None:
                        self.text.add(indent, head)
                        self._node(part, indent + 1)
                self.text.add(indent, "}")
            case For() if self.in_lanes or not self.guards.write_loop(node, self.bodies, indent):
                self._loop(node, indent)
            case Instance():
                self._instance(node, indent)

    def _block(self, node: Block, declarations: list[str], indent: int, *, is_last: bool = True) -> None:
        for line in declarations:
            self.text.add(indent, line)
        done = 0
        for place, child in enumerate(node.children):
            row = node.children[place:]
            if place >= done and not self.mirrors.write(row[:2], self.bodies, indent):
                done = place + (0 if self.in_lanes else self.guards.write_row(row, self.bodies, indent))
                if done == place:
                    self._child(child, indent, is_last=is_last and len(row) == 1)

    def _child(self, node: LoopNode, indent: int, *, is_last: bool) -> None:
        """One of several nodes in a row, in a scope of its own if it declares: isl may write it again behind itself."""
        if not isinstance(node, Block) or self.blocks.team(node) is not None:
            self._node(node, indent)
            return
        declarations = self.temporaries.declarations(node)
        is_scope = bool(declarations) and not is_last
        if is_scope:
            self.text.add(indent, "{")
        self._block(node, declarations, indent + is_scope, is_last=is_last or is_scope)
        if is_scope:
            self.text.add(indent, "}")

    def _loop(self, node: For, indent: int) -> None:
        if node.parallel and self.sharing:
            self._plain_loop(node, indent, "#pragma omp for schedule(dynamic)")
            return
        node = self.strips.sized(node, indent)
        marks = self.blocks.below(node, outside_parallel=False) if self.blocks.is_divided(node) else []
        if self.pipelines.is_row_loop(node):
            self.pipelines.write_rows(node, self.bodies, marks, indent, self.regions.clause(node.pipeline))
            return
        if self.pipelines.is_tile_loop(node):
            self.pipelines.write_tiles(node, indent)
            return
        buffered = any(self.blocks.blocks[mark].tile.packed for mark in marks)
        if buffered or node.parallel in self.teams.copies:
            turns = self.blocks.turns(node, marks) if buffered else self._turns(node)
            least = SMALLEST_SHARED_WORK if buffered else SMALLEST_PARALLEL_WORK
            self.teams.write(node, marks, turns, least, indent, self._plain_loop)
            return
        if node.reduced in self.array_sums.sums:
            self._team_with_copies(node, indent)
            return
        if self.in_lanes:
            self._plain_loop(node, indent, written_out(node))
        elif (parts := self.parted.parts(node, self.bodies)) is not None:
            self.parted.write(parts, self.bodies, indent)
        elif condition := self.versions.condition(node, self.bodies):
            self.versions.write(node, condition, indent)
        elif not self.periodic.write(node, self.bodies, indent):
            self._one_loop(node, indent, regular=is_regular(node, self.scop) and not marks)

    def _one_loop(self, node: For, indent: int, *, regular: bool = True) -> None:
        """A loop in a form of its own, or by itself, below what tells the compiler how its iterations may run."""
        if self._whole_nest(node, indent):
            return
        if node.parallel:
            if self.regions.write(node, indent, partial(self._one_loop, regular=regular)):
                return
            share = "parallel for collapse(2)" if regular and is_collapsed(node) else "parallel for"
            share += f" schedule({'static' if regular else self._turns(node)})"
            share += self.regions.clause(node.parallel)
            self.text.add(indent, f"#pragma omp {share}")
            self.chosen = self.selects.free_choice(node, self.bodies)
        elif node.vector:
            self._vector_loop(node, indent)
            return
        elif node.interleave > 1:
            self.text.add(indent, f"#pragma GCC unroll {node.interleave}")
        self._plain_loop(node, indent) if self.chosen is None else self._choosing_loop(node, indent)

    def _turns(self, node: For) -> str:
        return dynamic(node, self.scop, work_of(self.plan, node.parallel), self.printer.expression)

    def _vector_loop(self, node: For, indent: int) -> None:
        """A loop in vector lanes, which do not branch where they can choose instead."""
        if self.around.write(node, self.bodies, indent):
            return
        self.chosen = self.selects.choice(node, self.bodies)
        chosen = self.selects.opened(node, self.chosen, self.bodies, indent)
        with chosen as there, self.windows.kept(node, self.bodies, there) as inside:
            if pragma := lanes_of(self.scop, node, self.bodies, self.dtypes):
                self.text.add(inside, pragma)
            self._choosing_loop(node, inside)

    def _choosing_loop(self, node: For, indent: int) -> None:
        """A loop that does not branch, once it is known what is ``chosen``."""
        self.in_lanes, self.printer.is_free = True, never_free if self.plan.selects is None else self.arrays.is_free
        self._plain_loop(node, indent)
        self.in_lanes, self.printer.is_free, self.chosen = False, never_free, None

    def _whole_nest(self, node: For, indent: int) -> bool:
        """Print ``node`` with all that is in it in one of the forms that are made for some nests, if it has one."""
        if (held := self.held.nest(node, self.bodies)) is not None:
            self.held.write(held, indent)
        elif (fold := self.folds.fold(node, self.bodies)) is not None:
            self.folds.write(fold, indent)
        elif self.cells.write(node, self.bodies, indent):
            return True
        elif (nest := self.lifted.nest(node, self.bodies)) is not None:
            self.lifted.write(nest, indent)
        elif (panel := self.panels.panel(node, self.bodies)) is not None:
            self.panels.write(panel, indent)
        elif (rows := self.jams.rows(node)) is not None:
            self.jams.write(rows, self.bodies, indent)
        elif (block := self.row_blocks.block(node, self.bodies)) is not None:
            self.row_blocks.write(block, indent)
        elif (stages := self.time.stages(node, self.bodies)) is not None:
            self.time.write(stages, indent)
        else:
            return False
        return True

    def _shared(self, node: LoopNode, indent: int) -> None:
        """``node`` inside of what a team of threads runs."""
        self.sharing = True
        self._node(node, indent)
        self.sharing = False

    def _team_with_copies(self, node: For, indent: int) -> None:
        """A parallel loop whose threads add into copies of their own; which iterations each gets is always the same."""
        scheduling = "static" if is_regular(node, self.scop) else f"static, {CHUNK}"

        def print_loop(bodies: dict[str, Sequence[Instruction]], loop: For, inside: int) -> None:
            self.bodies, shared = bodies, self.bodies
            if loop is node:
                self._plain_loop(node, inside)
            elif not self.periodic.write(loop, bodies, inside):
                self._one_loop(loop, inside)
            self.bodies = shared

        self.array_sums.write(node, self.bodies, indent, scheduling, print_loop, self.folds)

    def _plain_loop(self, node: For, indent: int, pragma: str = "") -> None:
        if not pragma and self.ahead.write(node, self.bodies, indent, self._plain_loop):
            return
        even = self.blocks.even
        node = even.divided(node, self.blocks.blocks, indent, team=self.sharing)
        packed = self.blocks.pack_repeated(node, indent, team=self.sharing)
        if pragma:
            self.text.add(indent, pragma)
        self.text.add(indent, f"for ({even.header(node)}) {{")
        for line in (*even.lines(node), *self.teams.own_arrays(node), *self.ahead.lines(node)):
            self.text.add(indent + 1, line)
        with self.temporaries.inside(node), self.choices.inside(node), self.regions.inside(node):
            self._node(node.body, indent + 1)
        self.text.add(indent, "}")
        self.blocks.packed.discard(packed)
        even.left(node)

    def _instance(self, node: Instance, indent: int) -> None:
        if node.statement in self.blocks.blocks:
            self.blocks.block(node.statement, node.arguments, indent, packed=node.statement in self.blocks.packed)
            return
        statement = self.scop.statement(node.statement)
        body = placed_body(statement, self.bodies[node.statement], node.arguments)
        lines = [self.chosen.body] if self.chosen else body
        self.shared.write(statement, [self.arrays.by_numbers(line) for line in lines], indent)
