"""The static control part: what the front end found in the user's loops."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import islpy as isl

from polyviz.errors import OptionError
from polyviz.model.display import Displayable
from polyviz.model.expression import Element, Loop, While, walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from polyviz.errors import Span
    from polyviz.model.cut_results import Cut
    from polyviz.model.expression import Expression, Instruction
    from polyviz.model.linearised import Stride

AccessKind = Literal["read", "write"]
Strides = tuple[tuple[isl.Set, ...], ...]
Starts = tuple[isl.Set, isl.Set]
Creator = Literal["empty", "zeros", "ones", "full", "array"]


@dataclass(frozen=True, slots=True)
class ParameterSource:
    """Where the value of a parameter comes from when the kernel is called.

    ``kind`` is ``argument`` (an integer argument or a name of the notebook, ``name``), ``shape``
    (``name.shape[axis]``) or ``expression``: an integer made of other parameters that is not affine in them (``n * m``,
    ``int(n / 2)``), evaluated by Python's rules from ``expression``, whose every ``Name`` is a parameter listed before;
    where that divides by zero the value is 0, since what needs it may never run. It may read numbers among the
    arguments, too, that no statement changes (``int(length / step)``).
    Other spellings (``n, m = A.shape``, ``len(A)``) become one of these.
    """

    kind: Literal["argument", "shape", "expression"]
    name: str
    axis: int = 0
    expression: Expression | None = None

    @property
    def reads_numbers(self) -> bool:
        """Whether numbers take part that are no integers."""
        return self.expression is not None and any(isinstance(part, Element) for part in walk(self.expression))


@dataclass(frozen=True, slots=True)
class Parameter:
    """A symbolic size: an integer that no statement changes; ``name`` is the isl identifier."""

    name: str
    source: ParameterSource


@dataclass(frozen=True, slots=True)
class Creation:
    """An array made inside the function before its loops: ``np.zeros((n, m), dtype=np.float32)``.

    ``dtype`` is a NumPy name, or ``None`` for NumPy's default; ``like`` names the array whose dtype is taken
    (``np.zeros_like(A)``, ``dtype=A.dtype``); ``fill`` is the value for ``full``, ``values`` the numbers, as nested
    tuples, for ``array``. ``of_values``: the dtype is that of the value which is stored first (``B = A + 1.0``).
    ``numbers``: as many values are stored first, and the dtype has room for all of them (``np.array([a, b])``).
    ``is_listed``: it stands for a list, ``[0] * n``, and what is stored later has to fit the type of ``fill``.
    """

    function: Creator
    dtype: str | None
    like: str | None
    fill: Expression | None
    span: Span
    of_values: bool = False
    values: tuple[Any, ...] | None = None
    numbers: int = 0
    is_listed: bool = False


@dataclass(frozen=True, slots=True)
class Array:
    """An array or scalar of the part.

    ``extents`` holds one ``isl.PwAff`` over the parameters per dimension (None where the source does not tell).
    ``live_in``: some value from before the part may be read. ``live_out``: its final value is visible afterwards
    (arguments that are written, returned values, scalars of a notebook cell). Neither: *local*.
    ``dtype`` is set when the source fixes it (a creation or annotation), else known only at call time.
    ``span`` is where it is introduced: as an argument, by a creation, by its first use in a cell. ``is_point``: the
    caller's array has no dimensions (``A[()]``); here it has one, of one element. ``is_transposed``: it stands for the
    transpose of the caller's array, which lies in Fortran order. ``rebound``: where the whole array is given new
    values, which have to be of its dtype (``v = v / 2`` in a loop). ``strides``: those of the parts of its one
    subscript wherever it stands, the largest first (``((m,), ())`` for ``A[i * m + j]``). ``rows``: the caller's array
    has one dimension, and here it is cut into rows of these extents. ``copies``: the array of the source of which it
    holds one copy per iteration of a loop.
    """

    name: str
    rank: int
    origin: Literal["argument", "local"]
    extents: tuple[isl.PwAff | None, ...]
    live_in: bool
    live_out: bool
    dtype: str | None = None
    creation: Creation | None = None
    span: Span | None = None
    is_point: bool = False
    is_transposed: bool = False
    rebound: tuple[Span, ...] = ()
    strides: tuple[Stride, ...] = ()
    rows: tuple[Expression, ...] = ()
    copies: str = ""

    @property
    def keeps_type(self) -> bool:
        """Whether this is a variable for a cell of an array that was made so: no assignment decides its type."""
        return not self.rank and self.creation is not None


@dataclass(frozen=True, slots=True)
class Access:
    """One reference of a statement to an array.

    ``relation`` maps the statement's domain to cells of the array. ``exact`` is False for *may* accesses, whose
    relation is an over-approximation; ``reason`` then says why in one sentence. ``apart`` maps the domain to what tells
    the cells of the array apart where ``relation`` cannot: ``i, j`` for ``A[i * m + j]`` with ``0 <= j < m``. It means
    something only beside those of all other accesses to the array. ``strides`` gives it numbers once the parameters are
    known: per subscript the strides of its parts in ``apart``, each a product of numbers over the parameters
    (``((m,), ())`` here). It is empty where the access may not happen.
    """

    kind: AccessKind
    array: str
    relation: isl.Map
    exact: bool = True
    reason: str = ""
    span: Span | None = None
    text: str = ""
    apart: isl.Map | None = None
    strides: tuple[Strides, ...] = ()
    starts: Starts | None = None

    @property
    def is_numbered(self) -> bool:
        """Whether its cells are known once the parameters are."""
        return bool(self.strides) or self.starts is not None

    def mapped(self, change: Callable[[isl.Map], isl.Map], **others: Any) -> Access:
        """The access with ``change`` made to its relations, and ``others`` of its fields replaced."""
        apart = None if self.apart is None else change(self.apart)
        return replace(self, relation=change(self.relation), apart=apart, **others)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement: executed once per integer point of its domain.

    ``iterators`` are the names of the surrounding loops, outermost first, equal to the dimension names of ``domain``;
    ``body`` is what one instance does; ``source`` the user's text; ``span`` where it stands.
    """

    name: str
    iterators: tuple[str, ...]
    domain: isl.Set
    accesses: tuple[Access, ...]
    body: tuple[Instruction, ...]
    span: Span
    source: str
    loop_spans: tuple[Span, ...] = ()

    @property
    def is_certain(self) -> bool:
        """Whether all its accesses happen in every instance, to cells that are known once the parameters are."""
        return all(access.exact or access.is_numbered for access in self.accesses)

    @property
    def headline(self) -> str:
        """The user's text in one line; of a loop or condition with several lines inside, its head."""
        head, *rest = self.source.splitlines()
        is_long = len(rest) > 1 and head.rstrip().endswith(":")
        return f"{head.rstrip()} ..." if is_long else " ".join(self.source.split())

    @property
    def is_uneven(self) -> bool:
        """Whether it has a loop that ends when its data say so: instances do more or less, as it comes."""
        nodes = (node for instruction in self.body for node in walk(instruction))
        return any(isinstance(node, While) or (isinstance(node, Loop) and node.ends_early) for node in nodes)

    @property
    def reads(self) -> isl.UnionMap:
        """All reads, may reads included: instances to cells."""
        return self._union("read")

    @property
    def writes(self) -> isl.UnionMap:
        """All writes, may writes included: instances to cells."""
        return self._union("write")

    @property
    def exact(self) -> bool:
        """Whether every access is exact."""
        return all(access.exact for access in self.accesses)

    def _union(self, kind: AccessKind) -> isl.UnionMap:
        result = isl.UnionMap.empty(self.domain.get_space().params())
        for access in self.accesses:
            if access.kind == kind:
                result = result.union(isl.UnionMap.from_map(access.relation))
        return result


@dataclass(frozen=True, slots=True)
class Result:
    """What the function returns, in order: names of arrays or scalars; ``is_tuple`` keeps ``return (a,)`` apart.

    ``cut`` tells what the caller gets of them, where that is not all.
    """

    names: tuple[str, ...] = ()
    is_tuple: bool = False
    cut: Cut | None = None

    @property
    def handed_back(self) -> tuple[str, ...]:
        """The names of what the caller gets."""
        return self.names if self.cut is None else self.names[: len(self.names) - self.cut.hidden]


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of the original function, with its default where it has one."""

    name: str
    default: object = None
    has_default: bool = False


@dataclass(frozen=True, slots=True)
class Exchange:
    """Each of ``names`` gets the array that the one at the same place of ``values`` had, ``steps`` times.

    ``steps`` is an expression over the parameters.
    """

    names: tuple[str, ...]
    values: tuple[str, ...]
    steps: isl.PwAff


# Compared by identity: isl knows no equality of schedules, and what was found out of a part is kept beside it.
@dataclass(frozen=True, slots=True, repr=False, eq=False, weakref_slot=True)
class Scop(Displayable):
    """A static control part: exact mathematical content of a loop nest, plus the way back to the source.

    ``schedule`` is the original execution order as an ``isl.Schedule`` whose bands are the source loops. ``context``
    holds what is known of the parameters. ``notes`` are sentences about everything over-approximated or assumed.
    ``is_cell`` tells bare notebook loops from a function; then ``arguments`` are the names taken from the notebook.
    ``final_iterators`` maps a loop variable that stays visible after a cell to its value after the loops
    (a ``isl.PwAff`` over the parameters); ``exchanges`` are the names of arrays that are exchanged after a cell.
    ``deciding`` names the arguments that are steps of loops or factors of their variables: more is affine where these
    numbers are known.
    """

    name: str
    text: str
    statements: tuple[Statement, ...]
    arrays: tuple[Array, ...]
    parameters: tuple[Parameter, ...]
    context: isl.Set
    schedule: isl.Schedule
    arguments: tuple[Argument, ...]
    result: Result = Result()
    is_cell: bool = False
    notes: tuple[str, ...] = ()
    final_iterators: tuple[tuple[str, isl.PwAff], ...] = ()
    docstring: str = ""
    exchanges: tuple[Exchange, ...] = ()
    deciding: tuple[str, ...] = ()

    @property
    def domain(self) -> isl.UnionSet:
        """All statement instances."""
        result = isl.UnionSet.empty(self.context.get_space())
        for statement in self.statements:
            result = result.union(isl.UnionSet.from_set(statement.domain))
        return result

    @property
    def reads(self) -> isl.UnionMap:
        """All reads, may reads included."""
        return self._accesses("read", exact_only=False)

    @property
    def writes(self) -> isl.UnionMap:
        """All writes, may writes included."""
        return self._accesses("write", exact_only=False)

    @property
    def must_writes(self) -> isl.UnionMap:
        """The writes that certainly happen."""
        return self._accesses("write", exact_only=True)

    def _accesses(self, kind: AccessKind, *, exact_only: bool) -> isl.UnionMap:
        result = isl.UnionMap.empty(self.context.get_space())
        for statement in self.statements:
            for access in statement.accesses:
                if access.kind == kind and (access.exact or not exact_only):
                    result = result.union(isl.UnionMap.from_map(access.relation))
        return result

    def statement(self, name: str) -> Statement:
        """The statement called ``name``; raises ``KeyError``."""
        for statement in self.statements:
            if statement.name == name:
                return statement
        raise KeyError(name)

    def array(self, name: str) -> Array:
        """The array called ``name``; raises ``KeyError``."""
        for array in self.arrays:
            if array.name == name:
                return array
        raise KeyError(name)


def fixed_parameters(scop: Scop) -> dict[str, int]:
    """The parameters of which ``scop`` knows the values, with these.

    >>> import polyviz as pv
    >>> fixed_parameters(pv.extract("def f(A, n):\\n  for i in range(n): A[i] = i", sizes={"n": 3}))
    {'n': 3}
    """
    kind = isl.dim_type.param
    names = [scop.context.get_dim_name(kind, place) for place in range(scop.context.dim(kind))]
    values = [scop.context.plain_get_val_if_fixed(kind, place) for place in range(len(names))]
    return {str(name): int(value.to_python()) for name, value in zip(names, values, strict=True) if value.is_int()}


def insist_on_part(given: object, does: str) -> None:
    """Raise OptionError where ``given`` is no part; ``does`` is the name of the function that it was handed to.

    >>> insist_on_part(print, "schedule")
    Traceback (most recent call last):
    polyviz.errors.OptionError: `schedule` takes a part of a program, not a function.
      Hint: Write `pv.schedule(pv.extract(...), ...)`: `extract` reads a function, or its text, and returns the part.
    """
    if isinstance(given, Scop):
        return
    kind = "a function" if callable(given) and not hasattr(given, "scop") else f"{given!r:.60}"
    hint = f"Write `pv.{does}(pv.extract(...), ...)`: `extract` reads a function, or its text, and returns the part."
    if hasattr(given, "scop"):
        kind, hint = f"a {type(given).__name__}", f"Its attribute `scop` is the part: `pv.{does}(….scop, ...)`."
    raise OptionError(f"`{does}` takes a part of a program, not {kind}.", hint=hint)
