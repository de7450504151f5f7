"""Lifted rows in C as vectors: sweeps that name their registers, and two sweeps in one pass over the rows.

    for (; row < rows; row += 4) {
        const vector_float64 B_new0 = 0.5 * (A_row_1_B + A_row1_B);  // the first sweep, four rows
        …
        const vector_float64 A_new0 = 0.5 * (B_kept2 + B_new0);  // the next one, a row behind it
    }

The second sweep finds what the first one computed in registers; where nobody else reads that, only the last iteration
stores it, and the others its ends. It leaves out the rows at both ends, whose neighbours are the ends of other
stretches: these are passed on when the first sweep is through, and then its last rows follow. Where sums may be added
up in another order, two rows share what they have in common: ``a + (b + c)``, ``(b + c) + d``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from polyviz.codegen.expressions_c import CExpressionPrinter
from polyviz.codegen.lifted import moved
from polyviz.codegen.local_names import LocalNames
from polyviz.codegen.row_blocks import VECTOR_DTYPES, is_vector, written_out
from polyviz.model.expression import Binary, Element, Expression, Name, children, rebuild
from polyviz.model.linear import written

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from polyviz.codegen.arrays_c import ArrayPrinter
    from polyviz.codegen.lifted import Nest, Sweep
    from polyviz.codegen.row_blocks import Types
    from polyviz.codegen.text import TextBuilder
    from polyviz.codegen.vectors_c import VectorFunctions
    from polyviz.model.expression import Node

STEP = 4
"""Rows in one step: neighbours are loaded once for all of them."""

Held = dict[tuple[str, int], str]
"""The register that holds a row of an array, so many rows behind the first one of the step."""


@dataclass(frozen=True, slots=True)
class Pair:
    """The sweep ``later`` runs ``lag`` rows behind ``first`` and reads ``kept`` rows of the step before."""

    first: Sweep
    later: Sweep
    lag: int
    kept: int


def runs_in_vectors(sweeps: Sequence[Sweep], types: Types) -> bool:
    """Whether vectors compute all that ``sweeps`` compute, in rows of arrays of one type."""
    dtype = types.arrays[sweeps[0].target].dtype
    return dtype in VECTOR_DTYPES and all(_fits(sweep, dtype, types) for sweep in sweeps)


def _fits(sweep: Sweep, dtype: str, types: Types) -> bool:
    return is_vector(written_out(sweep.assign).value, dtype, sweep.loop.iterator, types)


def pairs_of(sweeps: Sequence[Sweep]) -> list[tuple[Sweep, Pair | None]]:
    """The sweeps, in order, each with the pair that it begins; the later one of a pair is left out."""
    found: list[tuple[Sweep, Pair | None]] = []
    rest = list(sweeps)
    while rest:
        sweep = rest.pop(0)
        pair = _pair(sweep, rest[0]) if rest else None
        found.append((sweep, pair))
        if pair is not None:
            rest.pop(0)
    return found


def _pair(first: Sweep, later: Sweep) -> Pair | None:
    """``first`` and ``later`` in one pass, where that keeps the order of each cell's reads and writes.

    What ``later`` reads of the first sweep must be there: it runs as many rows behind as it reads ahead. What ``first``
    reads of the rows that ``later`` writes must be there still: so does it by as many as that reads behind.
    """
    if first.target == later.target:
        return None
    read = later.distances(first.target)
    if not read:
        return None
    lag = max(1, *read, *(-distance for distance in first.distances(later.target)))
    kept = lag + max(0, *(-distance for distance in read))
    return Pair(first, later, lag, kept) if lag < STEP and kept <= STEP else None


class LiftedVectors:
    """Prints the rows of one nest in vectors of ``lanes``; ``copies`` are the names of the lifted arrays, ``row`` and
    ``rows`` those of the loop over rows and of their number. ``reorders``: sums may be added up in another order."""

    def __init__(
        self,
        nest: Nest,
        arrays: ArrayPrinter,
        printer: CExpressionPrinter,
        text: TextBuilder,
        vectors: VectorFunctions,
        copies: Mapping[str, str],
        dtype: str,
        names: Mapping[str, str],
        *,
        reorders: bool,
    ) -> None:
        loops = [nest.loop, *(sweep.loop for sweep in nest.sweeps)]
        bounds = [bound for loop in loops for bound in (loop.start, loop.stop)]
        self.local = LocalNames(arrays, (*bounds, *(sweep.assign for sweep in nest.sweeps)))
        self.nest, self.reorders = nest, reorders
        self.arrays, self.printer, self.text, self.vectors = arrays, printer, text, vectors
        self.copies, self.dtype, self.names = copies, dtype, names
        self.lanes = vectors.lanes(dtype)
        self.kind = f"vector_{dtype}"
        vectors.use(dtype)

    def sweep(self, sweep: Sweep, indent: int) -> None:
        """One sweep over all rows."""
        self._line(indent, f"{self._header('0', STEP)} {{")
        self._step(sweep, range(STEP), {}, indent + 1)
        self._line(indent, "}")

    def pass_of(self, pair: Pair, indent: int) -> None:
        """The first sweep over all rows, and behind it the later one but for the rows at the ends."""
        row, rows, target = self.names["row"], self.names["rows"], pair.first.target
        self._line(indent, "{")
        self._line(indent + 1, f"const int64_t {row} = 0;")
        self._step(pair.first, range(STEP), {}, indent + 1)
        self._line(indent, "}")
        kept = {place: self.local.of(f"{target}_kept{-place}") for place in range(-pair.kept, 0)}
        self._line(indent, "{")
        for place, name in kept.items():
            cell = self._cell(target, written({"": self.lanes * (STEP + place)}))
            self._line(indent + 1, f"{self.kind} {name} = {cell};")
        if self._passes_by(pair):
            stored, loop = self.local.of(f"{target}_stored"), self.nest.loop
            further = self.printer.expression(moved(Name(loop.iterator), loop.step))
            more = f"{further} < {self.printer.bound(loop.stop)}"
            self._line(indent + 1, f"int64_t {row} = {STEP};")
            comment = f"  // all rows of {target} in the last iteration: only registers are read, else"
            self._line(indent + 1, f"const int64_t {stored} = {more} ? {rows} - {STEP} : {STEP};{comment}")
            self._line(indent + 1, f"for (; {row} < {stored}; {row} += {STEP}) {{")
            self._both(pair, kept, indent + 2, stored=False)
            self._line(indent + 1, "}")
            self._line(indent + 1, f"for (; {row} < {rows}; {row} += {STEP}) {{")
        else:
            self._line(indent + 1, f"{self._header(str(STEP), STEP)} {{")
        self._both(pair, kept, indent + 2, stored=True)
        self._line(indent + 1, "}")
        self._line(indent, "}")

    def _passes_by(self, pair: Pair) -> bool:
        """Whether only the later sweep reads what the first one computes. But for the rows at the ends it finds that in
        registers, and the next iteration computes all of it anew."""
        others = [sweep for sweep in self.nest.sweeps if sweep is not pair.later]
        return not any(sweep.distances(pair.first.target) for sweep in others)

    def _both(self, pair: Pair, kept: Mapping[int, str], indent: int, *, stored: bool) -> None:
        """One step of both sweeps; what the first one computes is ``stored`` where that is asked for."""
        target = pair.first.target
        new = self._step(pair.first, range(STEP), {}, indent, stored=stored)
        held = {(target, place): name for place, name in (*kept.items(), *enumerate(new))}
        self._step(pair.later, range(-pair.lag, STEP - pair.lag), held, indent)
        for place, name in kept.items():
            self._line(indent, f"{name} = {new[STEP + place]};")

    def left_out(self, pair: Pair, indent: int) -> None:
        """The rows of the later sweep that its pass leaves out."""
        rows = self.names["rows"]
        for start, stop in (("0", str(STEP - pair.lag)), (f"{rows} - {pair.lag}", rows)):
            self._line(indent, f"{self._header(start, 1, stop)} {{")
            self._step(pair.later, range(1), {}, indent + 1)
            self._line(indent, "}")

    def _step(
        self,
        sweep: Sweep,
        places: range,
        held: Mapping[tuple[str, int], str],
        indent: int,
        *,
        stored: bool = True,
    ) -> list[str]:
        """The rows of ``sweep`` at ``places`` of one step, all computed and then ``stored``; their registers."""
        self.arrays.enter(sweep.statement)
        loaded: Held = dict(held)
        value, found = written_out(sweep.assign).value, []
        shared: dict[Expression, dict[int, Expression]] = {}
        comment = f"  // line {sweep.statement.span.line}: {sweep.statement.headline}"
        for place in places:
            if self.reorders and not (place - places.start) % 2:
                stem = f"{sweep.target}_shared{place - places.start}"
                shared = self._shared_sums(value, sweep, place, stem, loaded, indent) if place + 1 in places else {}
            placed = self._in_registers(_with_sums(value, shared, place), sweep, place, loaded, indent)
            name = self.local.of(f"{sweep.target}_new{place - places.start}")
            text = f"const {self.kind} {name} = {self._inner(loaded).expression(placed)};"
            self.text.add(indent, text + comment, sweep.statement)
            found.append(name)
        for place, name in zip(places, found, strict=True) if stored else ():
            self.text.add(indent, f"{self._cell(sweep.target, self._place(place))} = {name};", sweep.statement)
        return found

    def _in_registers(self, value: Expression, sweep: Sweep, place: int, loaded: Held, indent: int) -> Expression:
        """``value`` in the row at ``place``, with registers in place of rows; those to be loaded are added."""

        def named(part: Node) -> Node:
            if not isinstance(part, Element) or part.array not in self.copies:
                return rebuild(part, named)
            there = place + sweep.distance(part)
            if (part.array, there) not in loaded:
                sign = "_" if there < 0 else ""
                name = self.local.of(f"{part.array}_row{sign}{abs(there)}_{sweep.target}")
                self._line(indent, f"const {self.kind} {name} = {self._cell(part.array, self._place(there))};")
                loaded[part.array, there] = name
            return Name(loaded[part.array, there])

        found = named(value)
        assert isinstance(found, Expression)
        return found

    def _shared_sums(
        self, value: Expression, sweep: Sweep, place: int, stem: str, loaded: Held, indent: int
    ) -> dict[Expression, dict[int, Expression]]:
        """For the sums in ``value`` of which the row at ``place`` and the next one have several terms in common, what
        each of the two adds up; the terms in common are added up first, in a register named after ``stem``."""
        found: dict[Expression, dict[int, Expression]] = {}
        for number, (whole, terms) in enumerate(_sums(value, self.copies).items()):
            distances = [(term.array, sweep.distance(term)) for term in terms]
            next_one = {(array, distance + 1) for array, distance in distances}
            common = [term for term, key in zip(terms, distances, strict=True) if key in next_one]
            if len(common) < 2 or len(set(distances)) < len(distances):
                continue
            before = {(term.array, sweep.distance(term) - 1) for term in common}
            first = [term for term, key in zip(terms, distances, strict=True) if key not in next_one]
            second = [term for term, key in zip(terms, distances, strict=True) if key not in before]
            name = self.local.of(f"{stem}_{number}" if number else stem)
            total = self._in_registers(_sum(common), sweep, place, loaded, indent)
            self._line(indent, f"const {self.kind} {name} = {self._inner(loaded).expression(total)};")
            loaded[name, place] = name
            found[whole] = {place: _sum([*first, Name(name)]), place + 1: _sum([Name(name), *second])}
        return found

    def _inner(self, loaded: Held) -> CExpressionPrinter:
        """The printer of values in vector registers."""
        known = dict.fromkeys(loaded.values(), self.dtype)
        return CExpressionPrinter({**self.printer.environment.types, **known}, self.printer.names, self.printer.element)

    def _place(self, place: int) -> Expression:
        return written({self.names["row"]: self.lanes, "": self.lanes * place})

    def _cell(self, array: str, place: Expression) -> str:
        return f"*({self.kind} *)&{self.copies[array]}[{self.printer.expression(place)}]"

    def _header(self, start: str, step: int, stop: str = "") -> str:
        row = self.names["row"]
        advance = "++" if step == 1 else f" += {step}"
        return f"for (int64_t {row} = {start}; {row} < {stop or self.names['rows']}; {row}{advance})"

    def _line(self, indent: int, line: str) -> None:
        self.text.add(indent, line)


def _sums(value: Expression, copies: Mapping[str, str]) -> dict[Expression, list[Element]]:
    """The sums in ``value`` of nothing but cells of lifted rows, with their terms."""
    terms = _terms(value)
    if len(terms) > 1 and all(isinstance(term, Element) and term.array in copies for term in terms):
        return {value: [term for term in terms if isinstance(term, Element)]}
    found: dict[Expression, list[Element]] = {}
    for part in children(value):
        if isinstance(part, Expression) and not isinstance(value, Element):
            found.update(_sums(part, copies))
    return found


def _terms(value: Expression) -> list[Expression]:
    match value:
        case Binary("+", left, right):
            return [*_terms(left), *_terms(right)]
    return [value]


def _sum(terms: Sequence[Expression]) -> Expression:
    return reduce(lambda left, right: Binary("+", left, right), terms)


def _with_sums(value: Expression, sums: Mapping[Expression, Mapping[int, Expression]], place: int) -> Expression:
    """``value`` in the row at ``place``, with ``sums`` as that row adds them up."""

    def named(part: Node) -> Node:
        if isinstance(part, Expression) and part in sums:
            return sums[part][place]
        return rebuild(part, named)

    found = named(value)
    assert isinstance(found, Expression)
    return found
