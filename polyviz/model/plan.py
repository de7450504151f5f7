"""A schedule bound to a target: which loops are parallel or vector, where temporaries live."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from polyviz.model.expression import Element, walk

if TYPE_CHECKING:
    import islpy as isl

    from polyviz.errors import Span
    from polyviz.model.device import DevicePlan
    from polyviz.model.expression import Expression
    from polyviz.model.processor import Processor
    from polyviz.model.schedule import Decision, Schedule

PARALLEL = "parallel"
VECTOR = "vector"
LOCAL = "local"
POINTS = "points"
END = "end"
UNROLL = "unroll"
BLOCK = "block"
TEAM = "team"
CONCURRENT = "concurrent"
REDUCED = "reduced"
INTERLEAVE = "interleave"
JAM = "jam"
UNROLL_JAM = "unroll-jam"
PIPELINE = "pipeline"
WAITING = "waiting"
COLLAPSED = "collapsed"
HELD_ROWS = "held-rows"
HELD_COLUMNS = "held-columns"
"""Names of the mark nodes a plan's tree carries. ``parallel`` (with a number as its ending, ``parallel:0``) and
``vector`` stand above a band of one member and ``end`` below it: isl writes no loop for a member whose value is fixed,
and the next loop must not take its place. ``local`` (with the names of the temporaries as the mark's ending,
``local:t,s``) stands where they are declared; ``points`` (with a number as its ending) above the point loops of a
tiled band. ``unroll`` (with the number of copies as its ending, ``unroll:4``) stands above a band of one member, too.
``interleave`` (with their number as its ending, ``interleave:8``) stands above a band of one parallel member whose
iterations the compiler should write side by side; above ``vector``, in one instruction. ``jam`` (with their number as
its ending, ``jam:4``) stands above a band of one parallel member whose iterations may run together inside the vector
loop below it, ``unroll-jam:4`` above one whose iterations may do so in order: it may be exchanged with the loop below.
``block`` (with a number as its ending) stands above point loops that may run as one piece, by register tiles; ``team``
(with the same number) above the tile loops around them where threads share what is packed.
``concurrent`` is set by schedulers above a band whose first two rows add up to a time from which all tiles can
start. ``reduced`` (with a number as its ending) stands, like ``parallel``, above a loop that threads may share once
each adds into a copy of its own of the arrays that iterations have in common.
``pipeline`` (with a number as its ending) stands above a loop over rows of tiles that threads take in turn, ``waiting``
above the loop over the tiles of a row, each of which starts once the row before has passed it. ``collapsed`` stands
above a parallel loop right inside a ``parallel`` one: threads share the pairs of their iterations. ``held-columns``
stands above a parallel loop along cells that may stay in vector registers through all loops of a sum, which are right
inside it; ``held-rows`` above one around it whose iterations may do so together, with the same columns and sums."""

LONGEST_WINDOW = 8
"""Steps of a sum that are written out for rows under ``held-rows``, which find what they need in one another's."""

TARGET_MARKS = frozenset({
    PARALLEL, VECTOR, LOCAL, POINTS, END, UNROLL, BLOCK, TEAM, REDUCED, INTERLEAVE, JAM, UNROLL_JAM, PIPELINE, WAITING,
    COLLAPSED, HELD_ROWS, HELD_COLUMNS,
})  # fmt: skip
"""The kinds of marks that bind a tree to a target; they promise what was proven for that binding only."""

SUM = "sum"
ROWS, COLUMNS, SCALARS = "row", "column", "scalar"
"""Stems of the names in ``RegisterTile.update``: ``sum`` for the updated cell, ``row0``, ``column0`` … for operands."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """A privatized scalar whose copies could not share one variable: it becomes an array.

    One copy per iteration of the ``depth`` outermost loops around each access; the first ``shared`` of them run one
    after the other and use the same cells. ``lower`` is the smallest value of each of the other iterators over the
    parameters, ``extents`` the number of values from there on. ``window``: where it is not 0, only so many copies, a
    power of two, of neighbouring iterations are alive together, and an array of that size is declared where a ``local``
    mark stands; copy ``i`` is in cell ``i mod window``. ``is_sparse``: of the array, the iterations of inner loops use
    few cells for some sizes, as in a band along the diagonal of a matrix.
    """

    array: str
    depth: int
    lower: tuple[isl.PwAff, ...]
    extents: tuple[isl.PwAff, ...]
    shared: int = 0
    window: int = 0
    is_sparse: bool = False


@dataclass(frozen=True, slots=True)
class FinalValue:
    """The instances of ``statement`` whose write of the private scalar ``array`` is what the user sees afterwards."""

    array: str
    statement: str
    instances: isl.Set


@dataclass(frozen=True, slots=True)
class FullTiles:
    """The full tiles of a tiled band: values of all loops around the mark called ``mark``."""

    mark: str
    tiles: isl.Set


@dataclass(frozen=True, slots=True)
class BlockTiles:
    """Tiles under the mark called ``mark`` that run as ``blocks`` (marks of register tiles), one after the other.

    ``tiles`` are values of all loops around the mark.
    """

    mark: str
    tiles: isl.Set
    blocks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ArraySum:
    """Threads that share the loop under ``mark`` (``reduced:0``) add into copies of their own of one array.

    ``statement`` alone touches ``array`` there, and only adds to it. ``lower`` is the first cell it reaches over the
    parameters, ``extent`` the number of cells from there on, None for all of the array, where data decide which cells
    are reached; the array has ``rank`` dimensions, one or, for a single number, none.
    """

    mark: str
    statement: str
    array: str
    lower: isl.PwAff
    extent: isl.PwAff | None
    rank: int = 1


@dataclass(frozen=True, slots=True)
class Accumulation:
    """An innermost loop of ``statement`` folds values into one cell, which stays in a register meanwhile.

    ``operator`` joins them. ``stride``: ``unit`` when everything that moves in the loop does so along contiguous
    memory, ``strided`` when something jumps by a constant, ``scattered`` when subscripts depend on data. Where sums
    may be reordered, ``lanes`` of them run beside each other along memory (0 for none). ``values``: the statements of
    the loop that give temporaries, from which it may take what it joins; they read along memory too.
    """

    statement: str
    operator: str
    stride: Literal["unit", "strided", "scattered"]
    lanes: int = 0
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Inside:
    """An expression of ``statement`` that is something simpler but at the ends of a loop: ``written`` is ``inside``
    where none of ``holds``, linear in iterators and sizes, is negative."""

    statement: str
    written: Expression
    inside: Expression
    holds: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Lifting:
    """A loop that holds nothing but sweeps: one vector loop for each of ``statements``, in this order.

    Each assigns a cell of a row from its neighbours. ``arrays`` are the rows, of one dimension; what else the
    statements read neither changes in the sweeps nor moves with them.
    """

    statements: tuple[str, ...]
    arrays: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mirror:
    """Two vector loops, one behind the other, over the same row: ``first`` computes cells of ``temporary`` from those
    of a row and their mirror images, ``second`` copies them into the row, and nobody else reads them."""

    first: str
    second: str
    temporary: str


@dataclass(frozen=True, slots=True)
class TimeSteps:
    """``count`` iterations of a loop over time that may run together: it holds one vector loop for each of
    ``statements``, in this order.

    Each iteration runs ``skew`` columns behind the one before it, each statement ``lags`` columns behind the first one.
    Instances depend on such in no later column and no later iteration only.
    """

    statements: tuple[str, ...]
    skew: int
    lags: tuple[int, ...]
    count: int


@dataclass(frozen=True, slots=True)
class LateTerms:
    """Cells that ``statement`` reads a few iterations after it computed them: how many, by where they stand."""

    statement: str
    waits: tuple[tuple[Span, int], ...]


@dataclass(frozen=True, slots=True)
class RowsAhead:
    """``statement`` walks down rows of an array in a strip of at most ``width`` columns; ``cache`` bytes of rows are
    still there for the next strip."""

    statement: str
    width: int
    cache: int


@dataclass(frozen=True, slots=True)
class AlignedRows:
    """``arrays`` that stand in copies while a loop over time runs: ``column`` of each row begins a cache line there."""

    arrays: tuple[str, ...]
    column: int


@dataclass(frozen=True, slots=True)
class TileRows:
    """Rows of tiles: the ``values`` of the loop that they are cut from, and how many of these are the ``height`` of a
    row."""

    values: isl.Set
    height: int


@dataclass(frozen=True, slots=True)
class ParallelWork:
    """What one run of the loop under the mark called ``mark``, or a row of its tiles, has to do: the product of
    ``extents``.

    ``copies`` are arrays that every iteration fills before it reads them: each thread works on a copy of its own, but
    in the last iteration on the array itself. ``aligned`` arrays are copied before the loop and back behind it, where
    that pays. ``rows`` are those that threads take in turn.
    """

    mark: str
    extents: tuple[isl.PwAff, ...]
    copies: tuple[str, ...] = ()
    aligned: AlignedRows | None = None
    rows: TileRows | None = None


@dataclass(frozen=True, slots=True)
class Operands:
    """An update of one array cell, taken apart by the loops that its operands move in.

    ``target`` is the updated cell. ``rows`` are the parts of the value that do not move in the column loop, ``columns``
    those that do not move in the row loop, ``scalars`` those that move in neither and not in the sum either. ``update``
    is the new value in terms of them: names ``sum``, ``row0``, ``column0``, ``scalar0`` …
    """

    target: Element
    rows: tuple[Expression, ...]
    columns: tuple[Expression, ...]
    scalars: tuple[Expression, ...]
    update: Expression


@dataclass(frozen=True, slots=True)
class RegisterTile:
    """The loops under the mark called ``mark`` as a sum of products over tiles that stay in registers.

    ``row``, ``column`` and ``depth`` are positions of iterators of ``statement``: the updated cells move in the first
    two, the column loop along contiguous memory; the sum runs over the third. ``instances`` relates the values of the
    loops around the mark, called ``coordinates``, to the instances in a block, ``sizes`` bounds the block (rows,
    columns, depth). ``packed``: operands are copied into buffers; otherwise they are array elements, read
    where they are. ``shared_rows`` and ``shared_columns``: packed rows (columns) stay valid while the innermost
    coordinate changes. ``extents`` estimates the work of the whole nest, or of one run of its team: the product of
    loop lengths; ``product`` that of the three loops alone, where the statement has others. ``team`` names the mark
    above the loops around the blocks where all threads run these loops together: they pack what is shared together, and
    divide the blocks of the parallel loop inside; it is empty where there is no such team. ``shape`` is the tile in
    rows and vector registers per row, None for what fits the operands best. ``around`` is a second iterator that moves
    packed columns, if a block has one: it takes up to ``turns`` values there. ``inner`` counts the innermost
    coordinates that may change while what is packed stays valid: a second loop over rows may be one of them. Where
    several statements have their blocks one after the other, ``reached`` are the coordinates of all these: a block of
    one statement may be empty there. ``even``: blocks may be smaller than ``sizes``, so that they are about equal.
    """

    mark: str
    statement: str
    row: int
    column: int
    depth: int
    coordinates: tuple[str, ...]
    instances: isl.Map
    sizes: tuple[int, int, int]
    operands: Operands
    processor: Processor
    packed: bool
    shared_rows: bool
    shared_columns: bool
    parallel_columns: bool
    extents: tuple[isl.PwAff, ...]
    product: tuple[isl.PwAff, ...] = ()
    team: str = ""
    shape: tuple[int, int] | None = None
    around: int | None = None
    turns: int = 1
    inner: int = 1
    reached: isl.Set | None = None
    even: bool = False

    @property
    def spaced(self) -> frozenset[str]:
        """The arrays whose elements are found by their distance from the first one in a tile."""
        target, operands = self.operands.target, (*self.operands.rows, *self.operands.columns)
        values = (target,) if self.packed else (target, *operands)
        return frozenset(part.array for value in values for part in walk(value) if isinstance(part, Element))


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Plan:
    """What the code generator needs beside the part itself; plans are told apart by identity.

    ``tree`` is the schedule tree with tiles and marks; ``locals`` are temporaries declared inside loops (see the
    ``local`` marks); ``expansions`` those that became arrays; ``final_values`` says when a private copy is the value
    that stays visible; ``ahead`` and ``behind`` are the orders of instances that compute such values instead, with no
    copies, before and behind all loops (None: there are none), where statements in ``read_back`` read what they have
    stored, and ``otherwise`` is the plan where that is of another type; ``full_tiles`` says which tiles have constant
    trip counts; ``work`` how much each parallel loop has to do; ``register_tiles`` which nests may run by register
    tiles, ``block_tiles`` in which tiles only;
    ``array_sums`` which arrays the threads of a ``reduced`` loop copy, ``accumulations`` which cells stay in
    registers, ``body_sums`` which statements that stay whole have loops that add in lanes; ``liftings`` which rows are
    kept in stretches side by side, ``time_steps`` which steps over time run together; ``in_cache`` is the plan for
    arrays that the first-level cache holds, of which the program uses the liftings; ``mirrors`` which rows are
    updated from both ends; ``periodic`` what is something simpler but at the ends of an innermost loop; ``selects``
    which statements choose between values in vector lanes instead of branching (None: lanes branch as the user does);
    ``factored`` which have sums with a common factor that is taken out where these may be reordered, ``multiplied``
    which have quotients that become products there, ``late`` which have terms that are added last there;
    ``rows_ahead`` which walk down rows that are asked for some steps ahead; ``vectors`` is the processor for whose
    vector registers ``jam`` marks are meant; ``even_strips`` are marks of parallel loops over strips that may as well
    be wider or narrower; ``two_versions``: innermost loops
    have one without tests of subscripts, too; ``untested``: none is tested, as the caller found all inside and none
    negative; ``decisions`` continue the schedule's log; ``device`` holds the kernels
    where the target runs blocks and threads; ``scalar``: no loop runs in vector lanes; ``threads`` bounds how
    many run the parallel loops of a processor (None: as many as it has cores).
    """

    schedule: Schedule
    target: str
    tree: isl.Schedule
    locals: tuple[str, ...] = ()
    expansions: tuple[Expansion, ...] = ()
    final_values: tuple[FinalValue, ...] = ()
    ahead: isl.Schedule | None = None
    behind: isl.Schedule | None = None
    read_back: tuple[str, ...] = ()
    otherwise: Plan | None = None
    full_tiles: tuple[FullTiles, ...] = ()
    work: tuple[ParallelWork, ...] = ()
    register_tiles: tuple[RegisterTile, ...] = ()
    block_tiles: tuple[BlockTiles, ...] = ()
    array_sums: tuple[ArraySum, ...] = ()
    accumulations: tuple[Accumulation, ...] = ()
    body_sums: tuple[str, ...] = ()
    liftings: tuple[Lifting, ...] = ()
    time_steps: tuple[TimeSteps, ...] = ()
    in_cache: Plan | None = None
    mirrors: tuple[Mirror, ...] = ()
    periodic: tuple[Inside, ...] = ()
    selects: tuple[str, ...] | None = None
    factored: tuple[str, ...] = ()
    multiplied: tuple[str, ...] = ()
    late: tuple[LateTerms, ...] = ()
    rows_ahead: tuple[RowsAhead, ...] = ()
    decisions: tuple[Decision, ...] = ()
    vectors: Processor | None = None
    even_strips: tuple[str, ...] = ()
    two_versions: bool = False
    untested: bool = False
    device: DevicePlan | None = None
    threads: int | None = None
    scalar: bool = False
