"""Random programs that a person has tuned: loops cut into strips, copies of statements side by side.

Strips have a fixed size, or their loops count them; points are counted from the start of the array or of the strip.
Copies have variables of their own, and sometimes one of them is another statement after all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.random_programs.odd_shapes import OddDraft

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class HandDraft(OddDraft):
    """A draft whose text is a few of these shapes, and sometimes a plain one among them."""

    @property
    def shapes(self) -> list[tuple[float, Callable[[], None]]]:
        return [
            (4, self.product_in_strips), (2, self.sweep_in_strips), (2, self.sums_of_strips), (3, self.copies),
            (3, self.copies_with_sums), (1, self.product),
        ]  # fmt: skip

    def _small(self, term: str) -> str:
        """A product of whole numbers that does not wrap around however often it is added."""
        return f"({term}) % 101" if self.kind == "integer" else term

    def _cut(self, iterators: Sequence[str]) -> tuple[int, dict[str, str]]:
        """Loops over strips, then those within them; the number of loops, and each index by its iterator."""
        sizes = {name: self.size() for name in iterators}
        cut = {name: self.some("4", "8", "16") for name in iterators if self.chance(0.7)}
        depth, places, ranges = 0, {name: name for name in iterators}, dict[str, str]()
        for name in self.random.sample([*cut], len(cut)):
            width, size, strip = cut[name], sizes[name], f"{name}{name}"
            how = self.some("steps", "steps", "counted", "offset")
            if how == "counted":
                self.say(depth, f"for {strip} in range({size} // {width}):")
                ranges[name] = f"{strip} * {width}, ({strip} + 1) * {width}"
            else:
                self.say(depth, f"for {strip} in range(0, {size}, {width}):")
                ranges[name] = f"{strip}, min({strip} + {width}, {size})"
            if how == "offset":
                ranges[name], places[name] = f"min({width}, {size} - {strip})", f"{strip} + {name}"
            depth += 1
        order = list(iterators)
        if self.chance(0.5):
            self.random.shuffle(order)
        for name in order:
            self.say(depth, f"for {name} in range({ranges.get(name, sizes[name])}):")
            depth += 1
        return depth, places

    def product_in_strips(self) -> None:
        """A product of matrices whose loops are cut into tiles."""
        target, left, right = self.array(2), self.array(2), self.array(2)
        depth, at = self._cut("ijk")
        term = self._small(f"{left}[{at['i']}, {at['k']}] * {right}[{at['k']}, {at['j']}]")
        self.say(depth, f"{target}[{at['i']}, {at['j']}] {self.some('+=', '-=')} {term}")

    def sweep_in_strips(self) -> None:
        """A pass over a matrix in tiles, of itself or another one."""
        target, source = self.array(2), self.array(2)
        depth, at = self._cut("ij")
        row, column = at["i"], at["j"]
        beside = self.some(f"{row}, {column} + 1", f"{row} + 1, {column}", f"{column}, {row}")
        self.say(depth, f"{target}[{row}, {column}] = {source}[{beside}] - {source}[{row}, {column}]")

    def sums_of_strips(self) -> None:
        """Sums over strips, each added to its cell at once."""
        target, left, right = self.array(2), self.array(2), self.array(2)
        rows, columns, steps, width = self.size(), self.size(), self.size(), self.some("4", "8")
        self.say(0, f"for kk in range(0, {steps}, {width}):")
        self.say(1, f"for i in range({rows}):")
        self.say(2, f"for j in range({columns}):")
        self.say(3, "total = 0.0" if self.kind != "integer" else "total = 0")
        self.say(3, f"for k in range(kk, min(kk + {width}, {steps})):")
        self.say(4, f"total += {self._small(f'{left}[i, k] * {right}[k, j]')}")
        self.say(3, f"{target}[i, j] {self.some('+=', '-=')} total")

    def copies(self) -> None:
        """The same update of some cells side by side, and what is left over."""
        target, source = self.array(2), self.array(2)
        count, size = self.random.choice((2, 3, 4)), self.size()
        first = self.some("i", "j")
        loops = {"i": self.size(), "j": self.size(), first: size}

        def update(steps: int) -> str:
            at = {name: f"{name} + {steps}" if name == first and steps else name for name in loops}
            place, factor = f"{at['i']}, {at['j']}", "" if self.kind == "integer" else "0.5 * "
            return f"{target}[{place}] += {factor}{source}[{place}]"

        def nest(bounds: str) -> None:
            for depth, name in enumerate("ij"):
                self.say(depth, f"for {name} in range({bounds if name == first else loops[name]}):")

        nest(f"0, {size} - {count - 1}, {count}")
        for steps in range(count):
            self.say(2, update(steps) if self.chance(0.95) else update(0))
        if self.chance(0.6):
            nest(f"{size} - {size} % {count}, {size}")
            self.say(2, update(0))

    def copies_with_sums(self) -> None:
        """Sums of rows side by side, each in its variable, with a factor for all of them."""
        target, matrix, vector = self.array(1), self.array(2), self.array(1)
        count, size = self.random.choice((2, 4)), self.size()
        self.say(0, f"for i in range(0, {size} - {count - 1}, {count}):")
        names = [f"sum{steps}" for steps in range(count)]
        for name in names:
            self.say(1, f"{name} = 0.0" if self.kind != "integer" else f"{name} = 0")
        self.say(1, f"for j in range({self.size()}):")
        factor = f"{vector}[j]"
        if self.chance(0.5):
            self.say(2, f"factor = {factor}")
            factor = "factor"
        rows = [f"i + {steps}" if steps else "i" for steps in range(count)]
        for name, row in zip(names, rows, strict=True):
            self.say(2, f"{name} += {self._small(f'{matrix}[{row}, j] * {factor}')}")
        for name, row in zip(names, rows, strict=True):
            self.say(1, f"{target}[{row}] = {name}")
