"""Random affine programs: a seed gives a function that numba accepts, with sizes and shapes that fit it.

    >>> from tests.random_programs.generator import generate
    >>> program = generate(7)
    >>> program.function()(*program.values(program.cases[0]))
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from tests.random_programs.expressions import ArrayName, Expressions, Kind, Surroundings
from tests.random_programs.fitting import Footprint, footprints, negative_needs, shifted, smallest_cover
from tests.random_programs.program import Argument, Case, Program

SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 15, 16, 17, 23, 31, 32, 33, 37)
"""Values of the size parameters: empty and single iterations, primes, multiples of tile sizes and their neighbours."""
ITERATORS = "ijkl"
LIMIT = 6000
"""Most array accesses that a case may execute."""
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
PLAIN = {"float64", "int64", "complex128", "bool"}
"""Element types with which plain Python and numba compute the same."""


@dataclass(frozen=True)
class Profile:
    """What the programs may hold; the defaults are everything."""

    depth: int = 4
    statements: int = 7
    data_dependent: bool = True
    families: tuple[tuple[float, tuple[str, ...]], ...] = FAMILIES
    limit: int = LIMIT


EVERYTHING = Profile()


def generate(seed: int, profile: Profile = EVERYTHING) -> Program:
    """The program of ``seed``: the same on every machine."""
    for attempt in range(100):
        draft = _Draft(Random(f"{seed} {attempt}"), profile)
        draft.write()
        program = _fitted(draft, seed)
        if program is not None:
            return program
    raise AssertionError(f"no program for seed {seed}")


@dataclass
class _Draft:
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
        self.family = random.choices([names for _, names in self.profile.families], [w for w, _ in self.profile.families])[0]
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
            elif self.chance(0.18):
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
            (1, f"0, {size}, {step}"),
            (1, f"{constant}, {size}, {step}"),
            (1.5, f"{size} - 1, -1, -1"),
            (0.7, f"{size} - 2, 0, -{step}"),
            (0.7, f"{size} // 2"),
            (0.7, f"{size} // 3, {size}"),
            (0.5, f"{size} % 4, {size}"),
            (0.5, f"min({size}, {other} + 2)"),
            (0.5, f"max({size}, {other})"),
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
            (3, f"{target} += {left} * {right}" if kind != "integer" else f"{target} += 3 * {left} - {right}"),
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
        return self.expressions.pick((2, f"({back} + {target} + {ahead}) / 3"), (1, f"0.5 * ({back} + {target})"))

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

    def array_leaf(self, kind: Kind, around: Surroundings) -> str:
        fitting = [array for array in self.arrays if array.kind == kind and array.dtype != "bool"]
        return self.expressions.reference(self.random.choice(fitting), around)


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


def _scalar_dtype(kind: Kind) -> str:
    return {"integer": "int64", "real": "float64", "complex": "complex128"}[kind]


# From a draft to a program: offsets, shapes, local arrays, sizes from shapes, results.


def _fitted(draft: _Draft, seed: int) -> Program | None:
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
    return _Fit(draft, seed, moved, found).program() if len(found) >= 2 else None


def _footprints(
    source: str, choices: Sequence[Mapping[str, int]], limit: int
) -> list[tuple[Mapping[str, int], Footprint]]:
    pairs = zip(choices, footprints(source, choices, limit), strict=True)
    return [(choice, footprint) for choice, footprint in pairs if footprint is not None]


def _choices(draft: _Draft) -> list[dict[str, int]]:
    random = draft.random
    small = {name: random.choice([0, 1]) for name in draft.sizes}
    middle = {name: random.choice(SIZES[2:7]) for name in draft.sizes}
    wide = [{name: random.choice(SIZES) for name in draft.sizes} for _ in range(2)]
    tile = {name: random.choice([7, 8, 9, 15, 16, 17]) for name in draft.sizes}
    negative = [dict.fromkeys(draft.sizes, -2)] if random.random() < 0.05 else []
    return [small, middle, tile, *wide, *negative]


@dataclass
class _Fit:
    draft: _Draft
    seed: int
    source: str
    found: list[tuple[Mapping[str, int], Footprint]]

    def program(self) -> Program:
        random = self.draft.random
        slack = 0 if random.random() < 0.6 else random.randint(1, 2)
        negative = negative_needs(self.source)
        ranks = {array.name: array.rank for array in self.draft.arrays} | ({"I": 1} if self.draft.indices else {})
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
            if self.draft.random.random() < 0.15 and array.name in self.ranks and self.non_negative:
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
        needs = [(choice, shapes[name][axis]) for (choice, _), shapes in zip(self.found, self.shapes, strict=True)]
        return smallest_cover(needs, self.draft.sizes)

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
        return all(
            shapes[name][axis] <= choice[size]
            for (choice, _), shapes in zip(self.found, self.shapes, strict=True)
        )

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
        return Program(self.seed, source, arguments, cases, plain=dtypes <= PLAIN)

    def _arguments(self, body: str) -> tuple[Argument, ...]:
        draft, random = self.draft, self.draft.random
        layout = random.choices(["C", "F", "strided"], [85, 8, 7])[0]
        dtypes = {array.name: array.dtype for array in draft.arrays}
        used = {node.id for node in ast.walk(ast.parse("\n".join([*self.head, body]))) if isinstance(node, ast.Name)}
        arguments = [
            Argument(
                name, "array", dtypes.get(name, "int64"),
                "index" if name == "I" else "special" if draft.special else "small", layout,
            )
            for name in self.ranks
            if name not in self.locals
        ]  # fmt: skip
        arguments += [Argument(name, "number", dtype) for name, dtype in draft.numbers.items() if name in used]
        arguments += [Argument(name, "size") for name in draft.sizes if name in used and name not in self.from_shape]
        return tuple(arguments)

    def _result(self) -> list[str]:
        names = [*self.draft.scalars, *sorted(self.locals)]
        if not names:
            return []
        chosen = [name for name in names if self.draft.random.random() < 0.8]
        return [f"return {', '.join(chosen)}"] if chosen else []
