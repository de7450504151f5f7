"""Random affine programs: a seed gives a function that numba accepts, with sizes and shapes that fit it.

program = generate(7)
program.function()(*program.values(program.cases[0]))
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product
from random import Random
from typing import TYPE_CHECKING

from tests.random_programs.deep_shapes import DeepDraft
from tests.random_programs.draft import (
    BY_HAND,
    DEEP,
    EVERYTHING,
    HOISTED,
    ITERATORS,
    MIXED,
    ODD,
    SHAPED,
    SMALL,
    Draft,
    Profile,
)
from tests.random_programs.fitting import Footprint, footprints, negative_needs, shifted, smallest_cover
from tests.random_programs.hand_shapes import HandDraft
from tests.random_programs.hoisted_shapes import HoistedDraft
from tests.random_programs.odd_shapes import OddDraft
from tests.random_programs.program import Argument, Case, Program
from tests.random_programs.shapes import ShapedDraft

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.random_programs.expressions import ArrayName
    from tests.random_programs.program import Layout

__all__ = ["BY_HAND", "DEEP", "EVERYTHING", "HOISTED", "MIXED", "ODD", "SHAPED", "SMALL", "Profile", "generate"]

Pairs = list[tuple["Mapping[str, int]", Footprint]]
SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 15, 16, 17, 23, 31, 32, 33, 37)
"""Values of the size parameters: empty and single iterations, primes, multiples of tile sizes and their neighbours."""
LARGE = {1: (100, 255, 700, 1025), 2: (64, 65, 100, 127, 131, 200, 257), 3: (45, 48, 50, 63, 65, 67), 4: (19, 21, 24)}
"""Values beyond those, by the depth of the loops, for programs of a shape: some techniques wait for enough to do."""
PLAIN = {"float64", "int64", "complex128", "bool"}
"""Element types with which plain Python and numba compute the same."""


def generate(seed: int, profile: Profile = EVERYTHING) -> Program:
    """The program of ``seed``: the same on every machine."""
    for attempt in range(100):
        draft = _kind_of(profile)(Random(f"{seed} {attempt}"), profile)
        draft.write()
        program = _fitted(draft, seed)
        if program is not None:
            return program
    raise AssertionError(f"no program for seed {seed}")


def _kind_of(profile: Profile) -> type[Draft]:
    """What writes the programs of ``profile``."""
    if profile.by_hand:
        return HandDraft
    if profile.hoisted:
        return HoistedDraft
    if profile.deep:
        return DeepDraft
    if profile.odd:
        return OddDraft
    return ShapedDraft if profile.shaped else Draft


class _Respell(ast.NodeTransformer):
    """Writes a few ``A[i, j]`` as ``A[i][j]``."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.slice, ast.Tuple) or self.random.random() > 0.03:
            return node
        row = ast.Subscript(node.value, node.slice.elts[0], ast.Load())
        rest = node.slice.elts[1:]
        return ast.Subscript(row, rest[0] if len(rest) == 1 else ast.Tuple(rest, ast.Load()), node.ctx)


# From a draft to a program: offsets, shapes, local arrays, sizes from shapes, results.


def _fitted(draft: Draft, seed: int) -> Program | None:
    names = [*(array.name for array in draft.arrays), *(["I"] if draft.indices else [])]
    source = f"def program({', '.join([*names, *draft.numbers, *draft.sizes])}):\n" + "".join(
        f"    {line}\n" for line in draft.lines
    )
    choices = _choices(draft)
    found = _footprints(source, choices, draft.profile.limit)
    moved = shifted(source, found) if found else None
    if moved is None:
        return None
    found = _footprints(moved, [choice for choice, _ in found], draft.profile.limit)
    # Arrays that take turns need more of each other with every step, which small sizes do not tell.
    alike = not any((", " in line.partition(" = ")[0] and "[" not in line) or "kept" in line for line in draft.lines)
    shaped = draft.profile.hoisted or draft.profile.by_hand or (draft.profile.shaped and alike)
    large = _large(draft, moved, found) if shaped and found else []
    return _Fit(draft, seed, moved, [*found, *large]).program() if len(found) >= 2 else None


def _footprints(
    source: str, choices: Sequence[Mapping[str, int]], limit: int
) -> list[tuple[Mapping[str, int], Footprint]]:
    pairs = zip(choices, footprints(source, choices, limit), strict=True)
    return [(choice, footprint) for choice, footprint in pairs if footprint is not None]


def _choices(draft: Draft) -> list[dict[str, int]]:
    random = draft.random
    small = {name: random.choice([0, 1]) for name in draft.sizes}
    middle = {name: random.choice(SIZES[2:7]) for name in draft.sizes}
    wide = [{name: random.choice(SIZES) for name in draft.sizes} for _ in range(2)]
    tile = {name: random.choice([7, 8, 9, 15, 16, 17]) for name in draft.sizes}
    negative = [dict.fromkeys(draft.sizes, -2)] if random.random() < 0.05 else []
    return [small, middle, tile, *wide, *negative]


def _probes(draft: Draft, source: str) -> Pairs:
    """Small sizes of all kinds, and some of which one is much larger than another."""
    values = range(9) if len(draft.sizes) < 3 else (0, 1, 2, 4, 7)
    grid = product(values, repeat=len(draft.sizes))
    apart = chain.from_iterable(product(pair, repeat=len(draft.sizes)) for pair in ((5, 16), (3, 24)))
    near, far = ([dict(zip(draft.sizes, choice, strict=True)) for choice in choices] for choices in (grid, apart))
    limit = draft.profile.limit
    return _footprints(source, near, limit) + _footprints(source, far, 8 * limit)


def _large(draft: Draft, source: str, found: Pairs) -> Pairs:
    """Sizes too large to be traced, with the extents that do for the smaller ones."""
    found = [*found, *_probes(draft, source)]
    axes = {axis for _, footprint in found for axis in footprint.high}
    needs = {
        axis: [(choice, footprint.high.get(axis, -1) + 1) for choice, footprint in found] for axis in axes
    }
    covers = {axis: smallest_cover(needs[axis], draft.sizes) for axis in axes}
    depth = max(line.index("for ") // 4 for line in draft.lines if "for " in line) + 1
    pairs: Pairs = []
    for _ in range(2 if all(covers.values()) else 0):
        choice = {name: draft.random.choice(LARGE[min(depth, 4)]) for name in draft.sizes}
        footprint = Footprint(0)
        footprint.high = {axis: eval(str(cover), {}, choice) - 1 for axis, cover in covers.items()}
        pairs.append((choice, footprint))
    return pairs


@dataclass
class _Fit:
    draft: Draft
    seed: int
    source: str
    found: list[tuple[Mapping[str, int], Footprint]]

    def program(self) -> Program:
        random = self.draft.random
        slack = 0 if random.random() < 0.6 else random.randint(1, 2)
        negative = negative_needs(self.source)
        ranks = {array.name: array.rank for array in self.draft.arrays} | (
            {"I": 1} if self.draft.indices else {}
        )
        self.ranks = {name: rank for name, rank in ranks.items() if f"{name}[" in self.source}
        self.shapes = [
            {
                name: tuple(
                    max(footprint.high.get((name, axis), -1) + 1, negative.get((name, axis), 0), slack)
                    for axis in range(rank)
                )
                for name, rank in self.ranks.items()
            }
            for _, footprint in self.found
        ]
        self.head: list[str] = []
        self.locals: set[str] = set()
        self.from_shape: set[str] = set()
        self.taken: set[tuple[str, int]] = set()
        self._make_locals()
        self._take_sizes_from_shapes()
        return self._assembled()

    @property
    def non_negative(self) -> bool:
        return all(size >= 0 for choice, _ in self.found for size in choice.values())

    def _make_locals(self) -> None:
        for array in self.draft.arrays:
            if (
                self.draft.random.random() < self.draft.profile.locals
                and array.name in self.ranks
                and self.non_negative
            ):
                self._make_local(array)

    def _make_local(self, array: ArrayName) -> None:
        extents = [self._extent(array.name, axis) for axis in range(array.rank)]
        if any(extent is None for extent in extents):
            return
        self.locals.add(array.name)
        texts = [str(extent) for extent in extents]
        shape = texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
        kind = f"np.{array.dtype}" if array.dtype != "bool" else "np.bool_"
        dtype = "" if array.dtype == "float64" else f", dtype={kind}"
        filled = self.draft.random.random() < 0.5 and array.dtype != "bool"
        self.head.append(f"{array.name} = np.{'empty' if filled else 'zeros'}({shape}{dtype})")
        if filled:
            self._fill(array, texts)

    def _extent(self, name: str, axis: int) -> str | None:
        return smallest_cover(self._needs(name, axis), self.draft.sizes)

    def _needs(self, name: str, axis: int) -> list[tuple[Mapping[str, int], int]]:
        """The extent that each choice of sizes asks for, those of many small sizes included."""
        cases = zip(self.found, self.shapes, strict=True)
        needs = [(choice, shapes[name][axis]) for (choice, _), shapes in cases]
        return needs + [(choice, probe.high.get((name, axis), -1) + 1) for choice, probe in self.probes]

    @cached_property
    def probes(self) -> list[tuple[Mapping[str, int], Footprint]]:
        """Small sizes of all kinds: an extent that the text states has to do for them too."""
        return _probes(self.draft, self.source)

    def _fill(self, array: ArrayName, extents: list[str]) -> None:
        iterators = ITERATORS[: array.rank]
        for axis, (iterator, extent) in enumerate(zip(iterators, extents, strict=True)):
            self.head.append(f"{'    ' * axis}for {iterator} in range({extent}):")
        terms = " - ".join(f"{axis + 2} * {iterator}" for axis, iterator in enumerate(iterators))
        value = f"({terms}) % 7" if array.kind == "integer" else f"0.25 * (({terms}) % 7)"
        self.head.append(f"{'    ' * array.rank}{array.name}[{', '.join(iterators)}] = {value}")

    def _take_sizes_from_shapes(self) -> None:
        if not self.non_negative or self.draft.random.random() < 0.5:
            return
        for size in self.draft.sizes:
            fitting = [
                (name, axis)
                for name, rank in self.ranks.items()
                if name not in self.locals
                for axis in range(rank)
                if (name, axis) not in self.taken and self._may_give(name, axis, size)
            ]
            if fitting:
                self._take(size, *self.draft.random.choice(fitting))

    def _may_give(self, name: str, axis: int, size: str) -> bool:
        return all(need <= choice[size] for choice, need in self._needs(name, axis))

    def _take(self, size: str, name: str, axis: int) -> None:
        self.taken.add((name, axis))
        self.from_shape.add(size)
        text = f"len({name})" if axis == 0 and self.draft.random.random() < 0.3 else f"{name}.shape[{axis}]"
        self.head.insert(0, f"{size} = {text}")
        for (choice, _), shapes in zip(self.found, self.shapes, strict=True):
            shape = list(shapes[name])
            shape[axis] = choice[size]
            shapes[name] = tuple(shape)

    def _assembled(self) -> Program:
        function = ast.parse(self.source).body[0]
        assert isinstance(function, ast.FunctionDef)
        body = ast.unparse(ast.Module(function.body, []))
        arguments = self._arguments(body)
        lines = [*self.head, *body.splitlines(), *self._result()]
        text = f"def program({', '.join(argument.name for argument in arguments)}):\n"
        tree = ast.parse(text + "".join(f"    {line}\n" for line in lines))
        source = ast.unparse(ast.fix_missing_locations(_Respell(self.draft.random).visit(tree))) + "\n"
        dtypes = {array.dtype for array in self.draft.arrays}
        cases = tuple(
            Case(dict(choice), {name: shape for name, shape in shapes.items() if name not in self.locals})
            for (choice, _), shapes in zip(self.found, self.shapes, strict=True)
        )
        return Program(self.seed, source, arguments, cases, plain=dtypes <= PLAIN and not self.draft.profile.shaped)

    def _arguments(self, body: str) -> tuple[Argument, ...]:
        draft = self.draft
        layout = self._layout()
        dtypes = {array.name: array.dtype for array in draft.arrays}
        used = {
            node.id
            for node in ast.walk(ast.parse("\n".join([*self.head, body])))
            if isinstance(node, ast.Name)
        }
        arguments = [
            Argument(
                name, "array", dtypes.get(name, "int64"),
                "index" if name == "I" else "special" if draft.special else "small",
                self._layout() if draft.profile.odd else layout,
            )
            for name in self.ranks
            if name not in self.locals
        ]  # fmt: skip
        arguments += [
            Argument(name, "number", dtype) for name, dtype in draft.numbers.items() if name in used
        ]
        arguments += [
            Argument(name, "size") for name in draft.sizes if name in used and name not in self.from_shape
        ]
        return tuple(arguments)

    def _layout(self) -> Layout:
        weights, layouts = zip(*self.draft.profile.layouts, strict=True)
        return self.draft.random.choices(layouts, weights)[0]

    def _result(self) -> list[str]:
        names = [*self.draft.scalars, *sorted(self.locals)]
        if not names:
            return []
        chosen = [name for name in names if self.draft.random.random() < 0.8]
        return [f"return {', '.join(chosen)}"] if chosen else []
