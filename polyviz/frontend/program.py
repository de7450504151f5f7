"""The state of reading one program: names, arrays, parameters, and the loops around the statement being read."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from polyviz.errors import ExtractionError, UnknownNameError
from polyviz.frontend.constant_arrays import refused_array
from polyviz.frontend.context import assumed
from polyviz.frontend.environment import Environment, Known
from polyviz.frontend.nodes import Requirement
from polyviz.frontend.parameters import ParameterTable
from polyviz.frontend.symbols import ArrayDraft, Symbols
from polyviz.model.expression import Element, Expression, Name
from polyviz.model.registry import near
from polyviz.model.scop import Exchange, Result

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator, Mapping

    import islpy as isl

    from polyviz.errors import Span
    from polyviz.frontend.loops import Header
    from polyviz.frontend.names import GlobalNames
    from polyviz.frontend.source import Source
    from polyviz.frontend.usage import Usage


class Program:
    """What is known while the statements are read from top to bottom.

    ``stored`` are the names that have to live in memory as scalars, because some read cannot be replaced by a known
    integer; ``demanded`` grows by those found out in this pass, after which the program is read once more.
    ``assumptions`` are parameter values without which a statement has no meaning. ``slices`` are the places of
    slices whose end is computed; those on the lines in ``cut`` end where their array does. ``masks`` are arrays that
    are read as if they held truth values.
    """

    def __init__(
        self,
        source: Source,
        usage: Usage,
        names: GlobalNames,
        stored: frozenset[str],
        sizes: Mapping[str, int] | None = None,
        cut: frozenset[int] = frozenset(),
    ) -> None:
        self.source = source
        self.usage = usage
        self.globals = names
        self.symbols = Symbols(source, usage)
        self.stored = stored
        self.cut = cut
        self.slices: set[Span] = set()
        self.demanded: set[str] = set()
        taken = usage.names | {argument.name for argument in self.symbols.arguments}
        self._sizes = {name: value for name, value in (sizes or {}).items() if type(value) is int}
        self.parameters = ParameterTable(taken, {**self.symbols.notebook_sizes, **(sizes or {})})
        self.environment = Environment()
        self.arrays: dict[str, ArrayDraft] = {}
        self.scalars: dict[str, ArrayDraft] = {}
        self.aliases: dict[str, str] = {}
        self.iterators: list[str] = []
        self.headers: list[Header] = []
        self.pending: list[Requirement] = []
        self.notes: list[str] = []
        self.masks: set[str] = set()
        self.assumptions: list[isl.Set] = []
        self._context: tuple[tuple[int, ...], isl.Set] | None = None
        self.result = Result()
        self.exchanges: list[Exchange] = []
        self.from_notebook: dict[str, None] = {}
        self.depth = 0
        for argument in self.symbols.arguments:
            self._start(argument.name)

    def _start(self, name: str) -> None:
        """Give an argument or a name of the notebook its first meaning."""
        kind = self.symbols.kind(name)
        if kind == "array":
            self.arrays[name] = self.symbols.draft(name)
            if self.arrays[name].is_point:
                self.notes.append(
                    f"`{name}` has no dimensions: generated code takes it for an array of one element."
                )
        elif kind == "size" and name not in self.stored:
            self.environment.bind(name, Known(self.parameters.argument(name)))
        elif kind != "unknown":
            self.scalars[name] = ArrayDraft(name, 0, "argument")
        self.environment.assigned.add(name)

    @contextmanager
    def branch(self) -> Iterator[None]:
        """What is read meanwhile need not run: the body of a loop, or one arm of a condition."""
        self.depth += 1
        yield
        self.depth -= 1

    def uncut(self, span: Span | None) -> set[int]:
        """The lines of ``span`` with slices that are taken to lie inside their arrays."""
        lines = range(span.line, span.end_line + 1) if span is not None else ()
        return {one.line for one in self.slices if one.line in lines} - self.cut

    def context(self) -> isl.Set:
        """The parameter values that the program is for, over the parameters known so far."""
        known = (len(self.parameters.parameters), len(self.parameters.frozen), len(self.assumptions))
        if self._context is None or self._context[0] != known:
            self._context = known, self._found_context()
        return self._context[1]

    def _found_context(self) -> isl.Set:
        result = assumed(self.parameters.parameters, {**self.parameters.frozen, **self._sizes})
        space = result.get_space()
        for assumption in self.assumptions:
            result = result.intersect(assumption).align_params(space)
        return result.coalesce()

    def meet(self, name: str) -> None:
        """In a cell, a name that is read before it is assigned comes from the notebook."""
        if not self.source.is_cell or name in self.environment.assigned or name in self.aliases:
            return
        if self.symbols.kind(name) != "unknown":
            self.from_notebook[name] = None
            self._start(name)

    def is_local(self, name: str) -> bool:
        """Whether the program itself gives ``name`` a meaning, so that no global of that name is meant."""
        return name in self.environment.assigned or name in self.usage.assigned

    def array(self, name: str) -> ArrayDraft | None:
        """The array behind ``name``, through aliases; None when it is no array."""
        self.meet(name)
        return self.arrays.get(self.aliases.get(name, name))

    def rank(self, name: str) -> int | None:
        """The number of dimensions of the array ``name``, not taken from the notebook yet; None for no array."""
        known = self.arrays.get(self.aliases.get(name, name))
        if known is not None:
            return 0 if known.is_point else known.rank
        may_come = self.source.is_cell and name not in self.environment.assigned and name not in self.aliases
        if not may_come or self.symbols.kind(name) != "array":
            return None
        return 0 if self.symbols.is_point(name) else self.symbols.rank(name)

    def read(self, node: ast.Name) -> Expression:
        """The value of a name: an integer expression, a constant, or the scalar that holds it."""
        name = node.id
        if self.array(name) is not None:
            raise self._whole_array(node)
        known = self.environment.known(name)
        if known is not None:
            self.pending += [Requirement(condition, self._after_loop(node)) for condition in known.requires]
            self.pending += known.asked
            return known.expression
        if name in self.environment.assigned:
            return self._scalar_read(node)
        constant = None if self.is_local(name) else self.globals.constant(node)
        if constant is not None:
            return constant
        raise self._unknown(node)

    def _scalar_read(self, node: ast.Name) -> Expression:
        if node.id in self.usage.loop_variables and node.id not in self.scalars:
            if any(header.variable == node.id for header in self.headers):
                raise self.source.error(
                    node,
                    f"The loop variable `{node.id}` is given another value inside its loop.",
                    reason="The next iteration has that of the range again: nothing ends earlier by it.",
                    hint="Use another name for the value, and `break` to leave the loop.",
                )
            raise self.source.error(
                node,
                f"The value of the loop variable `{node.id}` after its loop is not known here.",
                reason="It depends on which iterations ran last, or on data.",
                hint="Compute the value that you need from the bounds of the loop, or use another name.",
            )
        self.demanded.add(node.id)
        return self.scalar(node.id, node)

    def scalar(self, name: str, node: ast.AST) -> Element:
        """The memory of a number, made on first use."""
        if name not in self.scalars:
            self.scalars[name] = ArrayDraft(name, 0, "local", span=self.source.span(node))
        return Element(name, (), True, self.source.span(node))

    def temporary(self, stem: str, node: ast.AST) -> Element:
        """A scalar of our own, for what Python keeps between reading and writing."""
        return self.scalar(self.parameters.fresh(stem), node)

    def requirements(self) -> tuple[Requirement, ...]:
        """What the statement just read needs; the next statement starts with nothing."""
        taken, self.pending = tuple(self.pending), []
        return taken

    def iterator(self, variable: str) -> str:
        """An identifier for a loop: the user's own unless something visible inside has it already."""
        taken = {*self.iterators, *self.arrays, *self.scalars, *self.parameters.names}
        arguments = {argument.name for argument in self.symbols.arguments}
        if variable not in taken | arguments:
            return variable
        return self.parameters.fresh(f"{variable}_")

    def extent(self, array: ArrayDraft, axis: int, preferred: str | None = None) -> Expression:
        """``array.shape[axis]`` as an expression over parameters."""
        known = array.extents[axis]
        if known is not None:
            return known
        found: Name = self.parameters.shape(array.name, axis, preferred=preferred)
        array.extents[axis] = found
        return found

    def _after_loop(self, node: ast.Name) -> ExtractionError:
        return self.source.error(
            node,
            f"The value of `{node.id}` comes from a loop that may have no iteration.",
            reason="Then it has no value, or the one from before the loop.",
            hint="Compute the value from the bounds of the loop instead.",
        )

    def _whole_array(self, node: ast.Name) -> Exception:
        return self.source.error(
            node,
            f"The array `{node.id}` is used as a whole.",
            reason="Every operation is analysed element by element.",
            hint=f"Write a loop over its elements and use `{node.id}[i]`.",
        )

    def _unknown(self, node: ast.Name) -> Exception:
        name = node.id
        if name in self.usage.assigned:
            return self.source.error(
                node,
                f"`{name}` is read before it is assigned.",
                hint=f"Assign `{name}` before this line.",
                kind=UnknownNameError,
            )
        value = self.globals.value(name)
        if isinstance(value, np.ndarray):
            return self._array_around(node)
        if value is not None:
            return self.source.error(
                node,
                f"`{name}` is a {type(value).__name__}, which a loop nest cannot work with.",
                reason="Only numbers and NumPy arrays can be used.",
                hint=f"Make an array of it before, `{name} = np.array({name})`, and use that in the loops."
                if isinstance(value, list | tuple)
                else "Use a NumPy array or a number.",
            )
        where = (
            "in the notebook"
            if self.source.is_cell
            else "among the arguments, the assignments and the globals"
        )
        return self.source.error(
            node,
            f"`{name}` is not known {where}{near(name, self._names_in_sight())}.",
            hint="Check the spelling, or define it first.",
            kind=UnknownNameError,
        )

    def _names_in_sight(self) -> set[str]:
        """What the program may name: its own names, and the arrays and numbers around it."""
        around = {name for name, value in self.globals.around() if isinstance(value, np.ndarray | int | float)}
        return {name for name in self.environment.assigned | around if not name.startswith("_")}

    def _array_around(self, node: ast.Name) -> Exception:
        name = node.id
        if self.source.is_cell:  # others are taken from the notebook
            return self.source.error(
                node,
                f"`{name}` is an array without dimensions, not a number.",
                hint=f"Write `{name}[()]` for its element.",
            )
        return refused_array(self.source, node, name, self.globals.value(name))
