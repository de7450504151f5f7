"""A superposed schedule: one order for the blocks of a parallel machine, another for the threads inside a block.

The terms are those of Shirako, Hayashi, Sarkar, *Optimized two-level parallelization for GPU accelerators using the
polyhedral model* (CC 2017), sections 3 and 4: a scattering function lists scalar and loop dimensions; some of them are
not time but a coordinate of the grid of blocks or threads.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

import islpy as isl

from polyviz.model.display import Displayable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

    from polyviz.model.dependences import Violation

Axis = Literal["x", "y", "z"]
LoopKind = Literal["forall", "reduction", "sequential", "violation"]
Level = Literal["block", "thread"]
Function = TypeVar("Function", isl.Map, isl.PwAff)


@dataclass(frozen=True, slots=True)
class Dimension:
    """One dimension of the scattering function of one statement.

    ``expression`` is an affine function of the iterators and parameters in isl's syntax. ``axis`` makes it a
    coordinate of the grid of blocks or threads instead of time; ``tile`` replaces the value by ``floor(value / tile)``.
    ``reduction``: threads along this axis share one accumulation. Then ``ordered`` tells whether one thread that runs
    along the axis adds up in the order of the source.

    >>> Dimension("loop", "i", axis="x", tile=32).text
    'floor(i/32)_x'
    """

    kind: Literal["scalar", "loop"]
    expression: str
    axis: Axis | None = None
    tile: int | None = None
    reduction: bool = False
    ordered: bool = True

    @property
    def role(self) -> Literal["sequence", "space"]:
        """Whether the dimension is time or a coordinate."""
        return "sequence" if self.axis is None else "space"

    @property
    def text(self) -> str:
        """The dimension as the article writes it."""
        if self.axis is None:
            return self.tiled_expression
        simple = self.tile is not None or self.expression.isidentifier()
        return f"{self.tiled_expression if simple else f'({self.expression})'}_{self.axis}"

    @property
    def tiled_expression(self) -> str:
        """The value with its tile, in isl's syntax."""
        if self.tile is None:
            return self.expression
        inner = self.expression if self.expression.isidentifier() else f"({self.expression})"
        return f"floor({inner}/{self.tile})"

    def row(self, domain: isl.Set, *, tiled: bool = True) -> isl.Map:
        """The dimension as a map from the instances of ``domain`` to one value.

        >>> print(Dimension("loop", "i", tile=4).row(isl.Set("{ S[i] : 0 <= i < 9 }"), tiled=False))
        { S[i] -> [i] }
        """
        return affine_map(domain, self.tiled_expression if tiled else self.expression)


Scattering = tuple[Dimension, ...]


def affine_map(domain: isl.Set, *expressions: str) -> isl.Map:
    """The map from the space of ``domain`` to the values of ``expressions``; raises ``isl.Error`` for bad text."""
    return _with_names_of(domain, isl.Map(_function_text(domain, expressions)))


def affine_function(domain: isl.Set, expression: str) -> isl.UnionPwAff:
    """``expression`` as a function on the space of ``domain``; raises ``isl.Error`` for bad text."""
    function = _with_names_of(domain, isl.PwAff(_function_text(domain, (expression,))))
    return isl.UnionPwAff.from_pw_aff(function)


def _with_names_of(domain: isl.Set, function: Function) -> Function:
    for place in range(domain.dim(isl.dim_type.param)):
        function = function.set_dim_id(
            isl.dim_type.param, place, domain.get_dim_id(isl.dim_type.param, place)
        )
    for place in range(domain.dim(isl.dim_type.set)):
        function = function.set_dim_id(isl.dim_type.in_, place, domain.get_dim_id(isl.dim_type.set, place))
    return function


def _function_text(domain: isl.Set, expressions: tuple[str, ...]) -> str:
    """The function with names that isl can read: a loop may be called like a word of isl's own (``mod``, ``max``)."""
    parameters = {name: f"p_{place}" for place, name in enumerate(_names(domain, isl.dim_type.param))}
    iterators = {name: f"i_{place}" for place, name in enumerate(_names(domain, isl.dim_type.set))}
    safe = {**parameters, **iterators}
    values = [_NAME.sub(lambda found: safe.get(found[0], found[0]), text) for text in expressions]
    source = f"{domain.get_tuple_name()}[{', '.join(iterators.values())}]"
    target = ", ".join(f"({value})" for value in values)
    return f"[{', '.join(parameters.values())}] -> {{ {source} -> [{target}] }}"


_NAME = re.compile(r"[A-Za-z_]\w*(?!\w|\s*\()")
"""A name that is not called."""


def _names(domain: isl.Set, kind: isl.dim_type) -> list[str]:
    return [domain.get_dim_name(kind, place) or "" for place in range(domain.dim(kind))]


def scattering_text(scattering: Scattering) -> str:
    """A scattering function as the article prints it.

    >>> scattering_text((Dimension("scalar", "0"), Dimension("loop", "j", axis="x")))
    '(0, j_x)'
    """
    return f"({', '.join(dimension.text for dimension in scattering)})"


@dataclass(frozen=True, slots=True)
class SpaceLoop:
    """A loop whose iterations are blocks or threads: the axis, its row per statement, and why that is allowed."""

    axis: Axis
    rows: Mapping[str, str]
    kind: LoopKind

    def __str__(self) -> str:
        name = " | ".join(dict.fromkeys(self.rows.values()))
        return f"{'red ' if self.kind == 'reduction' else ''}{self.axis} {name}"


@dataclass(frozen=True, slots=True)
class SpaceGroup:
    """Statements that share their block loops (one kernel) or their thread loops (one phase between barriers).

    ``under`` are the sequential loops around them, outermost first, as rows per statement.
    """

    statements: tuple[str, ...]
    loops: tuple[SpaceLoop, ...]
    under: tuple[Mapping[str, str], ...] = ()

    def __str__(self) -> str:
        loops = ", ".join(map(str, self.loops)) or "no parallel loop"
        under = ", ".join(" | ".join(dict.fromkeys(rows.values())) for rows in self.under)
        return f"{{{', '.join(self.statements)}}}: {loops}{f', under {under}' if under else ''}"


@dataclass(frozen=True, slots=True)
class Barrier:
    """A place where all threads of a block wait for each other.

    ``before`` and ``after`` are the numbers of the phases it separates; ``wraps`` tells that it stands at the end of a
    sequential loop, before its next iteration; ``depth`` is the number of sequential loops of the kernel around it,
    that one included. ``protects`` is a dependence between two threads that would race without it; None when there is
    none and the barrier is left out.
    """

    before: int
    after: int
    wraps: bool
    depth: int
    protects: Violation | None

    @property
    def needed(self) -> bool:
        """Whether the threads have to wait here."""
        return self.protects is not None


@dataclass(frozen=True, slots=True)
class SuperposedKernel:
    """One kernel: its blocks, the phases its threads go through, and the barriers between these.

    ``tiles`` gives the tile size per block axis, ``threads`` the number of threads per thread axis; ``barriers`` lists
    the ones left out as well.
    """

    number: int
    blocks: SpaceGroup
    phases: tuple[SpaceGroup, ...]
    barriers: tuple[Barrier, ...]
    tiles: Mapping[Axis, int]
    threads: Mapping[Axis, int]

    @property
    def statements(self) -> tuple[str, ...]:
        """The statements of the kernel."""
        return self.blocks.statements

    @property
    def needed_barriers(self) -> tuple[Barrier, ...]:
        """The barriers that stay."""
        return tuple(barrier for barrier in self.barriers if barrier.needed)


@dataclass(frozen=True, slots=True)
class LineCost:
    """How many memory transactions one statement needs, by the distinct lines it touches.

    ``lines`` counts the lines of a tile of ``tile`` iterations per loop, ``memory_cost`` is that per iteration.
    ``derivatives`` per iterator: the more negative, the more a longer run along it saves. ``contiguous`` are the
    iterators that move in the last subscript of some reference, ``coalescing`` the one of them that saves most.
    """

    statement: str
    tile: int
    lines: Fraction
    memory_cost: Fraction
    derivatives: Mapping[str, Fraction]
    contiguous: tuple[str, ...]
    coalescing: str | None


@dataclass(frozen=True, slots=True)
class Distance:
    """How far apart along a row the two ends of one dependence are; None where there is no bound."""

    array: str
    kind: str
    source: str
    sink: str
    low: int | None
    high: int | None

    @property
    def text(self) -> str:
        """The values as a person writes them.

        >>> Distance("A", "flow", "S", "T", 1, None).text
        '>= 1'
        """
        if self.low is None:
            return "any" if self.high is None else f"<= {self.high}"
        if self.high is None:
            return f">= {self.low}"
        return str(self.low) if self.low == self.high else f"{self.low} .. {self.high}"


@dataclass(frozen=True, slots=True)
class LoopVerdict:
    """What kind of loop a row makes over some statements, with the distances, and a pair of instances that shows it."""

    level: Level
    rows: Mapping[str, str]
    kind: LoopKind
    distances: tuple[Distance, ...]
    witness: Violation | None
    under: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a legal superposition: what it asks, and a pair of instances where it fails."""

    name: str
    asks: str
    witness: Violation | None

    def __bool__(self) -> bool:
        return self.witness is None

    def __str__(self) -> str:
        return f"{self.name}: " + ("holds" if self.witness is None else f"fails, {self.witness.explanation}")


@dataclass(frozen=True, slots=True, repr=False)
class SuperpositionLegality:
    """The verdict on a superposition: true when all conditions hold.

    In their order: ``outer`` and ``regular`` (the two parts of Lemma 1), ``kernels``, ``blocks`` and ``threads`` (what
    runs at the same time does not race), ``superposed`` (the tiled order itself).
    """

    conditions: tuple[Condition, ...]

    def __bool__(self) -> bool:
        return all(self.conditions)

    def condition(self, name: str) -> Condition:
        """The condition called ``name``; raises ``KeyError``."""
        for condition in self.conditions:
            if condition.name == name:
                return condition
        raise KeyError(name)

    def __repr__(self) -> str:
        return "\n".join(map(str, self.conditions))


@dataclass(frozen=True, slots=True, repr=False)
class Superposition(Displayable):
    """Two scattering functions per statement, ``outer`` for the blocks and ``regular`` for the threads, put together.

    ``outer_tree``, ``regular_tree`` and ``tree`` are the same as isl schedule trees, the last one superposed: tiles of
    the outer loops around the regular order. ``thread_groups`` are the phases in their order, before they are cut by
    kernels. ``unmapped`` says why there are no kernels, without an end; ``tree`` runs all the same. ``costs`` and
    ``verdicts`` say what led here; ``legality`` is the exact check.
    """

    outer: Mapping[str, Scattering]
    regular: Mapping[str, Scattering]
    outer_tree: isl.Schedule
    regular_tree: isl.Schedule
    tree: isl.Schedule
    legality: SuperpositionLegality
    thread_groups: tuple[SpaceGroup, ...] = ()
    kernels: tuple[SuperposedKernel, ...] = ()
    costs: tuple[LineCost, ...] = ()
    verdicts: tuple[LoopVerdict, ...] = ()
    unmapped: str = ""

    @property
    def superposed(self) -> Mapping[str, Scattering]:
        """The two functions of each statement one after the other."""
        return {name: (*self.outer[name], *self.regular[name]) for name in self.outer}

    @property
    def outer_map(self) -> isl.UnionMap:
        """The outer functions, tiled, as one map."""
        return _union_map(self.outer, self.tree.get_domain())

    @property
    def regular_map(self) -> isl.UnionMap:
        """The regular functions as one map."""
        return _union_map(self.regular, self.tree.get_domain())

    @property
    def map(self) -> isl.UnionMap:
        """The superposed functions as one map."""
        return _union_map(self.superposed, self.tree.get_domain())

    def notation(self) -> str:
        """The superposed functions as the article prints them, one line per statement."""
        return "\n".join(map(self.notation_of, self.outer))

    def notation_of(self, statement: str) -> str:
        """The superposed function of one statement: ``S: (0, floor(i/32)_x, 0, t, 0, i_y, j_x, 0)``."""
        return f"{statement}: {scattering_text(self.superposed[statement])}"


def _union_map(scatterings: Mapping[str, Scattering], domain: isl.UnionSet) -> isl.UnionMap:
    """One map per statement; shorter functions end in zeros."""
    length = max(map(len, scatterings.values()), default=0)
    result = isl.UnionMap.empty(domain.get_space())
    parts = domain.get_set_list()
    for part in map(parts.get_at, range(parts.n_set())):
        values = [dimension.tiled_expression for dimension in scatterings[part.get_tuple_name()]]
        padded = [*values, *["0"] * (length - len(values))]
        result = result.union(isl.UnionMap.from_map(affine_map(part, *padded).intersect_domain(part)))
    return result
