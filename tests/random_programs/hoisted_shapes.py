"""Random products and windows whose factors stand in variables, a loop or two further out than they are used.

A person takes ``a = A[i, k]`` out of the innermost loop, computes a pivot once, or has a convolution begin with the
weight. The variable then moves with loops of which its name tells nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.random_programs.odd_shapes import OddDraft

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class HoistedDraft(OddDraft):
    """A draft whose text is a few of these shapes, and sometimes a plain one among them."""

    @property
    def shapes(self) -> list[tuple[float, Callable[[], None]]]:
        return [
            (4, self.factors), (3, self.eliminated), (2, self.substituted), (3, self.window_in_any_order),
            (2, self.two_updates), (1, self.product), (0.5, self.chain),
        ]  # fmt: skip

    def _hoisted(self, value: str, depth: int) -> str:
        """A variable with ``value``, or now and then the value itself."""
        if self.chance(0.2):
            return value
        name = f"f{len([line for line in self.lines if line.strip().startswith('f')])}"
        self.say(depth, f"{name} = {value}")
        return name

    def _element(self, array: str, iterators: Sequence[str]) -> str:
        return f"{array}[{', '.join(iterators)}]"

    def _small(self, term: str) -> str:
        """A product of whole numbers that does not wrap around however often it is added."""
        return f"({term}) % 101" if self.kind == "integer" else term

    def factors(self) -> None:
        """A product of matrices in any order of its loops, with variables between them."""
        target, left, right = self.array(2), self.array(2), self.array(2)
        factors = {frozenset("ik"): self._element(left, self.some("ik", "ik", "ki"))}
        factors[frozenset("kj")] = self._element(right, self.some("kj", "kj", "jk"))
        if self.chance(0.4):
            own = self.some("i", "j", "k")
            factors[frozenset(own)] = self._element(self.array(1), own)
        order = self.some("ikj", "kij", "jki", "kji", "ijk", "jik")
        behind: list[str] = []
        for depth, iterator in enumerate(order):
            self.over(depth, iterator, order[:depth])
            around = frozenset(order[: depth + 1])
            for known in [one for one in factors if depth < 2 and iterator in one and one <= around]:
                value = factors[known] if self.chance(0.5) else f"{self.factor()} * {factors[known]}"
                factors[known] = self._hoisted(value, depth + 1)
            if depth == 1 and self.chance(0.3):
                cell = self._element(target, order[:2])
                behind.append(f"{cell} {self.some('+=', '*=')} {self.factor()}")
        term = self._small(" * ".join(self.random.sample(list(factors.values()), len(factors))))
        depth = self.guard(3, "ijk")
        self.say(depth, f"{self._element(target, 'ij')} {self.some('+=', '-=')} {term}")
        for line in behind:
            self.say(2, line)

    def eliminated(self) -> None:
        """Rows below the pivot, with the pivot or the factor of a row in a variable."""
        name, size = self.array(2), self.size()
        self.say(0, f"for k in range({size}{self.some('', ' - 1')}):")
        pivot = self._hoisted(f"{name}[k, k]", 1)
        self.say(1, f"for i in range(k + 1, {size}):")
        below = f"{name}[i, k] - {pivot}" if self.kind == "integer" else f"{name}[i, k] * {pivot}"
        factor = self._hoisted(below if self.chance(0.7) else f"{name}[i, k]", 2)
        self.say(2, f"for j in range(k{self.some('', ' + 1', ' + 1')}, {size}):")
        term = self._small(f"({factor}) * {name}[k, j]")
        self.say(3, f"{name}[i, j] -= {term}")
        if self.chance(0.4):
            vector = self.array(1)
            self.say(2, f"{vector}[i] -= {self._small(f'({factor}) * {vector}[k]')}")
        if self.chance(0.3):
            self.say(2, f"{self.array(2, name)}[i, k] = {factor}")

    def substituted(self) -> None:
        """Several right-hand sides at once, with what a row is multiplied by in a variable."""
        matrix, sides = self.array(2), self.array(2)
        rows, columns = self.size(), self.size()
        self.say(0, f"for i in range({rows}):")
        self.say(1, "for k in range(i):")
        factor = self._hoisted(f"{matrix}[i, k]", 2)
        self.say(2, f"for j in range({columns}):")
        self.say(3, f"{sides}[i, j] -= {self._small(f'{factor} * {sides}[k, j]')}")
        scale = self._hoisted(f"{self.factor()} * {matrix}[i, i]", 1)
        self.say(1, f"for j in range({columns}):")
        self.say(2, f"{sides}[i, j] {self.some('*=', '-=', '+=')} {self._small(scale)}")

    def window_in_any_order(self) -> None:
        """A window of numbers slides over a matrix; its loops and those over the matrix stand in any order."""
        target = self.array(2)
        image, weights = (self.array(2, *([target] if self.chance(0.8) else [])) for _ in range(2))
        order = "".join(self.random.sample("ijpq", 4))
        weight = f"{weights}[p, q]"
        for depth, iterator in enumerate(order):
            self.say(depth, f"for {iterator} in range({self.size() if iterator in 'ij' else self.some('3', '5')}):")
            if depth < 3 and {*"pq"} <= {*order[: depth + 1]} and weight.startswith(weights):
                weight = self._hoisted(weight, depth + 1)
        term = self._small(f"{image}[i + p, j + q] * {weight}")
        self.say(4, f"{target}[i, j] {self.some('+=', '-=')} {term}")

    def two_updates(self) -> None:
        """A product, and cells of the same matrix that are set in the loop around its sum."""
        target, left, right = self.array(2), self.array(2), self.array(2)
        self.nest(("i", "k"))
        factor = self._hoisted(f"{left}[i, k]", 2)
        self.over(2, "j", "ik")
        self.say(3, f"{target}[i, j] += {self._small(f'{factor} * {right}[k, j]')}")
        self.say(2, f"{target}[i, k] {self.some('+=', '-=', '*=')} {self.some(factor, self.factor())}")
