"""What a name stands for before the first statement: an array, an integer size, a number, or nothing."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from polyviz.frontend.literals import literal_number
from polyviz.model.expression import Constant
from polyviz.model.scop import Argument, Creation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from polyviz.errors import Span
    from polyviz.frontend.source import Source
    from polyviz.frontend.usage import Usage
    from polyviz.model.expression import Expression

Kind = Literal["array", "size", "scalar", "unknown"]


@dataclass
class ArrayDraft:
    """An array while the program is read; ``extents`` are expressions over parameters where the source tells them.

    ``is_point``: an array without dimensions, ``A[()]``, which is kept as one of one element. ``rebound``: where all of
    it is given new values, which have to be of its type.
    """

    name: str
    rank: int
    origin: Literal["argument", "local"]
    extents: list[Expression | None] = field(default_factory=list)
    creation: Creation | None = None
    span: Span | None = None
    is_point: bool = False
    rebound: tuple[Span, ...] = ()


class Symbols:
    """Classifies names by their use, their annotation or default, and the value a notebook has for them."""

    def __init__(self, source: Source, usage: Usage) -> None:
        self._source = source
        self._usage = usage
        self._arguments = {argument.arg: (argument, default) for argument, default in _arguments(source)}

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """The arguments of the function with their defaults; empty for a cell."""
        return tuple(
            Argument(name) if default is None else Argument(name, self._default(name), has_default=True)
            for name, (_, default) in self._arguments.items()
        )

    def kind(self, name: str) -> Kind:
        """What ``name`` is when the program starts."""
        if self._source.is_cell:
            return self._kind_in_notebook(name)
        return self._kind_of_argument(name) if name in self._arguments else "unknown"

    def is_point(self, name: str) -> bool:
        """Whether ``name`` is an array without dimensions: its only subscript is ``[()]``."""
        usage, value = self._usage, self.notebook_value(name)
        fits = value is None or (isinstance(value, np.ndarray) and value.ndim == 0)
        return fits and set(usage.subscripts.get(name, ())) == {0} and name not in usage.least_ranks

    def draft(self, name: str) -> ArrayDraft:
        """The array that ``name`` is when the program starts."""
        if self.is_point(name):
            return ArrayDraft(name, 1, "argument", [Constant(1)], span=self.span(name), is_point=True)
        rank = self.rank(name)
        return ArrayDraft(name, rank, "argument", [None] * rank, span=self.span(name))

    def span(self, name: str) -> Span | None:
        """Where an argument stands, or where a cell first subscripts an array."""
        if name in self._arguments:
            return self._source.span(self._arguments[name][0])
        first = next(iter(self._usage.subscripts.get(name, {}).values()), None)
        return None if first is None else self._source.span(first)

    def rank(self, name: str) -> int:
        """The number of dimensions of an array."""
        value = self.notebook_value(name)
        if value is not None and hasattr(value, "shape"):
            shape: tuple[int, ...] = value.shape
            return len(shape)
        usage = self._usage
        if name in usage.ranks:
            return usage.ranks[name]
        counts: list[int] = [*usage.subscripts.get(name, ()), usage.least_ranks.get(name, 1)]
        return max(counts)

    def notebook_value(self, name: str) -> Any:
        """What the notebook has under ``name``; None for a function or when nothing is known."""
        return self._source.names.get(name) if self._source.is_cell else None

    @property
    def masks(self) -> set[str]:
        """The arrays of truth values in the notebook, or of a call."""
        values = {name: self.notebook_value(name) for name in self._usage.names}
        around = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
        return {*self._source.masks, *(name for name, value in around.items() if value.dtype == np.bool_)}

    @property
    def no_masks(self) -> set[str]:
        """The arrays that hold no truth values: those of a call or the notebook, and of whole numbers by the head."""
        values = {name: self.notebook_value(name) for name in self._usage.names}
        around = {name for name, value in values.items() if isinstance(value, np.ndarray) and value.dtype != np.bool_}
        stated = {name for name, (argument, _) in self._arguments.items() if _is_of_integers(argument.annotation)}
        return {*self._source.no_masks, *around, *stated}

    def _default(self, name: str) -> object:
        """The default of an argument: that of the function object, else what its text says."""
        if name in self._source.defaults:
            return self._source.defaults[name]
        default = self._arguments[name][1]
        if default is None or isinstance(default, ast.Constant):
            return default.value if default is not None else None
        number = literal_number(default, self._source.names)
        if number is not None:
            return number
        raise self._source.error(
            default,
            f"The default of the argument `{name}` is not known.",
            reason="Only a number or a name of a number can be read from text.",
            hint="Write the number, or pass the function itself.",
        )

    def is_float(self, name: str) -> bool:
        """Whether ``name`` starts as a float: by its annotation, its default, or its value in the notebook."""
        if name not in self._arguments:
            return isinstance(self.notebook_value(name), float | np.floating)
        argument, _ = self._arguments[name]
        is_annotated = isinstance(argument.annotation, ast.Name) and argument.annotation.id == "float"
        return is_annotated or isinstance(self._default(name), float | np.floating)

    @property
    def notebook_sizes(self) -> dict[str, int]:
        """The integers of the notebook."""
        names = self._source.names if self._source.is_cell else {}
        integers = {name: value for name, value in names.items() if isinstance(value, int | np.integer)}
        return {name: int(value) for name, value in integers.items() if not isinstance(value, bool)}

    def _kind_of_argument(self, name: str) -> Kind:
        if self._usage.is_array(name):
            return "array"
        argument, _ = self._arguments[name]
        annotation = argument.annotation
        if isinstance(annotation, ast.Name) and annotation.id in ("float", "complex", "bool"):
            return "scalar"
        if isinstance(self._default(name), float | complex | np.floating):
            return "scalar"
        return "size" if self._usage.may_be_size(name) else "scalar"

    def _kind_in_notebook(self, name: str) -> Kind:
        if not self._source.has_namespace:
            if self._usage.is_array(name):
                return "array"
            return "size" if self._usage.may_be_size(name) else "scalar"
        if name not in self._source.names:
            return "unknown"
        value = self._source.names[name]
        dimensions = getattr(value, "ndim", 0)  # of NumPy itself, a function
        if hasattr(value, "shape") and hasattr(value, "dtype") and isinstance(dimensions, int) and dimensions > 0:
            return "array"
        if self.is_point(name):
            return "array"
        if isinstance(value, bool | np.bool_ | float | complex | np.floating | np.complexfloating):
            return "scalar"
        if isinstance(value, int | np.integer):
            return "size" if self._usage.may_be_size(name) else "scalar"
        return "unknown"


def rank_of_annotation(annotation: ast.expr | None) -> int:
    """The dimensions of ``float64[:, :]``, as numba spells types, which may stand in quotes; 0 for anything else.

    >>> rank_of_annotation(ast.parse("'float32[:, ::1]'", mode="eval").body), rank_of_annotation(None)
    (2, 0)
    """
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return 0
    if not isinstance(annotation, ast.Subscript):
        return 0
    index = annotation.slice
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return len(parts) if all(isinstance(part, ast.Slice) for part in parts) else 0


def _is_of_integers(annotation: ast.expr | None) -> bool:
    """Whether ``annotation`` is that of an array of whole numbers.

    >>> [_is_of_integers(ast.parse(text, mode="eval").body) for text in ("'int32[:]'", "float64[:]", "int")]
    [True, False, False]
    """
    text = "" if annotation is None else ast.unparse(annotation).strip("'\"")
    return rank_of_annotation(annotation) > 0 and re.match(r"(\w+\.)?u?int\d*\[", text) is not None


def _arguments(source: Source) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    signature = source.arguments
    if signature is None:
        return
    for unsupported in (signature.vararg, signature.kwarg):
        if unsupported is not None:
            raise source.error(
                unsupported,
                f"The argument `{unsupported.arg}` collects values, which is not supported.",
                reason="Every array and number has to have a name of its own.",
                hint="List the arguments one by one.",
            )
    positional = [*signature.posonlyargs, *signature.args]
    missing: list[ast.expr | None] = [None] * (len(positional) - len(signature.defaults))
    yield from zip(positional, [*missing, *signature.defaults], strict=True)
    yield from zip(signature.kwonlyargs, signature.kw_defaults, strict=True)
