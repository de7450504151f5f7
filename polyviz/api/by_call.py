"""Kernels of functions whose text leaves open how many dimensions their arrays have: a call says it.

``def f(A, x): return A @ x`` means one loop nest for matrices and another one for vectors. numba compiles a function
when it is called, for the types of that call; here that is done where the text alone does not tell. A call also says
which arguments are None, where the text asks ``if out is None``, and what the block size or the stride is, where loops
are affine only for constants.
"""

from __future__ import annotations

import ast
import re
import threading
from itertools import chain, product
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.api.text_signature import name_in_text
from polyviz.api.told import ranks_given
from polyviz.errors import ArgumentError, ExtractionError, OutOfBoundsError, OverlapError
from polyviz.frontend import ABSENT, Real, Truths
from polyviz.runtime.kernel import Kernel
from polyviz.runtime.original import plain_function

if TYPE_CHECKING:
    import inspect
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from polyviz.model.plan import Plan
    from polyviz.runtime.execute import Runner

    Reading = Callable[[Mapping[str, int]], Kernel]

_MOST_DIMENSIONS = 6
_MOST_VALUES = 4
"""Values, or combinations of them, that the loops of a function are compiled for."""
_MOST_TRIED = 5
"""Arguments whose dimensions are tried together."""
_MOST_MASKS = 4
"""Arguments of which one may be a mask."""
_KEPT = ("scop", "dependences", "original", "floating_point", "overlap", "layouts")
_TOLD = frozenset({*(name for name in dir(Kernel) if not name.startswith("_")), *_KEPT})
"""What kernels tell; those who look for anything else, to see what an object is, are told that it is not there."""


class Readings:
    """The kernels of one function, by the dimensions of the arrays that calls gave, made by ``reading``.

    ``asked``: the arguments of which the text asks whether they are None. ``by_values``: whether there may be kernels
    for the values of arguments, too, whose statements are others.
    """

    def __init__(
        self,
        reading: Reading,
        signature: inspect.Signature | None,
        asked: Collection[str] = (),
        *,
        by_values: bool = False,
    ) -> None:
        self.signature = signature
        self.asked = asked
        self.by_values = by_values
        self._reading = reading
        self._known: dict[tuple[tuple[str, int, type[int]], ...], Kernel] = {}
        self._values: set[tuple[int, ...]] = set()
        self._making = threading.Lock()

    def of(self, ranks: Mapping[str, int]) -> Kernel:
        """The kernel for arrays of these dimensions; raises ExtractionError where they have none."""
        key = tuple((name, rank, type(rank)) for name, rank in sorted(ranks.items()))
        with self._making:
            if key not in self._known:
                self._known[key] = self._reading(ranks)
            return self._known[key]

    def for_values(
        self, deciding: Collection[str], arguments: tuple[Any, ...], keywords: Mapping[str, Any]
    ) -> Kernel | None:
        """The kernel for the values that a call gives ``deciding`` arguments; None where they are large, or more of
        them came before than are compiled for."""
        if not (self.by_values and deciding):
            return None
        ranks = ranks_given(self.signature, arguments, keywords, self.asked, deciding)
        values = tuple(ranks.get(name, 0) for name in deciding)
        if not all(values) or (values not in self._values and len(self._values) >= _MOST_VALUES):
            return None
        self._values.add(values)
        try:
            kernel = self.of(ranks)
            return kernel if _takes(kernel, arguments, keywords) else None
        except ExtractionError:
            return None  # the loops that take any value say what is wrong, or know how to go on

    def given(
        self, arguments: tuple[Any, ...], keywords: Mapping[str, Any], refusing: Kernel | None = None
    ) -> dict[str, int]:
        """The dimensions of the arrays of a call, and floats where ``refusing`` asks for a whole number."""
        ranks = ranks_given(self.signature, arguments, keywords, self.asked)
        sizes = set() if refusing is None else {parameter.name for parameter in refusing.scop.parameters}
        try:
            named = self.signature.bind(*arguments, **keywords).arguments if self.signature and sizes else {}
        except TypeError:
            return ranks
        reals = [name for name, value in named.items() if isinstance(value, float | np.floating)]
        return ranks | {name: Real() for name in reals if name in sizes}


def _takes(kernel: Kernel, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> bool:
    """Whether ``kernel`` takes a call, of which nothing has run yet: affine loops assume more than whole ones, such as
    slices inside their arrays."""
    try:
        kernel.bind(arguments, keywords)
    except OverlapError:
        return True
    except (ArgumentError, OutOfBoundsError):
        return False
    return True


class RereadKernel(Kernel):
    """A kernel that is read anew for arrays of more dimensions than its text tells: ``x`` of ``x + 1`` may be one.

    Likewise for floats where a size may be meant: ``low`` of ``int((x[i] - low) // width)``, which is a subscript, and
    for the first values of arguments that make more of its loops affine.
    """

    readings: Readings | None = None
    _called: Any = None
    """The kernel that ran the latest call, where it was another one."""

    @property
    def plan(self) -> Plan:
        """How the schedule of the latest call is mapped to the target."""
        plan: Plan = super().plan if self._called is None else self._called.plan
        return plan

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Run on ``arguments``; the result of the original function."""
        readings = self.readings
        valued = None if readings is None else readings.for_values(self.scop.deciding, arguments, keywords)
        if valued is not None:
            return self._result_of(valued, arguments, keywords)
        self._called = None
        try:
            return super().__call__(*arguments, **keywords)
        except ArgumentError as error:  # raised before anything runs
            ranks = {} if self.readings is None else self.readings.given(arguments, keywords, self)
            if self.readings is None or self._was_read_for(ranks):
                raise
            try:
                kernel = self.readings.of(ranks)
            except ExtractionError as refusal:
                if any(isinstance(rank, Real) for rank in ranks.values()):
                    raise error from None
                place = "" if refusal.span is None else f" (line {refusal.span.line})"
                told = f"Read with the dimensions of this call, it is refused{place}: {refusal.message}"
                error.hint = f"{error.hint} {told}".strip()
                raise error from refusal
        return self._result_of(kernel, arguments, keywords)

    def _result_of(self, kernel: Kernel, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
        result = kernel(*arguments, **keywords)
        self._called, self._latest = kernel, kernel.program
        return result

    def _latest_runner(self) -> Runner | None:
        if self._called is None:
            return super()._latest_runner()
        runner: Runner | None = self._called._latest_runner()
        return runner

    def _was_read_for(self, ranks: Mapping[str, int]) -> bool:
        """Whether a call with these dimensions is refused for another reason than how the text was read."""
        asked = () if self.readings is None else self.readings.asked
        read = {array.name: array.rank for array in self.scop.arrays if array.origin == "argument"}
        given = {argument.name for argument in self.scop.arguments}
        as_given = all((ranks.get(name) == ABSENT) == (name not in given) for name in asked if name in ranks)
        is_real = any(isinstance(rank, Real) for rank in ranks.values())
        return as_given and not is_real and all(rank <= read.get(name, 0) for name, rank in ranks.items())


class OpenKernel:
    """What ``compile`` makes of a function that is refused as long as nothing tells the dimensions of its arrays.

    It is called like the function. From the first call on it has what a kernel has, that of the latest call; before it
    ``kernel`` and all that a kernel tells raise why the text alone was refused.
    """

    def __init__(self, function: object, refusal: ExtractionError, readings: Readings) -> None:
        plain = plain_function(function)
        self.__wrapped__ = function if plain is None else plain
        self.__name__ = getattr(plain, "__name__", None) or name_in_text(function)
        self.__doc__ = getattr(plain, "__doc__", None)
        self.refusal = refusal
        self._readings = readings
        self._latest: Kernel | None = None

    @property
    def kernel(self) -> Kernel:
        """The kernel of the latest call; raises ExtractionError before the first one."""
        if self._latest is None:
            raise self.refusal
        return self._latest

    @property
    def py_func(self) -> object:
        """The function as it was written, which other loops may call."""
        return self.__wrapped__

    @property
    def __signature__(self) -> inspect.Signature | None:
        return self._readings.signature

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Run on ``arguments``; the result of the original function."""
        self._check_number(arguments, keywords)
        kernel = self._readings.of(self._readings.given(arguments, keywords))
        self._latest = kernel = self._readings.for_values(kernel.scop.deciding, arguments, keywords) or kernel
        try:
            return kernel(*arguments, **keywords)
        except ArgumentError as error:  # raised before anything runs
            ranks = self._readings.given(arguments, keywords, kernel)
            if not any(isinstance(rank, Real) for rank in ranks.values()):
                raise
            try:
                self._latest = kernel = self._readings.of(ranks)
            except ExtractionError:
                raise error from None
        return kernel(*arguments, **keywords)

    def _check_number(self, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
        signature = self._readings.signature
        try:
            if signature is not None:
                signature.bind(*arguments, **keywords)
        except TypeError as error:
            raise ArgumentError(f"{self.__name__}(): {error}.", hint=f"Its signature is {signature}.") from None

    def __getattr__(self, name: str) -> Any:
        if name not in _TOLD:
            raise AttributeError(f"{self.__name__} is a kernel, which has no attribute {name!r}")
        return getattr(self.kernel, name)

    def __repr__(self) -> str:
        if self._latest is not None:
            return repr(self._latest)
        return f"{self.__name__}: to be compiled at its first call, which tells the dimensions of its arrays"


def is_open(
    refusal: ExtractionError,
    signature: inspect.Signature | None,
    extracted: Callable[[Mapping[str, int]], object],
    asked: Collection[str] = (),
) -> bool:
    """Whether ``refusal`` depends on how many dimensions the arguments have: with some the reading gets further.

    So may it, where the arguments are given that are ``asked`` whether they are None.
    """
    names = () if signature is None else tuple(signature.parameters)
    words = _words(refusal)
    none = dict.fromkeys((name for name in names if name in asked), ABSENT)
    choices = chain(_alike(names, _computed_with(refusal)), _choices(names, words, _behind(refusal.text, words)))
    for ranks in (one for choice in choices for one in ((choice, {**choice, **none}) if none else (choice,))):
        try:
            extracted(ranks)
        except ExtractionError as other:
            if _is_further(other, refusal):
                return True
        else:
            return True
    return False


def _is_further(refusal: ExtractionError, first: ExtractionError) -> bool:
    """Whether ``refusal`` is about something behind what ``first`` is about, or about something else in its line."""
    if refusal.span is None or first.span is None:
        return False
    if refusal.span.line == first.span.line:
        return refusal.message != first.message
    return refusal.span.line > first.span.line


def _choices(names: Sequence[str], *named: set[str]) -> Iterator[dict[str, int]]:
    """Dimensions for all arguments, and for those that are ``named`` where something is refused, together; one of these
    may be a mask."""
    if names:
        yield from (dict.fromkeys(names, rank) for rank in range(1, _MOST_DIMENSIONS + 1))
    together = dict.fromkeys(tuple(name for name in names if name in words) for words in named)
    for chosen in (one for one in together if 0 < len(one) <= _MOST_TRIED):
        yield from (dict(zip(chosen, ranks, strict=True)) for ranks in product((1, 2), repeat=len(chosen)))
    masked = [name for name in names if named and name in named[0]][:_MOST_MASKS]
    for name in dict.fromkeys(name for words in named for name in names if name in words):
        yield from ({name: rank} for rank in (1, 2))
    for name, rank, other in product(masked, (1, 2), (1, 2)):
        yield {**dict.fromkeys(masked, other), name: Truths(rank)}


def _alike(names: Sequence[str], chosen: set[str]) -> Iterator[dict[str, int]]:
    """Dimensions for those arguments alone that are ``chosen``, the same for all of them."""
    found = [name for name in names if name in chosen]
    if found:
        yield from (dict.fromkeys(found, rank) for rank in range(1, _MOST_DIMENSIONS + 1))


def _computed_with(refusal: ExtractionError) -> set[str]:
    """The names that what is refused computes with, those in subscripts aside: ``G`` and ``H`` of ``G[k[i]] @ H``."""
    span = refusal.span
    if span is None or span.line != span.end_line:
        return set()
    text = refusal.text.splitlines()[span.line - 1][span.column - 1 : span.end_column - 1]
    try:
        waiting: list[ast.AST] = [ast.parse(text, mode="eval")]
    except SyntaxError:
        return set()
    found = set()
    while waiting:
        part = waiting.pop()
        found |= {part.id} if isinstance(part, ast.Name) else set()
        waiting += [part.value] if isinstance(part, ast.Subscript) else ast.iter_child_nodes(part)
    return found


def _words(refusal: ExtractionError) -> set[str]:
    """The words of the lines where something is refused."""
    span = refusal.span
    lines = [] if span is None else refusal.text.splitlines()[span.line - 1 : span.end_line]
    return {word for line in lines for word in re.findall(r"\w+", line)}


def _behind(text: str, words: set[str]) -> set[str]:
    """``words``, and those of the lines that give names among them a value.

    >>> sorted(_behind("d = x[i] - y\\ne = d * 2\\nf = z", {"e"}))
    ['2', 'd', 'e', 'i', 'x', 'y']
    """
    given = [(re.split(r"[-+*/@]?=(?!=)", line, maxsplit=1)[0], line) for line in text.splitlines() if "=" in line]
    lines = [({*re.findall(r"(?:^|,)\s*(\w+)", target)}, {*re.findall(r"\w+", line)}) for target, line in given]
    found = set(words)
    while more := {word for targets, inside in lines if targets & found for word in inside} - found:
        found |= more
    return found
