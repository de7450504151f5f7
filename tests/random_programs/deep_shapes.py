"""Random programs of deep loops and of what the newest techniques take apart: products of tensors, recurrences in
place in two and three dimensions, factors in common, exchanged arrays, limits from data, subscripts in one dimension.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.random_programs.odd_shapes import OddDraft

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class DeepDraft(OddDraft):
    """A draft whose text is a few of these shapes, and sometimes a common one among them."""

    @property
    def shapes(self) -> list[tuple[float, Callable[[], None]]]:
        return [
            (3, self.tensor), (3, self.in_place), (2, self.common), (3, self.exchanged), (2, self.limited),
            (1, self.whole), (2, self.one_dimension), (1.5, self.buffers), (1, self.dynamic), (1, self.sparse),
            (2, self.ended), (0.5, self.product), (0.5, self.sweep), (0.5, self.columns), (0.5, self.chain),
        ]  # fmt: skip

    def tensor(self) -> None:
        """A sum of products over some of three to five indices; each array has some of them, in any order."""
        iterators = "ijkla"[: self.random.choices([3, 4, 5], [2, 4, 3])[0]]
        summed = self.random.choice([1, 1, 2, 2, 3])
        kept = list(iterators[: max(len(iterators) - summed, 1)])
        target = self.array(min(len(kept), 4))
        factors = []
        for _ in range(self.random.choice([1, 2, 2, 2, 3])):
            used = self.random.sample(list(iterators), self.random.choice([1, 2, 2, 3]))
            factors.append(f"{self.array(len(used), target)}[{', '.join(used)}]")
        cell = f"{target}[{', '.join(self.random.sample(kept, len(kept)))}]"
        term = " * ".join([self.factor(), *factors] if self.chance(0.3) else factors)
        if self.kind == "integer":
            term = f"({term}) % 101"
        order = list(iterators) if self.chance(0.5) else self.random.sample(iterators, len(iterators))
        if self.chance(0.3):
            depth = self._short_nest(kept)
            self.say(depth, f"{cell} = {self.some(self.zero, self.zero, f'{self.factor()} * {cell}')}")
            depth = self._short_nest([one for one in iterators if one not in kept], depth)
        elif self.chance(0.25):
            depth = self._short_nest(kept)
            total = self.scalar()
            self.say(depth, f"{total} = {self.zero}")
            inside = self._short_nest([one for one in iterators if one not in kept], depth)
            self.say(self.guard(inside, iterators), f"{total} += {term}")
            self.say(depth, f"{cell} {self.some('=', '+=')} {total}")
            return
        else:
            depth = self._short_nest(order)
        self.say(self.guard(depth, iterators), f"{cell} {self.some('+=', '+=', '-=')} {term}")

    def _short_nest(self, iterators: Sequence[str], depth: int = 0) -> int:
        """Loops of which the ones beyond the third mostly are short."""
        for number, one in enumerate(iterators, depth):
            if number < 3 or self.chance(0.3):
                self.over(number, one)
            else:
                self.over(number, one, size=self.some("3", "4", "2", "7"))
        return depth + len(iterators)

    def in_place(self) -> None:
        """Cells that follow from cells before them in two or three dimensions, over time or with choices or not."""
        space = "ijk"[: self.random.choice([2, 2, 3])]
        name = self.array(len(space))
        depth = 0
        if self.chance(0.4):
            self.say(0, f"for t in range({self.some('2', '3', self.size())}):")
            depth = 1
        for number, one in enumerate(space if self.chance(0.7) else space[::-1]):
            size = self.size()
            bounds = self.some(f"1, {size}", f"1, {size}", f"1, {size} - 1", f"{size} - 2, 0, -1", f"2, {size} - 1")
            self.say(depth + number, f"for {one} in range({bounds}):")
        depth = self.guard(depth + len(space), space)
        signs = self.some("-", "-", "-+", "-0", "+", "-0+")
        cells = []
        for _ in range(self.random.randint(1, 4)):
            near = {"-": "{} - 1", "+": "{} + 1", "0": "{}"}
            cells.append(f"{name}[{', '.join(near[self.random.choice([*signs, '0'])].format(one) for one in space)}]")
        cell = f"{name}[{', '.join(space)}]"
        other = self.array(len(space), name)
        here = f"{other}[{', '.join(space)}]"
        if self.chance(0.3):
            self.say(depth, f"if {self.test(here, cells[0])}:")
            self.say(depth + 1, f"{cell} = {self.bounded(f'{cells[0]} + {here}')}")
            self.say(depth, "else:")
            self.say(depth + 1, f"{cell} = {self._extreme(cells)}")
        elif self.chance(0.4):
            self.say(depth, f"{cell} = {self._extreme([*cells, here])}")
        else:
            self.say(depth, f"{cell} {self.some('=', '=', '+=')} {self.combined([*cells, here])}")
        if self.chance(0.3):
            self.say(depth, f"{here} {self.some('=', '+=')} {self.some(cell, cells[0])}")

    def _extreme(self, terms: Sequence[str]) -> str:
        if self.kind == "complex" or len(terms) < 2:
            return self.combined(terms)
        return f"{self.some('min', 'max')}({', '.join(terms)})"

    def _stretched(self, cells: Sequence[str]) -> str:
        """Terms with factors of which some are alike, and divisions by what is written."""
        shared = [self.factor(), self.factor()]
        if self.kind == "real":
            shared += [self.some("0.1", "1.0 / 3.0", "1e-3"), "2"]
        terms = []
        for cell in cells:
            factor = self.random.choice(shared)
            apart = f"{factor} * ({cell} - {cells[0]})"
            terms.append(self.some(f"{factor} * {cell}", f"{cell} * {factor}", cell, apart))
        text = terms[0]
        for term in terms[1:]:
            text = f"{text} {self.some('+', '+', '-')} {term}"
        if self.kind == "integer":
            return f"((({text}) & 1023) - 512) {self.some('// 3', '% 7', '// -5', '% -7', '>> 2')}"
        number = self.some("3", "3.0", "7.0", "-9", "0.3", "8")
        return self.some(text, f"({text}) / {number}", f"({text}) * {self.factor()} / {number}", f"{text} / {number}")

    def common(self) -> None:
        """Sums whose terms have factors in common: numbers, arguments, cells."""
        space = "ijk"[: self.random.choice([1, 2, 2, 3])]
        name, target = self.array(len(space)), self.array(len(space))
        depth = self.guard(self.nest(space), space)
        cells = [
            f"{name}[{', '.join(self.offset(one, (-1, 0, 0, 1)) for one in space)}]"
            for _ in range(self.random.randint(2, 6))
        ]
        text = self._stretched(cells)
        if self.chance(0.3):
            other = f"{self.array(len(space))}[{', '.join(space)}]"
            text = " + ".join(f"{other} * {cell}" for cell in cells)
            text = self.bounded(text)
        self.say(depth, f"{target}[{', '.join(space)}] {self.some('=', '=', '+=', '-=')} {text}")

    def exchanged(self) -> None:
        """Steps in time after which arrays change names; what follows uses the names, too."""
        space = "ijk"[: self.random.choices([1, 2, 3], [4, 4, 1])[0]]
        dtype = self.random.choice(self.family)
        names = []
        for _ in range(self.random.choice([2, 2, 2, 3])):
            names.append(self.array(len(space), *names))
        self.arrays = [replace(one, dtype=dtype) if one.name in names else one for one in self.arrays]
        start = self.some("", "", "1, ", "2, ")
        self.say(0, f"for t in range({start}{self.some('1', '2', '3', '4', self.size())}):")
        where = self._interior(1, space)
        place = ", ".join(space)
        cells = [
            f"{name}[{', '.join(self.offset(one, (-1, 0, 0, 1)) for one in space)}]"
            for name in [*names[:-1], *self.random.choices(names[:-1], k=self.random.randint(0, 3))]
        ]
        self.say(where, f"{names[-1]}[{place}] = {self._damped(cells)}")
        if self.chance(0.2):
            edge = ", ".join(["0"] * len(space))
            self.say(1, f"{names[-1]}[{edge}] = {names[0]}[{edge}]")
        turned = [*names[1:], names[0]] if self.chance(0.5) else [names[-1], *names[:-1]]
        if len(names) == 2 and self.chance(0.3):
            self.lines += [f"    kept = {names[0]}", f"    {names[0]} = {names[1]}", f"    {names[1]} = kept"]
        else:
            self.say(1, f"{', '.join(names)} = {', '.join(turned)}")
        if self.chance(0.5):
            where = self._interior(0, space)
            self.say(where, f"{self.array(len(space))}[{place}] {self.some('=', '+=')} {self._damped(cells)}")

    def _damped(self, cells: Sequence[str]) -> str:
        return f"({' + '.join(cells)}) % 1009" if self.kind == "integer" else self.combined(cells)

    def _interior(self, depth: int, space: str) -> int:
        for number, one in enumerate(space):
            self.say(depth + number, f"for {one} in range(1, {self.size()} - 1):")
        return depth + len(space)

    def limited(self) -> None:
        """Loops and conditions whose limit is loaded: knapsacks, ragged rows, values moved by what the data say."""
        self.indices = True
        one, two = self.array(1), self.array(1)
        self.over(0, "i")
        if self.chance(0.3):
            self.say(1, f"for j in range({self.some('I[i]', 'I[i], 7', '1, I[i] + 1')}):")
            self.say(2, f"{one}[{self.some('i', 'j', 'i + j')}] {self.some('+=', '-=')} {two}[j]")
            return
        size = self.size()
        self.say(1, f"for j in range({self.some(size, size, f'1, {size}', f'{size} - 1, -1, -1')}):")
        test = self.some("j >= I[i]", "I[i] <= j", "j < I[i]", "j > I[i]", "I[i] > j", "j - I[i] >= 0", "j == I[i]")
        self.say(2, f"if {test}:")
        back = self.some("j - I[i]", "j - I[i]", "j", "j + I[i]", "I[i]")
        value = self._extreme([f"{two}[j]", f"{two}[{back}] + {one}[i]"])
        target = self.some(one, self.array(1, two), two)
        self.say(3, f"{target}[j] {self.some('=', '=', '+=')} {self.bounded(value)}")
        if self.chance(0.5):
            self.say(2, "else:")
            self.say(3, f"{target}[j] = {two}[j]")
        if self.chance(0.3):
            self.say(1, f"for j in range({size}):")
            self.say(2, f"{two}[j] = {target}[j]")

    def whole(self) -> None:
        """Sums and extremes of whole arrays and rows."""
        if self.kind == "integer":
            return self.common()
        name, vector = self.array(2), self.array(1)
        place = f"{name}[i, j]"
        self.nest("ij")
        self.say(2, f"{place} = {self.combined([place, f'{vector}[i]'])}")
        total = self.scalar()
        self.say(0, f"{total} = {self.some(f'np.sum({name})', f'{name}.sum()', f'np.sum({vector})')}")
        self.over(0, "i")
        row = self.some(f"np.sum({name}[i])", f"{name}[i].sum()", total, f"np.sum({name}[i] * {name}[i])")
        self.say(1, f"{vector}[i] {self.some('=', '+=')} 0.125 * {row}")
        return None

    def one_dimension(self) -> None:
        """Arrays in one dimension with two or three digits in a subscript, triangles and products among them."""
        one, two, three = self.array(1), self.array(1), self.array(1)
        n, m, q = (self.some(self.size(), self.size(), "3", "4") for _ in range(3))
        kind = self.some("product", "stencil", "three", "triangle", "moved")
        if kind == "triangle":
            self.say(0, f"for i in range({n}):")
            self.say(1, "for j in range(i + 1):")
            self.say(2, f"{one}[i * (i + 1) // 2 + j] {self.some('=', '+=')} {self.bounded(f'{two}[i] * {three}[j]')}")
            return
        self.say(0, f"for i in range({n}):")
        self.say(1, f"for j in range({m}):")
        if kind == "product":
            self.say(2, f"for k in range({q}):")
            term = f"{two}[i * {q} + k] * {three}[{self.some(f'k * {m} + j', f'j * {q} + k')}]"
            self.say(3, f"{one}[{self.some(f'i * {m} + j', f'j * {n} + i')}] += {self.bounded(term)}")
        elif kind == "three":
            self.say(2, f"for k in range({q}):")
            here = self.some(f"(i * {m} + j) * {q} + k", f"i * {m} * {q} + j * {q} + k", f"k + {q} * (j + {m} * i)")
            value = self.combined([f"{two}[{here}]", f"{three}[j * {q} + k]"])
            self.say(3, f"{one}[{here}] {self.some('=', '+=')} {value}")
        else:
            here = f"i * {m} + j"
            near = [here, f"(i + 1) * {m} + j", f"i * {m} + j + 1", f"{here} + {m}"]
            cells = [f"{two if kind == 'stencil' else one}[{self.random.choice(near)}]" for _ in range(3)]
            self.say(2, f"{one}[{here}] = {self.combined(cells)}")

    def buffers(self) -> None:
        """Planes that take turns by a remainder of time."""
        space = "ij"[: self.random.choice([1, 2])]
        name = self.array(1 + len(space))
        count = self.some("2", "2", "3")
        self.say(0, f"for t in range({self.some('3', self.size(), '5', f'1, {self.size()}')}):")
        where = self._interior(1, space)
        before = self.some(f"t % {count}", f"(t + 1) % {count}", f"t % {count}")
        after = self.some(f"(t + 1) % {count}", f"1 - t % {count}" if count == "2" else f"(t + 2) % {count}")
        cells = [
            f"{name}[{before}, {', '.join(self.offset(one, (-1, 0, 0, 1)) for one in space)}]" for _ in range(3)
        ]
        self.say(where, f"{name}[{after}, {', '.join(space)}] = {self._damped(cells)}")

    def dynamic(self) -> None:
        """Best ways through intervals: each cell takes the best over all places where its interval can be cut."""
        if self.kind == "complex":
            return self.in_place()
        name, size = self.array(2), self.size()
        if self.chance(0.5):
            self.say(0, f"for i in range({size} - 1, -1, -1):")
            self.say(1, f"for j in range(i + 1, {size}):")
        else:
            self.say(0, f"for l in range(1, {size}):")
            self.say(1, f"for i in range(0, {size} - l):")
        end = "j" if "j in" in self.lines[-1] else "i + l"
        self.say(2, f"for k in range(i, {end}):")
        term = self.bounded(f"{name}[i, k] + {name}[k + 1, {end}]")
        cell = f"{name}[i, {end}]"
        self.say(3, self.some(f"{cell} = {self.some('min', 'max')}({cell}, {term})", f"{cell} += {term}"))
        return None

    def sparse(self) -> None:
        """Rows of a sparse matrix that are multiplied by a vector, and scattered by columns."""
        self.indices = True
        values, x, y = self.array(1), self.array(1), self.array(1)
        self.over(0, "i")
        total = self.scalar()
        self.say(1, f"{total} = {self.zero}")
        self.say(1, f"for k in range({self.some('I[i], I[i + 1]', 'I[i]', 'I[i], I[i] + 3')}):")
        if self.chance(0.6):
            self.say(2, f"{total} += {self.bounded(f'{values}[k] * {x}[I[k]]')}")
            self.say(1, f"{y}[i] {self.some('=', '+=')} {total}")
        else:
            self.say(2, f"{y}[I[k]] += {self.bounded(f'{values}[k] * {x}[i]')}")

    def ended(self) -> None:
        """Loops that end when the data say so: searches, and values that are improved a few times."""
        name, target, value = self.array(2), self.array(1), self.scalar()
        self.over(0, "i")
        self.say(1, f"{value} = {self.some(self.zero, f'{target}[i]')}")
        is_search = self.chance(0.5)
        cell = f"{name}[i, {'j' if is_search else self.some('i', '0')}]"
        step = f"{value} = {self.bounded(f'{value} + {cell}')}"
        if is_search:
            self.over(1, "j", "i")
            kept = [f"    {value} = {target}[i]"] if self.chance(0.5) else []
            stop = [f"if {self.test(cell, value)}:", *kept, "    break"]
            lines = [step, *stop] if self.chance(0.5) else [*stop, step]
            lines += [f"{target}[j] = {self.bounded(f'{target}[j] + {value}')}"] if self.chance(0.3) else []
        else:
            self.say(1, "turn = 0")
            self.say(1, f"while turn < {self.some('4', '3')} and {self.test(cell, value)}:")
            lines = [step, "turn += 1"]
        for line in lines:
            self.say(2, line)
        self.say(1, self.some(f"{target}[i] = {value}", f"{self.array(1, name)}[i] += {value}"))
