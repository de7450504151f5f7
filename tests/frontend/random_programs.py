"""Random loop programs for the front end: text and arguments from a seed.

Loops are imperfect, triangular, strided and run backwards; conditions and subscripts are affine or depend on data;
scalars, counters, integer temporaries, tuples and conditional expressions take part. Arrays are large enough for every
subscript, negative ones included, so each program runs under plain Python.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

EXTENT = 90


@dataclass
class RandomProgram:
    """The text of a function ``f`` and its arguments."""

    text: str
    arguments: dict[str, Any]


@dataclass
class Writer:
    """Writes one program; ``iterators`` are the loop variables in scope, ``integers`` integer temporaries."""

    random: random.Random
    lines: list[str] = field(default_factory=list)
    iterators: list[str] = field(default_factory=list)
    integers: list[str] = field(default_factory=list)
    statements: int = 0

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def affine(self) -> str:
        """An integer expression of small size."""
        terms = [*self.iterators, *self.integers, "n", "m"]
        term = self.random.choice(terms[-4:] if self.chance(0.3) else terms)
        constant = self.random.randint(0, 3)
        return self.random.choice(
            [
                term,
                f"{term} + {constant}",
                f"{term} - {constant}",
                f"2 * {term}",
                f"{term} // 2",
                f"{term} % 3",
                f"n - {term}",
                f"{term} + {self.random.choice(terms)}",
                f"min({term}, {self.random.choice(terms)})",
                f"({term} + {constant}) % n",
                f"abs({term} - {constant})",
                str(constant),
            ]
        )

    def subscript(self) -> str:
        if self.chance(0.1):
            return f"idx[{self.affine()}]"
        return self.affine() if self.chance(0.95) else "-1"

    def cell(self) -> str:
        if self.chance(0.5):
            return f"{self.random.choice('vw')}[{self.subscript()}]"
        return f"{self.random.choice('AB')}[{self.subscript()}, {self.subscript()}]"

    def value(self, depth: int = 2) -> str:
        if depth == 0 or self.chance(0.25):
            atoms = [
                self.cell(),
                self.random.choice("st"),
                "alpha",
                str(self.random.randint(1, 3)),
                self.affine(),
            ]
            return self.random.choice([*atoms, self.cell()])
        left, right = self.value(depth - 1), self.value(depth - 1)
        return self.random.choice(
            [
                f"({left} + {right})",
                f"({left} - {right})",
                f"0.5 * ({left})",
                f"max({left}, {right})",
                f"({left} if {self.condition()} else {right})",
                f"abs({left})",
            ]
        )

    def condition(self) -> str:
        operator = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
        if self.chance(0.2):
            return f"{self.cell()} {operator} {self.value(0)}"
        first = f"{self.affine()} {operator} {self.affine()}"
        if self.chance(0.3):
            return f"{first} {self.random.choice(['and', 'or'])} {self.affine()} % 2 == {self.random.randint(0, 1)}"
        return f"not ({first})" if self.chance(0.1) else first

    def bounds(self) -> str:
        start = self.random.choice(["0", "1", *self.iterators])
        stop = self.random.choice(["n", "m", "n - 1", "m + 1", *(f"{name} + 2" for name in self.iterators)])
        if self.chance(0.2):
            stop = f"min({stop}, {self.random.choice(['n', 'm', '4'])})"
        if self.chance(0.25):
            return f"range({stop} - 1, {start} - 1, -{self.random.choice([1, 1, 2])})"
        if self.chance(0.1):
            return f"range({start}, idx[{self.affine()}] % 4)"
        return (
            f"range({start}, {stop})"
            if self.chance(0.8)
            else f"range({start}, {stop}, {self.random.randint(2, 3)})"
        )

    def block(self, depth: int, size: int) -> None:
        known = len(self.integers)
        for _ in range(size):
            self.part(depth)
        del self.integers[known:]

    def part(self, depth: int) -> None:
        choice = self.random.random()
        if choice < 0.3 and len(self.iterators) < 3:
            self.loop(depth)
        elif choice < 0.45 and depth < 5 and depth > 1:
            self.branch(depth)
        else:
            self.assignment(depth)

    def loop(self, depth: int) -> None:
        name = self.random.choice([name for name in "ijkl" if name not in self.iterators])
        self.line(depth, f"for {name} in {self.bounds()}:")
        hidden = list(self.iterators)
        self.iterators = [*hidden, name]
        if self.chance(0.15):
            self.line(depth + 1, f"if {self.condition()}:")
            self.line(depth + 2, "continue")
        self.block(depth + 1, self.random.randint(1, 3))
        self.iterators = hidden

    def branch(self, depth: int) -> None:
        self.line(depth, f"if {self.condition()}:")
        self.block(depth + 1, self.random.randint(1, 2))
        if self.chance(0.5):
            self.line(depth, "else:")
            self.block(depth + 1, 1)

    def assignment(self, depth: int) -> None:
        self.statements += 1
        choice = self.random.random()
        if choice < 0.35:
            self.line(depth, f"{self.cell()} = {self.value()}")
        elif choice < 0.55:
            self.line(depth, f"{self.cell()} {self.random.choice(['+=', '-='])} {self.value()}")
        elif choice < 0.7:
            self.line(
                depth, f"{self.random.choice('st')} {self.random.choice(['=', '=', '+='])} {self.value()}"
            )
        elif choice < 0.8:
            name = f"p{len(self.integers)}"
            self.line(depth, f"{name} = {self.affine()}")
            self.integers.append(name)
        elif choice < 0.88:
            self.line(depth, f"{self.cell()}, {self.random.choice('st')} = {self.value(1)}, {self.cell()}")
        elif choice < 0.94:
            self.line(depth, f"s = {self.cell()} = {self.value(1)}")
        else:
            self.line(depth, "count += 1")


def random_program(seed: int) -> RandomProgram:
    """The program of a seed; the same seed gives the same program."""
    writer = Writer(random.Random(seed))
    writer.line(0, "def f(A, B, v, w, idx, alpha, n, m):")
    writer.line(1, "s = 0.0")
    writer.line(1, "t = 1.0")
    writer.line(1, "count = 0")
    for _ in range(writer.random.randint(1, 3)):
        writer.loop(1)
    writer.line(1, "return s, t, count")
    data = np.random.default_rng(seed)
    arguments = {
        "A": data.standard_normal((EXTENT, EXTENT)),
        "B": data.standard_normal((EXTENT, EXTENT)),
        "v": data.standard_normal(EXTENT),
        "w": data.standard_normal(EXTENT),
        "idx": data.integers(0, EXTENT, EXTENT),
        "alpha": 0.5,
        "n": writer.random.randint(0, 6) if writer.chance(0.2) else writer.random.randint(3, 6),
        "m": writer.random.randint(2, 5),
    }
    return RandomProgram("\n".join(writer.lines) + "\n", arguments)
