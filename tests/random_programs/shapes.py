"""Random programs of the shapes that people write: products, stencils over time, recurrences, solvers, sums.

Loops drawn freely seldom have a form that a technique of the mapping is made for; these have one, up to details.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from tests.random_programs.expressions import Expressions
from tests.random_programs.wording import Wording

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass
class ShapedDraft(Wording):
    """A draft whose text is a few shapes that share arrays."""

    def write(self) -> None:
        """Draw names and types, then one to three shapes."""
        random = self.random
        weights = [weight for weight, _ in self.profile.families]
        self.family = random.choices([names for _, names in self.profile.families], weights)[0]
        self.sizes = ["n", "m", "q"][: random.choices([1, 2, 3], [5, 4, 2])[0]]
        self.temporaries = 0
        if self.chance(0.3):
            self.numbers["alpha"] = self._dtype_of_numbers()
        self.expressions = Expressions(random, self.arrays, {}, self.sizes, data_dependent=False)
        shapes = self.shapes
        for _ in range(random.choices([1, 2, 3], [6, 3, 1])[0]):
            random.choices([shape for _, shape in shapes], [weight for weight, _ in shapes])[0]()
        self._start_scalars()

    @property
    def shapes(self) -> list[tuple[float, Callable[[], None]]]:
        """What writes a shape, with its weight."""
        return [
            (4, self.product), (4, self.sweep), (2, self.columns), (2, self.recurrence), (2, self.solver),
            (2, self.sums), (1.5, self.window), (1, self.histogram), (1, self.extremes), (1, self.chain),
        ]  # fmt: skip

    def _start_scalars(self) -> None:
        """What a loop assigns first has a value before it, or nobody reads it afterwards."""
        for name in tuple(self.scalars):
            first = next((line for line in self.lines if line.strip().startswith(f"{name} = ")), "")
            if first.startswith(" ") and self.chance(0.5):
                self.lines.insert(0, f"{name} = {self.zero}")
            elif first.startswith(" "):
                del self.scalars[name]

    # Shapes

    def product(self) -> None:
        """Sums of products into the cells of an array, by way of a scalar or not."""
        i, j, k = "ijk"
        target, left, right = self.array(2), self.array(2), self.array(self.random.choice([2, 2, 2, 1]))
        rank = next(one.rank for one in self.arrays if one.name == right)
        first = f"{left}[{self.some(f'{i}, {k}', f'{k}, {i}', f'{i}, {k}', self.offset(i) + ', ' + self.offset(k))}]"
        second = f"{right}[{k}]" if rank == 1 else f"{right}[{self.some(f'{k}, {j}', f'{j}, {k}', f'{k}, {j}')}]"
        term = self.some(f"{first} * {second}", f"{self.factor()} * {first} * {second}", f"{first} * {second}")
        # Where a number of 64 bits wraps around, numba's absolute value is not Python's.
        if all(name.startswith("float") for name in self.family) and self.chance(0.15):
            term = self.some(f"abs({first} - {second})", f"({first} - {second}) ** 2", f"min({first}, {second})")
        cell = f"{target}[{self.some(f'{i}, {j}', f'{i}, {j}', f'{j}, {i}', f'{i} + 1, {j}')}]"
        if self.chance(0.35):
            self._by_way_of_scalar((i, j, k), cell, term)
            return
        order = self.some("ijk", "ikj", "kij", "jik", "jki", "kji")
        if order.endswith("k") and self.chance(0.5):
            depth = self.nest(order[:2])
            self.say(depth, f"{cell} = {self.some('0', f'{self.factor()} * {cell}', f'{first}'.replace(k, j))}")
            self.over(depth, "k", order[:2])
            depth += 1
        else:
            depth = self.nest(order)
        depth = self.guard(depth, "ijk")
        self.say(depth, f"{cell} {self.some('+=', '+=', '+=', '-=')} {term}")
        if self.chance(0.2):
            self.say(depth, f"{self.array(2)}[{i}, {j}] += {first}")

    def _by_way_of_scalar(self, iterators: Sequence[str], cell: str, term: str) -> None:
        i, j, k = iterators
        sums = [self.scalar() for _ in range(self.random.choice([1, 1, 2]))]
        depth = self.nest((i, j))
        zero = self.zero
        for name in sums:
            self.say(depth, f"{name} = {self.some(zero, zero, cell)}")
        self.over(depth, k, (i, j))
        inside = self.guard(depth + 1, (i, j, k))
        for name in sums:
            self.say(inside, f"{name} {self.some('+=', '+=', '-=')} {self.some(term, term, term.replace(j, i))}")
        self.say(depth, f"{cell} {self.some('=', '+=', '=')} {self.combined(sums)}")

    def sweep(self) -> None:
        """A stencil in one to three dimensions over time, in place, with a second array or with planes of time."""
        space = list("ijk"[: self.random.choices([1, 2, 3], [4, 5, 2])[0]])
        kind = self.some("in place", "two", "two", *(["copied", "planes"] if len(space) < 3 else []))
        steps = self.some("3", "4", "5", self.size(), f"{self.size()} // 4")
        if kind == "planes":
            steps = steps.partition(" ")[0]  # an extent for each step is an affine one
        name = self.array(len(space) + (kind == "planes"))
        other = self.array(len(space), name)
        periodic = self.chance(0.2)
        self.say(0, f"for t in range({steps}):")
        bounds = [(self.size(), self.random.choice([1, 1, 1, 2])) for _ in space]

        def cell(array: str, moved: bool, time: str = "") -> str:
            sizes = [size for size, _ in bounds]
            near = [self._neighbour(*pair, periodic) for pair in zip(space, sizes, strict=True)] if moved else space
            return f"{array}[{', '.join([*([time] if time else []), *near])}]"

        def loops(depth: int) -> int:
            for axis, one in enumerate(space):
                size, margin = bounds[axis]
                text = size if periodic else self.some(f"{margin}, {size} - {margin}")
                if self.chance(0.06):
                    text = f"{size} - {margin + 1}, {margin - 1}, -1"
                self.say(depth + axis, f"for {one} in range({text}):")
            return self.guard(depth + len(space), space)

        count = self.random.randint(1, 4)
        depth = loops(1)
        if kind == "planes":
            before = [cell(name, True, "t") for _ in range(count + 1)]
            self.say(depth, f"{cell(name, False, 't + 1')} = {self.combined(before)}")
        elif kind == "in place":
            self.say(depth, f"{cell(name, False)} = " + self.combined([cell(name, True) for _ in range(count + 1)]))
        else:
            self.say(depth, f"{cell(other, False)} = " + self.combined([cell(name, True) for _ in range(count + 1)]))
            depth = loops(1)
            back = cell(other, False) if kind == "copied" else self.combined([cell(other, True) for _ in range(count)])
            self.say(depth, f"{cell(name, False)} = {back}")

    def _neighbour(self, iterator: str, size: str, periodic: bool) -> str:
        if periodic and self.chance(0.5):
            return f"({iterator} {self.some('+ 1', '- 1', '+ 2', f'+ {size} - 1')}) % {size}"
        return self.offset(iterator, (-1, 0, 0, 1) if not periodic else (0,))

    def columns(self) -> None:
        """Products of a matrix with vectors, in both directions at once."""
        matrix, x, y = self.array(2), self.array(1), self.array(1)
        i, j = "ij"
        depth = 1
        self.over(0, i)
        if self.chance(0.4):
            self.say(1, f"{self.some(x, y)}[i] = {self.some('0', f'{self.factor()} * {y}[i]')}")
        self.over(1, j, (i,))
        depth = self.guard(2, (i, j))
        if self.chance(0.8):
            self.say(depth, f"{x}[i] += {matrix}[{self.some('i, j', 'j, i')}] * {self.array(1, x)}[j]")
        if self.chance(0.6):
            self.say(depth, f"{self.array(1)}[j] += {matrix}[{self.some('i, j', 'i, j', 'j, i')}] * {y}[i]")
        value = self.combined([f"{matrix}[i, j]", f"{y}[j]"])
        self.say(depth, f"{self.array(2)}[i, j] {self.some('=', '+=')} {value}")
        if self.chance(0.4):
            self.say(1, f"{x}[i] = " + self.combined([f"{x}[i]", f"{y}[{self.offset(i)}]"]))

    def recurrence(self) -> None:
        """Values that follow from those before, along the rows or columns of an array."""
        name, other = self.array(2), self.array(2)
        order = self.some("ij", "ji")
        self.nest(order)
        depth = self.guard(2, order)
        back = self.some("i, j - 1", "i - 1, j", "i - 1, j - 1", "i, j + 1", "i - 2, j", "i, j - 2", "i - 1, j + 1")
        second = self.some("i, j - 1", "i - 1, j", "i + 1, j", "i, j")
        terms = [f"{name}[{back}]", f"{other}[i, j]", f"{name}[{second}]"][: self.random.randint(1, 3)]
        self.say(depth, f"{name}[i, j] {self.some('=', '=', '+=')} {self.combined(terms)}")
        if self.chance(0.4):
            cell = f"{other}[{self.some('i, j', 'j, i')}]"
            self.say(depth, f"{cell} {self.some('=', '+=')} {name}[{self.some('i, j', back)}]")

    def solver(self) -> None:
        """Triangular solutions and factorisations (divided by something far from zero)."""
        name, vector, size = self.array(2), self.array(1), self.size()
        divided = "" if self.kind == "integer" else " / (abs({}) + 1.5)"
        which = self.some("forward", "backward", "factor", "update")
        if which in ("forward", "backward"):
            self.say(0, f"for i in range({size}):" if which == "forward" else f"for i in range({size} - 1, -1, -1):")
            if self.chance(0.5):
                self.say(1, f"{vector}[i] = {self.array(1, vector)}[i]")
            self.say(1, f"for j in range({'i' if which == 'forward' else f'i + 1, {size}'}):")
            scaled = self.some("", " * 0.25" if divided else "")
            self.say(2, f"{vector}[i] -= {name}[{self.some('i, j', 'j, i')}] * {vector}[j]{scaled}")
            self.say(1, f"{vector}[i] = {vector}[i]{divided.format(f'{name}[i, i]') or ' % 1009'}")
            return
        self.say(0, f"for k in range({size}):")
        if which == "factor":
            self.say(1, f"for i in range(k + 1, {size}):")
            self.say(2, f"{name}[i, k] = {name}[i, k]{divided.format(f'{name}[k, k]') or ' % 13'}")
        self.say(1, f"for i in range({self.some('k + 1, ', '')}{size}):")
        triangle = "k + 1, i + 1" if which == "factor" else size
        self.say(2, f"for j in range({self.some(f'k + 1, {size}', triangle, size)}):")
        pivot = f"{name}[i, k] * {name}[{self.some('k, j', 'j, k')}]"
        if self.kind == "real" and self.chance(0.25):
            self.say(2 + 1, f"{name}[i, j] = min({name}[i, j], {name}[i, k] + {name}[k, j])")
        elif self.kind == "integer":
            self.say(3, f"{name}[i, j] = ({name}[i, j] - {pivot}) % 97")
        else:
            self.say(3, f"{name}[i, j] -= 0.125 * {pivot}")

    def sums(self) -> None:
        """Several sums into scalars, some under conditions, and what is made of them."""
        rank = self.random.choice([1, 2, 2])
        iterators = "ij"[:rank]
        name, other = self.array(rank), self.array(rank)
        names = [self.scalar() for _ in range(self.random.randint(1, 3))]
        zero = self.zero
        inside = rank == 2 and self.chance(0.4)
        for one in names if not inside else ():
            corner = f"{name}[{', '.join('0' * rank)}]"
            self.say(0, f"{one} = {self.some(zero, zero, corner)}")
        if inside:
            self.over(0, "i")
            for one in names:
                self.say(1, f"{one} = {zero}")
            self.over(1, "j", "i")
        else:
            self.nest(iterators)
        place = ", ".join(iterators)
        turned = ", ".join(reversed(iterators))
        terms = [f"{name}[{place}]", f"{other}[{self.some(place, turned)}]", f"{name}[{place}] * {other}[{place}]"]
        for one in names:
            depth = rank
            if self.kind != "complex" and self.chance(0.25):
                bound = self.some("1", "0", f"{other}[{place}]")
                self.say(depth, f"if {name}[{place}] {self.some('>', '<=', '!=')} {bound}:")
                depth += 1
            else:
                depth = self.guard(depth, iterators)
            term = self.random.choice(terms)
            forms = [f"{one} += {term}", f"{one} -= {term}", f"{one} = {one} + {term} + 1"]
            if self.kind != "complex":
                forms.append(f"{one} = {self.some('min', 'max')}({one}, {term})")
            if self.kind == "integer":
                forms += [f"{one} ^= {term}", f"{one} |= {term}", f"{one} *= {term}"]
            self.say(depth, self.random.choice(forms))
        if inside:
            self.say(1, f"{self.array(1)}[i] {self.some('=', '+=')} {self.combined(names)}")

    def window(self) -> None:
        """A window that slides over an array, its loops short."""
        rank = self.random.choice([1, 2])
        target, source, weights = self.array(rank), self.array(rank), self.array(rank)
        place, inner = "ij"[:rank], "kl"[:rank]
        self.nest(place)
        stride = self.some("", "", "", "2 * ")
        moved = ", ".join(f"{stride}{one} + {two}" for one, two in zip(place, inner, strict=True))
        cell = f"{target}[{', '.join(place)}]"
        if self.chance(0.5):
            self.say(rank, f"{cell} = {self.some('0', cell.replace(target, source, 1))}")
        width = self.some("3", "3", "5", "2", "7", self.size())
        for depth, one in enumerate(inner, rank):
            self.say(depth, f"for {one} in range({width}):")
        term = f"{source}[{moved}]"
        weight = f"{weights}[{', '.join(inner)}]"
        forms = [f"{cell} += {term} * {weight}", f"{cell} += {term}"]
        if self.kind != "complex":
            forms.append(f"{cell} = {self.some('min', 'max')}({cell}, {term})")
        self.say(2 * rank, self.random.choice(forms))

    def histogram(self) -> None:
        """Cells that data choose."""
        self.indices = True
        name, other = self.array(1), self.array(2)
        if self.chance(0.5):
            self.over(0, "i")
            self.say(1, f"{name}[I[i]] {self.some('+=', '+=', '=', '-=')} {self.some('1', f'{self.array(1)}[i]')}")
            return
        self.nest("ij")
        self.say(2, self.some(
            f"{other}[I[i], j] += {self.array(2)}[i, j]", f"{name}[i] += {other}[i, I[j]]",
            f"{other}[i, j] = {name}[I[i]] + {name}[I[j]]", f"{name}[j] += {other}[I[i], j] * {name}[I[i]]",
            f"{name}[I[j]] += {other}[i, j]",
        ))  # fmt: skip

    def extremes(self) -> None:
        """The largest or smallest of each row, with its place or not."""
        if self.kind == "complex":
            return self.sums()
        name, result, best = self.array(2), self.array(1), self.scalar()
        compare, function = self.random.choice([(">", "max"), ("<", "min"), (">=", "max")])
        self.over(0, "i")
        self.say(1, f"{best} = {name}[i, 0]")
        self.over(1, "j", "i")
        if self.chance(0.5):
            self.say(2, f"{best} = {function}({best}, {name}[i, j])")
        else:
            self.say(2, f"if {name}[i, j] {compare} {best}:")
            self.say(3, f"{best} = {name}[i, j]")
        self.say(1, f"{result}[i] = {best}")
        if self.chance(0.5):
            self.over(1, "k", "i")
            self.say(2, f"{name}[i, k] {self.some('-=', '=', '+=')} {self.some(best, f'{result}[i]')}")
        return None

    def chain(self) -> None:
        """Statements that make values for the next, in loops of their own."""
        rank = self.random.choice([1, 2])
        iterators = "ij"[:rank]
        names = [self.array(rank) for _ in range(self.random.randint(2, 4))]
        for source, target in pairwise(names):
            self.nest(self.some(iterators, iterators[::-1]))
            depth = self.guard(rank, iterators)
            terms = [f"{source}[{', '.join(self.offset(one) for one in iterators)}]" for _ in range(2)]
            self.say(depth, f"{target}[{', '.join(iterators)}] = {self.combined(terms)}")
