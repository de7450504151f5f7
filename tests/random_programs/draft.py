"""The text of a random program: names, loops, choices and statements; subscripts are put in range later."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.random_programs.expressions import ArrayName, Expressions, Kind, Surroundings

if TYPE_CHECKING:
    from random import Random

    from tests.random_programs.program import Layout

ITERATORS = "ijkl"
FAMILIES: tuple[tuple[float, tuple[str, ...]], ...] = (
    (40, ("float64",)),
    (30, ("int64",)),
    (8, ("float64", "int64")),
    (6, ("float32",)),
    (3, ("float32", "float64")),
    (4, ("int32",)),
    (2, ("uint8", "int64")),
    (4, ("complex128",)),
    (1, ("complex64",)),
)


MIXTURES: tuple[tuple[float, tuple[str, ...]], ...] = (
    (4, ("int32", "float32")),
    (3, ("float32", "float64")),
    (3, ("int32", "int64")),
    (2, ("int64", "float32")),
    (2, ("uint8", "float64")),
    (2, ("int32", "float64")),
    (2, ("float64",)),
    (1, ("float32", "complex64")),
)
"""Element types side by side: conversions at every assignment."""


@dataclass(frozen=True)
class Profile:
    """What the programs may hold; the defaults are everything.

    ``locals`` is the share of arrays that are temporaries, ``choices`` that of conditions, ``late_reads`` that of
    scalars which only one iteration reads; ``bounds`` weighs bounds with ``min`` and ``max``, steps and directions.
    """

    depth: int = 4
    statements: int = 7
    data_dependent: bool = True
    families: tuple[tuple[float, tuple[str, ...]], ...] = FAMILIES
    limit: int = 6000
    """Most array accesses that a case may execute."""
    locals: float = 0.15
    choices: float = 0.18
    late_reads: float = 0.0
    bounds: float = 1.0
    shaped: bool = False
    odd: bool = False
    """Of the programs of a shape, those of rare ones."""
    deep: bool = False
    """Of the programs of a shape, those of deep loops and of what the newest techniques are made for."""
    hoisted: bool = False
    """Of the programs of a shape, those with factors in variables."""
    by_hand: bool = False
    """Of the programs of a shape, those with loops cut into strips and unrolled."""
    layouts: tuple[tuple[float, Layout], ...] = ((85, "C"), (8, "F"), (7, "strided"))
    """How arrays lie in memory; all of a program alike unless `odd`."""


EVERYTHING = Profile()
SMALL = Profile(depth=3, statements=4)
"""Programs that are quick to analyse and easy to read when they fail."""
MIXED = Profile(
    depth=3, statements=5, families=MIXTURES, locals=0.4, choices=0.25, late_reads=0.25, bounds=4.0
)
"""What other profiles hold rarely: mixed types, temporaries, values read once, odd bounds and steps."""
SHAPED = Profile(shaped=True, limit=20_000)
"""Products, stencils, recurrences and sums as people write them."""
ODD = Profile(
    shaped=True,
    odd=True,
    limit=20_000,
    locals=0.2,
    layouts=((50, "C"), (10, "F"), (10, "strided"), (10, "reversed"), (10, "misaligned"), (10, "swapped")),
)
"""Rare shapes, and arrays that lie in memory in every way there is, each in its own."""
DEEP = Profile(shaped=True, odd=True, deep=True, limit=20_000)
"""Products of tensors, recurrences in place, factors in common, exchanged arrays, limits from data."""
HOISTED = Profile(shaped=True, odd=True, hoisted=True, limit=20_000)
"""Products and windows whose factors stand in variables between the loops."""
BY_HAND = Profile(shaped=True, odd=True, by_hand=True, limit=20_000)
"""Loops that somebody has cut into strips, or unrolled."""


@dataclass
class Draft:
    """A program while it is written: `lines` are its body, the rest the names that it may use."""

    random: Random
    profile: Profile
    lines: list[str] = field(default_factory=list)
    sizes: list[str] = field(default_factory=list)
    arrays: list[ArrayName] = field(default_factory=list)
    scalars: dict[str, Kind] = field(default_factory=dict)
    numbers: dict[str, str] = field(default_factory=dict)
    remaining: int = 0
    special: bool = False
    indices: bool = False
    temporaries: int = 0

    def write(self) -> None:
        """Draw the names, then the text."""
        random = self.random
        self.family = random.choices(
            [names for _, names in self.profile.families], [w for w, _ in self.profile.families]
        )[0]
        self.sizes = ["n", "m", "q"][: random.choices([1, 2, 3], [5, 4, 1])[0]]
        self.remaining = random.randint(1, self.profile.statements)
        self.special = random.random() < 0.06
        self.indices = self.profile.data_dependent and random.random() < 0.15
        for name in "ABCDE"[: random.randint(1, 4)]:
            rank = random.choices([1, 2, 3], [4, 5, 1])[0]
            self.arrays.append(ArrayName(name, rank, random.choice(self.family)))
        if random.random() < 0.08:
            self.arrays.append(ArrayName("F", 1, "bool"))
        main = self.kind
        for name in ("alpha", "beta")[: random.choices([0, 1, 2], [5, 4, 1])[0]]:
            self.numbers[name] = _scalar_dtype(main)
        for name in "stuv"[: random.choices([0, 1, 2, 3], [4, 4, 2, 1])[0]]:
            self.scalars[name] = main
        self.expressions = Expressions(
            random,
            self.arrays,
            {**dict.fromkeys(self.numbers, main), **self.scalars},
            self.sizes,
            self.special,
            self.profile.data_dependent,
            ["I"] if self.indices else [],
        )
        for name in self.scalars:
            self.lines.append(f"{name} = {'0' if main == 'integer' else self._start_value(main)}")
        for _ in range(random.choices([1, 2, 3], [5, 3, 2])[0]):
            depth = random.choices([1, 2, 3, 4], [3, 5, 3, 1])[0]
            self.loop(min(depth, self.profile.depth), Surroundings(), "")
            if self.scalars and random.random() < 0.15:
                self.assignment(Surroundings(), "")

    @property
    def kind(self) -> Kind:
        kinds = {array.kind for array in self.arrays}
        return "complex" if "complex" in kinds else "real" if "real" in kinds else "integer"

    def _start_value(self, kind: Kind) -> str:
        return "0j" if kind == "complex" else self.random.choice(["0.0", "0.0", "1.0", "0"])

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    # Structure

    def loop(self, depth: int, around: Surroundings, indent: str) -> None:
        iterator = ITERATORS[len(around.iterators)]
        prefix = "numba.prange" if not indent and self.chance(0.04) else "range"
        arguments = self.range_arguments(around)
        if prefix != "range":
            arguments = self.pick_size()
        self.lines.append(f"{indent}for {iterator} in {prefix}({arguments}):")
        inside = Surroundings((*around.iterators, iterator), around.integers)
        self.block(depth - 1, inside, indent + "    ")

    def block(self, depth: int, around: Surroundings, indent: str) -> None:
        number = self.random.choices([1, 2, 3], [6, 3, 1])[0]
        nested = self.random.randrange(number)
        for position in range(number):
            if self.chance(0.08):
                around = self.integer_temporary(around, indent)
            if depth > 0 and (position == nested or (self.chance(0.3) and self.remaining > 0)):
                self.loop(depth, around, indent)
            elif self.chance(self.profile.choices):
                self.choice(depth, around, indent)
            else:
                self.assignment(around, indent)

    def choice(self, depth: int, around: Surroundings, indent: str) -> None:
        for keyword in ("if", "elif") if self.chance(0.2) else ("if",):
            self.lines.append(f"{indent}{keyword} {self.condition(around)}:")
            self.branch(depth, around, indent + "    ")
        if self.chance(0.4):
            self.lines.append(f"{indent}else:")
            self.branch(depth, around, indent + "    ")

    def branch(self, depth: int, around: Surroundings, indent: str) -> None:
        if depth > 1 and self.chance(0.15):
            self.loop(1, around, indent)
        else:
            self.assignment(around, indent)
            if self.chance(0.2):
                self.assignment(around, indent)

    def condition(self, around: Surroundings) -> str:
        if self.profile.data_dependent and self.chance(0.25):
            return self.expressions.data_condition(around, self.kind)
        return self.expressions.affine_condition(around)

    def integer_temporary(self, around: Surroundings, indent: str) -> Surroundings:
        iterator = self.random.choice(around.iterators)
        other = self.random.choice([*around.iterators, *self.sizes])
        if self.temporaries >= 3:
            return around
        name = f"p{self.temporaries}"
        self.temporaries += 1
        value = self.expressions.pick(
            (3, f"{iterator} + 1"), (2, f"2 * {iterator} + 1"), (1, f"{iterator} + {other}"), (1, f"{iterator} // 2"),
            (1, f"min({iterator} + 2, {other})"),
        )  # fmt: skip
        self.lines.append(f"{indent}{name} = {value}")
        return Surroundings(around.iterators, (*around.integers, name))

    def pick_size(self) -> str:
        return self.random.choice(self.sizes)

    def range_arguments(self, around: Surroundings) -> str:
        size, other = self.pick_size(), self.pick_size()
        constant = self.random.choice([1, 1, 2, 3])
        step = self.random.choice([2, 2, 3, 4])
        forms: list[tuple[float, str]] = [
            (10, size),
            (3, f"{constant}, {size}"),
            (3, f"1, {size} - 1"),
            (1, f"{size} - {constant}"),
            (1, f"{size} + {constant}"),
            (1 * self.profile.bounds, f"0, {size}, {step}"),
            (1 * self.profile.bounds, f"{constant}, {size}, {step}"),
            (1.5 * self.profile.bounds, f"{size} - 1, -1, -1"),
            (0.7 * self.profile.bounds, f"{size} - 2, 0, -{step}"),
            (0.7, f"{size} // 2"),
            (0.7, f"{size} // 3, {size}"),
            (0.5, f"{size} % 4, {size}"),
            (0.5 * self.profile.bounds, f"min({size}, {other} + 2)"),
            (0.5 * self.profile.bounds, f"max({size}, {other})"),
            (0.5, f"{size} + {other}"),
            (0.7, str(constant + 2)),
            (0.2, "4, 2"),
        ]
        if around.iterators:
            outer = around.iterators[-1] if self.chance(0.8) else self.random.choice(around.iterators)
            forms += [
                (3, outer),
                (3, f"{outer} + 1"),
                (3, f"{outer}, {size}"),
                (2, f"{outer} + 1, {size}"),
                (2, f"{outer} - 1, {outer} + 2"),
                (2, f"max(0, {outer} - {constant}), min({size}, {outer} + {constant + 1})"),
                (1, f"{outer}, min({outer} + {step}, {size})"),
                (1, f"{outer}, -1, -1"),
                (1, f"{size} - 1, {outer}, -1"),
                (0.7, f"{outer} // 2, {outer} + 1"),
                (0.7, f"{outer} % 3, {size}, 3"),
                (0.7, f"{outer}, {size}, {step}"),
                (0.7, f"{size} - {outer}"),
                (0.5, f"0, {outer}, {step}"),
                (0.4, f"2 * {outer}, {size} + {outer}"),
            ]
        return self.expressions.pick(*forms)

    # Statements

    def assignment(self, around: Surroundings, indent: str) -> None:
        self.remaining -= 1
        if (
            self.scalars
            and around.iterators
            and self.profile.late_reads
            and self.chance(self.profile.late_reads)
        ):
            self.late_read(around, indent)
            return
        if self.scalars and (not around.iterators or self.chance(0.3)):
            self.scalar_statement(around, indent)
            return
        array = self.random.choice(self.arrays)
        if array.dtype == "bool":
            target = self.expressions.reference(array, around, spread=True)
            self.lines.append(f"{indent}{target} = {self.expressions.data_condition(around, self.kind)}")
            return
        target = self.expressions.reference(array, around, spread=True)
        self.lines.append(indent + self.array_statement(array, target, around, indent))

    def array_statement(self, array: ArrayName, target: str, around: Surroundings, indent: str) -> str:
        kind, expressions = array.kind, self.expressions
        value = expressions.value(kind, around)
        left, right = expressions.leaf(kind, around), expressions.leaf(kind, around)
        others = [other for other in self.arrays if other.kind == kind and other.dtype != "bool"]
        several = expressions.reference(self.random.choice(others), around, spread=True)
        forms = [
            (8, f"{target} = {value}"),
            (4, f"{target} += {value}"),
            (
                3,
                f"{target} += {left} * {right}" if kind != "integer" else f"{target} += 3 * {left} - {right}",
            ),
            (1, f"{target} -= {left}"),
            (2, f"{target} = {self.stencil(target, kind)}"),
            (0.7, f"{several} = {target} = {value}"),
        ]
        if kind != "complex":
            extreme = self.random.choice(["min", "max"])
            forms += [(1, f"{target} = {extreme}({target}, {left})")]
        if kind == "integer":
            forms += [(0.5, f"{target} ^= {left}"), (0.5, f"{target} %= 13"), (0.3, f"{target} //= -3")]
        else:
            forms += [(0.6, f"{target} *= 0.75"), (0.4, f"{target} /= 3.0")]
        return expressions.pick(*forms)

    def stencil(self, target: str, kind: Kind) -> str:
        """The cell and neighbours of it, averaged."""
        array, _, subscripts = target.partition("[")
        first, comma, rest = subscripts[:-1].partition(", ")
        if first.startswith("-"):
            return target
        back, ahead = f"{array}[{first} - 1{comma}{rest}]", f"{array}[{first} + 1{comma}{rest}]"
        if kind == "integer":
            return self.expressions.pick((1, f"({back} + {target} + {ahead}) // 3"), (1, f"{back} - {ahead}"))
        return self.expressions.pick(
            (2, f"({back} + {target} + {ahead}) / 3"), (1, f"0.5 * ({back} + {target})")
        )

    def scalar_statement(self, around: Surroundings, indent: str) -> None:
        name = self.random.choice(list(self.scalars))
        kind, expressions = self.scalars[name], self.expressions
        array = self.array_leaf(kind, around)
        if kind == "integer":
            text = expressions.pick(
                (4, f"{name} += {array}"), (2, f"{name} = {array}"), (1, f"{name} = {name} * 31 + {array}"),
                (2, f"{name} = max({name}, {array})"), (1, f"{name} ^= {array}"), (1, f"{name} = {array} - {name}"),
            )  # fmt: skip
        else:
            value, leaf = expressions.value(kind, around), expressions.leaf(kind, around)
            extreme = self.random.choice(["min", "max"]) if kind == "real" else ""
            text = expressions.pick(
                (4, f"{name} += {array} * {leaf}"),
                (3, f"{name} = {value}"),
                (2, f"{name} = {extreme}({name}, {array})" if extreme else f"{name} -= {array}"),
                (1, f"{name} = 0.5 * {name} + {array}"),
                (0.5, f"{name} *= 0.75"),
            )
        if self.profile.data_dependent and kind != "complex" and around.iterators and self.chance(0.08):
            self.lines.append(f"{indent}if {array} > {name}:")
            self.lines.append(f"{indent}    {name} = {array}")
            return
        self.lines.append(indent + text)

    def late_read(self, around: Surroundings, indent: str) -> None:
        """A scalar that every iteration assigns and one of them reads."""
        name, iterator = self.random.choice(list(self.scalars)), self.random.choice(around.iterators)
        kind = self.scalars[name]
        array = self.random.choice([one for one in self.arrays if one.dtype != "bool"])
        target = self.expressions.reference(array, around, spread=True)
        when = self.random.choice([f"{self.pick_size()} - 1", "0", "2"])
        read = name if kind in (array.kind, "integer") else self.expressions.leaf(array.kind, around)
        self.lines += [
            f"{indent}{name} = {self.expressions.value(kind, around)}",
            f"{indent}if {iterator} == {when}:",
            f"{indent}    {target} = {read}",
        ]

    def array_leaf(self, kind: Kind, around: Surroundings) -> str:
        fitting = [array for array in self.arrays if array.kind == kind and array.dtype != "bool"]
        return self.expressions.reference(self.random.choice(fitting), around)


def _scalar_dtype(kind: Kind) -> str:
    return {"integer": "int64", "real": "float64", "complex": "complex128"}[kind]
