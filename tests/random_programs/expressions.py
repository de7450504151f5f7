"""Random right-hand sides, conditions and subscripts as text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from random import Random

Kind = Literal["real", "integer", "complex"]


@dataclass(frozen=True)
class ArrayName:
    """An array that the program may use."""

    name: str
    rank: int
    dtype: str

    @property
    def kind(self) -> Kind:
        if self.dtype.startswith("complex"):
            return "complex"
        return "real" if self.dtype.startswith("float") else "integer"


@dataclass
class Surroundings:
    """What an expression may name at its place."""

    iterators: tuple[str, ...] = ()
    integers: tuple[str, ...] = ()


@dataclass
class Expressions:
    """Draws expressions over ``arrays``, ``scalars`` (name to kind) and the iterators around."""

    random: Random
    arrays: list[ArrayName]
    scalars: dict[str, Kind]
    sizes: list[str]
    special: bool = False
    data_dependent: bool = True
    flags: list[str] = field(default_factory=list)

    def pick(self, *weighted: tuple[float, str]) -> str:
        """One of the texts with the weights given."""
        return self.random.choices([text for _, text in weighted], [weight for weight, _ in weighted])[0]

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    # Subscripts

    def reference(self, array: ArrayName, around: Surroundings, *, spread: bool = False) -> str:
        """A cell; ``spread`` prefers a different cell in every iteration."""
        order = list(around.iterators)
        if self.chance(0.25):
            self.random.shuffle(order)
        elif len(order) > array.rank:
            order = order[-array.rank :] if self.chance(0.5) else order[: array.rank]
        parts = [
            self._subscript(order[axis] if axis < len(order) else None, around, spread)
            for axis in range(array.rank)
        ]
        return f"{array.name}[{', '.join(parts)}]"

    def _subscript(self, iterator: str | None, around: Surroundings, spread: bool) -> str:
        if iterator is None:
            return self._fixed_subscript(around)
        if self.chance(0.62 if spread else 0.45):
            return iterator
        other = self.random.choice(around.iterators)
        size = self.random.choice(self.sizes)
        constant = self.random.choice([1, 1, 2, 3])
        if self.data_dependent and self.flags and self.chance(0.08):
            return f"I[{iterator}]"
        if around.integers and self.chance(0.2):
            return self.random.choice(around.integers)
        return self.pick(
            (5, f"{iterator} - {constant}"),
            (5, f"{iterator} + {constant}"),
            (2, f"{size} - 1 - {iterator}"),
            (1, f"{constant + 1} * {iterator}"),
            (2, f"{iterator} + {other}"),
            (1, f"{iterator} - {other}"),
            (1, f"{other}"),
            (0.7, f"{iterator} // 2"),
            (0.7, f"{iterator} % {constant + 1}"),
            (0.4, f"({iterator} + {other}) % 3"),
            (0.4, f"{iterator} + {other} // 2"),
            (0.3, f"abs({iterator} - {other})"),
            (0.3, f"max({iterator} - 1, 0)"),
            (0.3, f"min({iterator} + 1, {other} + 2)"),
            (0.8, self._fixed_subscript(around)),
        )

    def _fixed_subscript(self, around: Surroundings) -> str:
        size = self.random.choice(self.sizes)
        iterator = self.random.choice(around.iterators) if around.iterators else "0"
        return self.pick(
            (3, "0"), (2, "1"), (1, size), (1, f"{size} // 2"), (1, "-1"), (0.4, "-2"), (3, iterator)
        )

    # Affine conditions

    def affine_condition(self, around: Surroundings, depth: int = 1) -> str:
        if depth and self.chance(0.25):
            left, right = self.affine_condition(around, 0), self.affine_condition(around, 0)
            return self.pick(
                (4, f"{left} and {right}"), (4, f"{left} or {right}"), (1, f"not ({left} and {right})"),
                (1, f"not {left} or {right}"),
            )  # fmt: skip
        if not around.iterators:
            size = self.random.choice(self.sizes)
            return self.pick(
                (2, f"{size} > 3"),
                (1, f"{size} % 2 == 0"),
                (1, f"{size} <= {self.random.choice(self.sizes)} + 1"),
            )
        first = self.random.choice(around.iterators)
        other = self.random.choice(around.iterators)
        size = self.random.choice(self.sizes)
        constant = self.random.randint(0, 4)
        return self.pick(
            (2, f"{first} < {size} - {constant}"),
            (2, f"{first} >= {constant}"),
            (2, f"{first} == {constant}"),
            (1, f"{first} != {constant}"),
            (2, f"{first} <= {other} + {constant}" if first != other else f"{first} <= {constant + 2}"),
            (1, f"{first} == {other}" if first != other else f"{first} != {size} - 1"),
            (2, f"{first} % 2 == {constant % 2}"),
            (1, f"({first} + {other}) % 3 == {constant % 3}"),
            (1, f"{constant} <= {first} < {size} - 1"),
            (1, f"{first} // 2 < {other}"),
            (1, f"{first} + {other} < {size}"),
            (1, f"2 * {first} > {size} - {other}"),
            (0.5, f"{first} % 3"),
            (0.5, f"not {first} == {constant}"),
        )

    # Conditions on data

    def data_condition(self, around: Surroundings, kind: Kind, depth: int = 1) -> str:
        if depth and self.chance(0.25):
            left, right = self.data_condition(around, kind, 0), self.data_condition(around, kind, 0)
            affine = self.affine_condition(around, 0)
            return self.pick(
                (2, f"{left} and {right}"),
                (2, f"{left} or {right}"),
                (1, f"({affine}) and {left}"),
                (1, f"not {left}"),
            )
        kind = "integer" if kind == "complex" else kind
        left, middle, right = (self.leaf(kind, around) for _ in range(3))
        operator = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
        if self.flags and self.chance(0.15):
            flag = [array for array in self.arrays if array.dtype == "bool"]
            if flag:
                return self.reference(flag[0], around)
        return self.pick((5, f"{left} {operator} {right}"), (1, f"{left} < {middle} <= {right}"))

    # Values

    def value(self, kind: Kind, around: Surroundings, depth: int = 2) -> str:
        if depth == 0 or self.chance(0.15):
            return self.leaf(kind, around)
        if kind == "real":
            return self._real(around, depth)
        return self._integer(around, depth) if kind == "integer" else self._complex(around, depth)

    def leaf(self, kind: Kind, around: Surroundings) -> str:
        arrays = [array for array in self.arrays if _fits(array, kind)]
        # Iterators come before scalars so that most programs read arrays.
        scalars = [
            name for name, of in self.scalars.items() if of == kind or (of == "integer" and kind != "integer")
        ]
        choices: list[tuple[float, str]] = [(0.7, self._constant(kind))]
        if arrays:
            choices.append((6, self.reference(self.random.choice(arrays), around)))
        if scalars:
            choices.append((1.5, self.random.choice(scalars)))
        if around.iterators:
            choices.append((0.8, self.random.choice(around.iterators)))
        choices.append((0.2, self.random.choice(self.sizes)))
        return self.pick(*choices)

    def _constant(self, kind: Kind) -> str:
        if kind == "integer":
            return str(self.random.choice([0, 1, 2, 3, 7, 100]))
        if kind == "complex":
            return self.random.choice(["1j", "(0.5 + 0.25j)", "2.0", "1.5"])
        return self.random.choice(["0.5", "1.25", "2.0", "1", "3", "0.0", "-0.75"])

    def _real(self, around: Surroundings, depth: int) -> str:
        first, second = self.value("real", around, depth - 1), self.value("real", around, depth - 1)
        condition = self.any_condition(around, "real")
        function = "np" if self.special else self.random.choice(["np", "math"])
        one, other = self.random.choice([("0.5", "0.25"), ("0.625", "-0.25"), ("-0.5", "0.375")])
        return self.pick(
            (6, f"{one} * ({first}) + {other} * ({second})"),
            (2, f"({first}) + ({second})"),
            (2, f"({first}) - ({second})"),
            (1, f"0.5 * ({first})"),
            (1.5, f"np.tanh({first}) * ({second})"),
            (1, f"({first}) / (abs({second}) + 1.5)"),
            (0.7, f"({first}) / 4"),
            (1, f"min({first}, {second})"),
            (1, f"max({first}, {second}, 0.125)"),
            (1, f"({first} if {condition} else {second})"),
            (0.7, f"{function}.sqrt(abs({first}))"),
            (0.7, f"{function}.sin({first})"),
            (0.4, f"{function}.exp(-abs({first}))"),
            (0.4, f"np.floor({first})"),
            (0.4, f"({first}) // 0.75"),
            (0.4, f"({first}) % 1.5"),
            (0.3, f"({first}) % -2.5"),
            (0.4, f"np.tanh({first}) ** 2"),
            (0.2, f"(abs({first}) + 0.5) ** -0.5"),
            (0.5, f"-({first})"),
            (0.3, f"abs({first})"),
            (0.2, f"np.maximum({first}, {second})"),
            (0.2, f"np.fmin({first}, {second})"),
            (0.2, f"({first} > {second}) * 0.5"),
        )

    def _integer(self, around: Surroundings, depth: int) -> str:
        first, second = self.value("integer", around, depth - 1), self.value("integer", around, depth - 1)
        condition = self.any_condition(around, "integer")
        constant = self.random.choice([2, 3, 5, -3, 7, -8])
        arrays = [array for array in self.arrays if array.kind == "integer" and array.dtype != "bool"]
        wide = self.reference(self.random.choice(arrays), around) if arrays else first
        return self.pick(
            (5, f"({first}) + ({second})"),
            (3, f"({first}) - ({second})"),
            (2, f"{constant} * {wide} + ({second})"),
            (1 if arrays else 0, f"{wide} * 1103515245 + 12345"),
            (1.5, f"({first}) // {constant}"),
            (1.5, f"({first}) % {constant}"),
            (0.5, f"({first}) // (abs({second}) % 7 + 1)"),
            (1, f"min({first}, {second})"),
            (1, f"max({first}, {second}, 2)"),
            (1, f"({first} if {condition} else {second})"),
            (0.5, f"abs({first})"),
            (0.5, f"({first}) % 10 ** 2"),
            (0.5, f"(({first}) % 11) ** 2"),
            (0.5, f"(({first}) & 255)"),
            (0.5, f"(({first}) ^ ({second}))"),
            (0.3, f"(({first}) | {abs(constant)})"),
            (0.3, f"(({first}) % 64 << 2)"),
            (0.3, f"(({first}) >> 1)"),
            (0.3, f"~({first})"),
            (0.4, f"-({first})"),
            (0.3, f"int(({first}) % 100 / 7)"),
            (0.2, f"({first} > {second}) + 1"),
        )

    def _complex(self, around: Surroundings, depth: int) -> str:
        first, second = self.value("complex", around, depth - 1), self.value("complex", around, depth - 1)
        return self.pick(
            (5, f"0.5 * ({first}) + 0.25 * ({second})"),
            (2, f"({first}) - ({second})"),
            (2, f"({first}) * 0.5j"),
            (1, f"np.conj({first})"),
            (1, f"({first}) / (abs({second}) + 1.5)"),
            (1, f"abs({first})"),
            (1, f"({first}) * ({second}) / (1.0 + abs({first}) * abs({second}))"),
        )

    def any_condition(self, around: Surroundings, kind: Kind) -> str:
        affine = bool(around.iterators) and self.chance(0.4)
        return self.affine_condition(around, 0) if affine else self.data_condition(around, kind, 0)


def _fits(array: ArrayName, kind: Kind) -> bool:
    if array.dtype == "bool":
        return False
    return kind in (array.kind, "complex") or (kind == "real" and array.kind == "integer")
