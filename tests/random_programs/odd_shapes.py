"""Random programs of shapes that are rare but legal: subscripts in one dimension, guards on data, carried scalars.

What `ShapedDraft` writes has the shape that a technique was made for; these have what it may have forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.random_programs.shapes import ShapedDraft

if TYPE_CHECKING:
    from collections.abc import Callable


class OddDraft(ShapedDraft):
    """A draft whose text is a few rare shapes that share arrays, and sometimes a common one among them."""

    @property
    def shapes(self) -> list[tuple[float, Callable[[], None]]]:
        return [
            (2, self.flat), (2, self.guarded), (2, self.prefix), (2, self.carried), (2, self.halves), (2, self.nested),
            (1.5, self.early), (1.5, self.wrapping), (1.5, self.rows), (1, self.scattered), (1, self.shared_band),
            (1, self.product), (1, self.sweep), (1, self.extremes), (1, self.chain),
        ]  # fmt: skip

    def bounded(self, text: str) -> str:
        """A value that does not grow without end where it is handed on many times."""
        return f"({text}) % 1009" if self.kind == "integer" else f"0.5 * ({text})"

    def test(self, value: str, other: str) -> str:
        """A condition on data; complex numbers have no order."""
        if self.kind == "complex":
            return f"abs({value}) {self.some('>', '<=')} {self.some('1.0', f'abs({other})')}"
        return f"{value} {self.some('>', '<=', '!=', '==')} {self.some('1', '0', other)}"

    def flat(self) -> None:
        """Matrices in one dimension, their row length a number or a parameter."""
        one, other = self.array(1), self.array(1)
        width = self.some("8", "16", "5")
        narrow = self.some(width, str(int(width) - 1), "3")
        inner, length = (narrow, width) if self.chance(0.5) else (self.size(), "")
        length = length or inner
        self.over(0, "i")
        self.say(1, f"for j in range({inner}):")
        here, turned = f"i * {length} + j", f"j * {length} + i"
        back = self.some(here, f"{here} + 1", turned, f"{length} * i", "j", f"{length} * (i + 1) + j")
        if self.chance(0.4) and length == inner:
            self.say(2, f"for k in range({self.some(inner, '3')}):")
            term = f"{other}[i * {length} + k]"
            self.say(3, f"{one}[{here}] {self.some('+=', '-=')} {term} * {self.array(1, one)}[k * {length} + j]")
            return
        value = self.combined([f"{other}[{back}]", f"{one}[{here}]"])
        self.say(2, f"{one}[{here}] {self.some('=', '+=', '=')} {value}")

    def guarded(self) -> None:
        """Sums and assignments where the data say so, with another branch or not."""
        rank = self.random.choice([1, 2, 2])
        iterators, place = "ij"[:rank], ", ".join("ij"[:rank])
        name, other, target = self.array(rank), self.array(rank), self.array(rank)
        depth = self.nest(self.some(iterators, iterators[::-1]))
        cell = f"{target}[{place}]"
        self.say(depth, f"if {self.test(f'{name}[{place}]', f'{other}[{place}]')}:")
        near = ", ".join(self.offset(one, (0, 0, -1, 1)) for one in iterators)
        self.say(depth + 1, f"{cell} {self.some('=', '+=', '-=')} {self.combined([f'{other}[{near}]'])}")
        if self.chance(0.4):
            self.say(depth, "else:" if self.chance(0.6) else f"elif {self.test(cell, f'{other}[{place}]')}:")
            self.say(depth + 1, f"{self.some(cell, f'{other}[{place}]')} = {self.combined([cell, f'{name}[{place}]'])}")
        if self.chance(0.4):
            chosen = f"{name}[{place}] if {self.test(f'{other}[{place}]', cell)} else {cell}"
            self.say(depth, f"{self.some(cell, f'{name}[{place}]')} = {self.bounded(chosen)}")

    def prefix(self) -> None:
        """Running sums or extremes along rows or columns, from either end, in a scalar or in place."""
        rank = self.random.choice([1, 2])
        name, target = self.array(rank), self.array(rank)
        inner = self.some("ij"[:rank], "ji" if rank == 2 else "i")
        place = ", ".join("ij"[:rank])
        running = self.scalar()
        depth = rank - 1
        if depth and self.chance(0.3):
            self.say(0, f"{running} = {self.zero}")
            self.over(0, inner[0])
        elif depth:
            self.over(0, inner[0])
            self.say(1, f"{running} = {self.zero}")
        else:
            self.say(0, f"{running} = {self.zero}")
        self.over(depth, inner[-1], list(inner[:-1]))
        function = self.some("min", "max")
        values = [f"{running} + {name}[{place}]", f"{running} - {name}[{place}]"]
        if self.kind != "complex":
            values.append(f"{function}({running}, {name}[{place}])")
        lines = [f"{running} = {self.random.choice(values)}", f"{target}[{place}] {self.some('=', '+=')} {running}"]
        for line in lines if self.chance(0.6) else reversed(lines):
            self.say(depth + 1, line)

    def carried(self) -> None:
        """A value that goes from one iteration to the next, and to the next row or not."""
        name, target = self.array(2), self.array(2)
        value, other = self.scalar(), self.scalar()
        self.say(0, f"{value} = {self.zero}")
        self.over(0, "i")
        inside = self.chance(0.6)
        if inside:
            self.say(1, f"{value} = {self.some(self.zero, f'{name}[i, 0]', f'{value}')}")
        self.over(1, "j", "i")
        self.say(2, f"{other} = {self.bounded(f'{name}[i, j] + {value}')}")
        self.say(2, f"{target}[i, j] = {self.some(other, f'{other} + {value}', value)}")
        self.say(2, f"{value} = {self.some(f'{name}[i, j]', other, self.bounded(f'{value} + {other}'))}")
        if self.chance(0.4):
            self.say(1, f"{self.array(1)}[i] {self.some('=', '+=')} {value}")

    def halves(self) -> None:
        """Subscripts with quotients and remainders; coarser and finer grids."""
        rank = self.random.choice([1, 2])
        iterators, place = "ij"[:rank], ", ".join("ij"[:rank])
        fine, coarse = self.array(rank), self.array(rank)
        depth = self.guard(self.nest(iterators), iterators)
        number = self.some("2", "3", "4")
        half = ", ".join(self.some(f"{one} // {number}", f"{one} // 2", one) for one in iterators)
        twice = ", ".join(self.some(f"2 * {one}", f"2 * {one} + 1", f"{number} * {one}") for one in iterators)
        rest = ", ".join(self.some(f"{one} % {number}", f"({one} + 1) % {number}") for one in iterators)
        self.say(depth, self.some(
            f"{coarse}[{half}] += {fine}[{place}]",
            f"{fine}[{place}] = {self.bounded(f'{coarse}[{half}] + {coarse}[{rest}]')}",
            f"{coarse}[{place}] = {self.bounded(f'{fine}[{twice}] + {fine}[{place}]')}",
            f"{fine}[{twice}] = {self.combined([f'{coarse}[{place}]', f'{fine}[{place}]'])}",
            f"{coarse}[{rest}] {self.some('+=', '-=', '=')} {fine}[{place}]",
        ))  # fmt: skip

    def nested(self) -> None:
        """Sums of sums: what an inner loop adds up is added up, compared or multiplied by the outer one."""
        name, target = self.array(2), self.array(1)
        total, row = self.scalar(), self.scalar()
        self.say(0, f"{total} = {self.zero}")
        self.over(0, "i")
        self.say(1, f"{row} = {self.some(self.zero, self.zero, f'{target}[i]')}")
        self.over(1, "j", "i")
        depth = self.guard(2, "ij")
        term = self.some(f"{name}[i, j]", f"{name}[j, i]", f"{name}[i, j] * {target}[j]")
        self.say(depth, f"{row} {self.some('+=', '-=', '+=')} {term}")
        forms = [f"{total} += {row}", f"{total} -= {row}", f"{total} += {self.bounded(row)} * {self.bounded(row)}"]
        if self.kind != "complex":
            forms.append(f"{total} = {self.some('min', 'max')}({total}, {row})")
        self.say(1, self.random.choice(forms))
        if self.chance(0.3):
            self.say(1, f"{self.array(1, target)}[i] = {self.some(row, total)}")
        if self.chance(0.5):
            self.over(0, "k")
            self.say(1, f"{self.array(1)}[k] {self.some('+=', '=')} {self.bounded(total)}")

    def early(self) -> None:
        """Work that stops at an element: a flag carried along, as people write it without ``break``."""
        name, target = self.array(2), self.array(1)
        self.over(0, "i")
        self.say(1, "f0 = 0")
        self.over(1, "j", "i")
        self.say(2, f"if f0 == 0 and {self.test(f'{name}[i, j]', f'{name}[i, 0]')}:")
        self.say(3, f"{target}[i] {self.some('=', '+=')} {self.some(f'{name}[i, j]', 'j')}")
        if self.chance(0.8):
            self.say(3, "f0 = 1")
        if self.chance(0.4):
            self.say(1, f"{self.array(1)}[i] += f0")

    def wrapping(self) -> None:
        """Numbers that wrap around, hashes; for other kinds, sums in two precisions."""
        if self.kind != "integer":
            return self.columns()
        name, target, value = self.array(2), self.array(1), self.scalar()
        self.over(0, "i")
        self.say(1, f"{value} = {self.some('5381', '0', f'{target}[i]')}")
        self.over(1, "j", "i")
        self.say(2, self.some(
            f"{value} = {value} * 31 + {name}[i, j]", f"{value} += {name}[i, j] * 1103515245",
            f"{value} ^= {name}[i, j] * 2654435761", f"{value} *= {name}[i, j]", f"{value} += {name}[i, j] ** 2",
            f"{value} = ({value} << 5) ^ {name}[i, j]",
        ))  # fmt: skip
        self.say(1, f"{target}[i] {self.some('=', '+=', '^=')} {value}")
        return None

    def rows(self) -> None:
        """Three loops over one matrix of which each needs all of the one before: norms, scaling, centring."""
        name, first, second = self.array(2), self.array(1), self.array(1)
        turned = self.chance(0.4)
        cell = f"{name}[j, i]" if turned else f"{name}[i, j]"
        size, other = self.size(), self.size()
        self.say(0, f"for i in range({size}):")
        self.say(1, f"{first}[i] = {self.some(self.zero, f'{first}[i]')}")
        self.say(1, f"for j in range({self.some(other, 'i', f'i, {other}', f'{other} - 1, -1, -1')}):")
        value = cell if self.kind == "complex" else self.some(cell, f"abs({cell})" if self.kind == "real" else cell)
        if self.kind != "complex" and self.chance(0.3):
            self.say(2, f"{first}[i] = {self.some('min', 'max')}({first}[i], {value})")
        else:
            self.say(2, f"{first}[i] {self.some('+=', '-=')} {value}")
        if self.chance(0.5):
            self.say(1, f"{second}[i] = {self.bounded(f'{first}[i]')}")
        if self.chance(0.5):
            self.say(0, f"for i in range({size}):")
        self.say(1, f"for j in range({other}):")
        self.say(2, f"{cell} = {self.bounded(f'{cell} - {self.some(first, second)}[i]')}")

    def scattered(self) -> None:
        """Cells that data choose, under a condition on data, or twice removed."""
        self.indices = True
        name, other = self.array(1), self.array(2)
        self.nest("ij")
        self.say(2, f"if {self.test(f'{other}[i, j]', f'{name}[i]')}:")
        self.say(3, self.some(
            f"{name}[I[j]] += {other}[i, j]", f"{other}[I[i], j] = {other}[i, j]",
            f"{name}[i] = {name}[I[i] + j]", f"{name}[I[i] + 1] {self.some('-=', '+=')} {other}[i, I[j]]",
        ))  # fmt: skip

    def shared_band(self) -> None:
        """A band along the diagonal, its width a number or a parameter."""
        name, vector, target = self.array(2), self.array(1), self.array(1)
        size, width = self.size(), self.some("1", "2", "3", self.size())
        self.say(0, f"for i in range({size}):")
        self.say(1, f"for j in range(max(0, i - {width}), min({size}, i + {width} + 1)):")
        term = f"{name}[i, {self.some('j', f'j - i + {width}')}]"
        self.say(2, f"{target}[i] {self.some('+=', '-=')} {term} * {vector}[j]")
