"""Parts of a program of a shape: names, loops, conditions and right-hand sides as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.random_programs.draft import Draft
from tests.random_programs.expressions import ArrayName, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

OFFSETS = (-1, -1, 0, 0, 0, 1, 1, -2, 2)
NAMES = "ABCDEGHKLMOPQRSTUVW"
FEW = 5
"""Arrays beyond these only where there is none of the rank."""


@dataclass
class Wording(Draft):
    """A draft that knows how to say the parts that shapes have in common."""

    @property
    def zero(self) -> str:
        return {"integer": "0", "real": "0.0", "complex": "0j"}[self.kind]

    @property
    def kind(self) -> Kind:
        if self.family[0].startswith("complex"):
            return "complex"
        return "real" if any(name.startswith("float") for name in self.family) else "integer"

    def _dtype_of_numbers(self) -> str:
        return {"integer": "int64", "real": "float64", "complex": "complex128"}[self.kind]

    def say(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def some(self, *texts: str) -> str:
        return self.random.choice(texts)

    def array(self, rank: int, *but: str) -> str:
        """The name of an array of ``rank``, a new one or one of those there are."""
        known = [one.name for one in self.arrays if one.rank == rank and one.name not in but]
        if known and (self.chance(0.6) or len(self.arrays) >= FEW):
            return self.random.choice(known)
        name = NAMES[len(self.arrays)]
        self.arrays.append(ArrayName(name, rank, self.random.choice(self.family)))
        return name

    def scalar(self) -> str:
        """A new scalar."""
        free = [name for name in "suvwxyz" if name not in self.scalars]
        name = free[0] if free else "s"
        self.scalars[name] = self.kind
        return name

    def size(self) -> str:
        return self.random.choice(self.sizes)

    def offset(self, iterator: str, offsets: Sequence[int] = OFFSETS) -> str:
        number = self.random.choice(offsets)
        return iterator if not number else f"{iterator} {'-' if number < 0 else '+'} {abs(number)}"

    def over(self, depth: int, iterator: str, outer: Sequence[str] = (), size: str | None = None) -> None:
        """A line with a loop; one in three has a bound or direction that is out of the ordinary."""
        size = size or self.size()
        plain = [size, size, size, f"1, {size} - 1", f"1, {size}"]
        odd = [f"{size} - 1, -1, -1", f"0, {size}, 2", f"1, {size}, 3", f"{size} - 2, 0, -1", f"{size} + 1", "3", "5",
               f"{size} // 2", f"2, {size} - 2", f"{size} - 1, 0, -2", f"min({size}, {self.size()} + 3)",
               f"max({size} - 5, 0), {size}"]  # fmt: skip
        for other in outer:
            odd += [other, f"{other} + 1", f"{other}, {size}", f"{other} + 1, {size}", f"{other} - 1, -1, -1",
                    f"{size} - 1, {other}, -1", f"max(0, {other} - 2), min({size}, {other} + 3)"]  # fmt: skip
        text = self.random.choice(odd if self.chance(0.33) else plain)
        self.say(depth, f"for {iterator} in range({text}):")

    def nest(self, iterators: Sequence[str], depth: int = 0) -> int:
        """Loops, one in the other; the depth inside."""
        for position, iterator in enumerate(iterators):
            self.over(depth + position, iterator, list(iterators[:position]))
        return depth + len(iterators)

    def guard(self, depth: int, iterators: Sequence[str]) -> int:
        if not self.chance(0.15):
            return depth
        one, other = self.random.choice(iterators), self.random.choice(iterators)
        self.say(depth, "if " + self.some(
            f"{one} != {other}", f"{one} >= {other}", f"{one} < {self.size()} - 2", f"{one} % 2 == 0", f"{one} > 0",
            f"{one} + {other} < {self.size()}", f"{one} == 0 or {other} == {self.size()} - 1",
        ) + ":")  # fmt: skip
        return depth + 1

    def factor(self) -> str:
        if self.numbers and self.chance(0.4):
            return "alpha"
        if self.kind == "integer":
            return self.some("3", "2", "-1", "7")
        return self.some("0.5", "0.25", "1.5", "-0.75", "2")

    def combined(self, terms: Sequence[str]) -> str:
        """An expression of all ``terms``."""
        if self.kind == "integer":
            text = " + ".join(f"{self.factor()} * {term}" if self.chance(0.4) else term for term in terms)
            # numba counts on it that numbers do not wrap around before they are divided or shifted.
            small = f"((({text}) & 4095) - 2048)"
            return self.some(text, text, f"{small} // 3", f"{small} % 101", f"{small} >> 1")
        if self.kind == "real" and self.chance(0.1):
            return f"{self.some('min', 'max')}({', '.join(terms)})" if len(terms) > 1 else f"({terms[0]}) / 3"
        text = " + ".join(terms)
        return self.some(
            f"({text}) * {1 / max(len(terms), 2)}", f"({text}) / {len(terms) + 0.5}",
            " + ".join(f"{0.5 / len(terms):.4f} * {term}" for term in terms),
        )  # fmt: skip
