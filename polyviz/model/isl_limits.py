"""Bounded work of isl: its algorithms are exponential, so a solve gets a number of basic operations and may fail.

Operations are counted by isl itself, so what fits and what does not is the same on every machine. A million of them
take about a second.
"""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import islpy as isl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Result = TypeVar("Result")
Relation = TypeVar("Relation", isl.Map, isl.Set, isl.UnionMap, isl.UnionSet)

SMALL = 100_000
"""Operations for a question that is nearly always easy."""
_USUAL = 300_000
"""Operations that most programs get along with."""
_LONGEST = 2.0
"""Seconds: a million operations take less than half of one, but where numbers have grown."""
_AS_FAST = 1.25
"""How much longer an operation may take than in the try before, where its numbers have not grown."""
_FIRST_TRY = 100
_AFTER_FAILURES = 4
_ALWAYS = 20_000


class LimitError(isl.Error):
    """isl has used up the operations that it was given; the question itself may have an answer."""


@contextmanager
def at_most(operations: int) -> Iterator[None]:
    """Let isl raise LimitError when the body needs more than ``operations``; the limit before comes back afterwards.

    A limit inside a limit replaces it for that time; the outer one then counts from zero.
    Where the limit strikes while islpy turns an argument into what isl wants, it says that the type is wrong.
    """
    context = isl.DEFAULT_CONTEXT
    before = context.get_max_operations()
    context.set_max_operations(operations)
    context.reset_operations()
    try:
        yield
    except (isl.Error, TypeError) as error:
        if is_spent():
            raise LimitError(f"more than {operations} operations are needed") from error
        raise
    finally:
        context.set_max_operations(before)
        context.reset_operations()


def step_by_step(compute: Callable[[], Result], operations: int) -> Result:
    """What ``compute`` gives with at most so many operations, tried with fewer of them first.

    isl counts what it allocates, and not how long it works in between: its numbers can grow until one operation takes
    as long as thousands, and nothing stops it before the next. Where fewer operations took ``_LONGEST`` seconds of this
    processor in one try, no more are tried; the next try gets four times as many where they took far less, else a
    third more. Where operations get no slower from one try to the next, and all of them would not take that long
    either, the next try gets them all. Raises LimitError.

    >>> step_by_step(lambda: isl.Set("{ [i] : 0 <= i < 9 }").count_val().to_python(), 1_000_000)
    9
    """
    allowed, before = min(_USUAL, operations), 0.0
    while True:
        began = time.thread_time()
        try:
            with at_most(allowed):
                return compute()
        except LimitError:
            took = time.thread_time() - began
            if allowed == operations or took > _LONGEST:
                raise
        each = took / allowed
        if each < before * _AS_FAST and each * operations < _LONGEST:
            allowed = operations
        else:
            allowed = min(allowed * 4 if took < _LONGEST / 4 else allowed * 4 // 3, operations)
        before = each


def is_spent() -> bool:
    """Whether the limit in force is used up, so that isl refuses whatever it is asked for.

    Its messages do not tell: where a limit strikes while isl reads a text, it speaks of the syntax.

    >>> with at_most(1):
    ...     is_spent(), is_spent()
    (False, True)
    """
    try:
        isl.Val(0)  # every allocation is an operation
    except isl.Error:
        return True
    return False


def cause_of(error: isl.Error) -> str:
    """What isl says went wrong, without the places in its own source.

    >>> cause_of(isl.Error("call to isl_set_dim_max failed: unbounded optimum in /project/isl/isl_tab_pip.c:743"))
    'unbounded optimum in isl_set_dim_max'
    """
    found = re.fullmatch(r"call to (\w+) failed: (.*) in \S+:\d+", str(error).strip())
    return f"{found[2]} in {found[1]}" if found else str(error)


def solved(compute: Callable[[], Result], operations: int = SMALL) -> Result | None:
    """What ``compute`` returns; None when isl fails or needs more than ``operations``.

    >>> numbers = isl.Set("{ [i, j] : 0 <= i <= j <= 10 }")
    >>> print(solved(numbers.lexmax))
    { [i = 10, j = 10] }
    >>> print(solved(numbers.lexmax, 1))
    None
    """
    with at_most(operations):
        try:
            return compute()
        except isl.Error:
            return None


def _measured(compute: Callable[[], Result], limits: Sequence[int]) -> tuple[Result | None, int]:
    """What ``compute`` returns within the largest of the growing ``limits``, and how many of them it takes for that.

    >>> _measured(isl.Set("{ [i, j] : 0 <= i <= j <= 10 }").lexmax, [10, 100, 1_000, 10_000])[1]
    3
    """
    with at_most(limits[-1]):
        try:
            result = compute()
        except isl.Error:
            return None, len(limits)
        return result, next((place for place, limit in enumerate(limits, 1) if _sufficed(limit)), len(limits))


def _sufficed(operations: int) -> bool:
    """Whether no more than ``operations`` were needed since the limit in force was set.

    isl tells nobody how many there were, only whether another one is too many.
    """
    isl.DEFAULT_CONTEXT.set_max_operations(operations + 1)
    return not is_spent()


def with_known_quotients(relation: Relation) -> Relation:
    """``relation`` with all its integer divisions computed, however many operations that takes (few, nearly always).

    What is subtracted needs them, and isl ends the process where a limit strikes while it looks for them.

    >>> print(with_known_quotients(isl.Set("{ [i] : exists (k : i = 3k) }")))
    { [i] : (i) mod 3 = 0 }
    """
    context = isl.DEFAULT_CONTEXT
    limit = context.get_max_operations()
    context.set_max_operations(0)
    try:
        return relation.compute_divs()
    finally:
        context.set_max_operations(limit)


def coalesced(relation: Relation) -> Relation:
    """``relation`` in fewer pieces when that is cheap to find, else as it is.

    >>> print(coalesced(isl.Set("{ [0]; [1]; [2] }")))
    { [i0] : 0 <= i0 <= 2 }
    """
    found = solved(relation.coalesce)
    return relation if found is None else found


@dataclass(slots=True)
class Allowance:
    """The operations that a computation of many steps may still spend; the one mutable value of the model.

    What a step took is rounded up to the limits that it would have been tried with, growing ones from small to large:
    the sum of those that are too small and of the one that suffices is what is spent.

    >>> allowance = Allowance(10_000)
    >>> print(allowance.solve(isl.Set("{ [i, j] : 0 <= i <= j <= 10 }").lexmax, 2_000))
    { [i = 10, j = 10] }
    >>> allowance.operations
    9500
    """

    operations: int
    failures: int = field(default=0, init=False)
    """How many steps needed more than they were allowed."""

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self.operations <= 0

    def solve(self, compute: Callable[[], Result], most: int) -> Result | None:
        """What ``compute`` returns; None when it needs more than ``most`` operations, or more than are left.

        Where several steps failed, those that follow are much the same: they get less.
        """
        limits = self._limits(most if self.failures < _AFTER_FAILURES else min(most, _ALWAYS))
        result, tried = _measured(compute, limits) if limits else (None, 0)
        self.operations -= sum(limits[:tried])
        self.failures += result is None
        return result

    def _limits(self, most: int) -> list[int]:
        """The growing limits up to ``most`` for which something is left."""
        limits: list[int] = []
        while self.operations > sum(limits) and (not limits or limits[-1] < most):
            limits.append(min(4 * limits[-1] if limits else _FIRST_TRY, most))
        return limits

    def attempt(self, compute: Callable[[], Result], most: int) -> Result | None:
        """What ``compute`` returns in one try, None when it needs more than ``most``; only a failure is charged.

        Near the end of the allowance the try gets less than ``most``, but always enough for what is easy.
        """
        limit = min(most, max(self.operations, _ALWAYS))
        result = solved(compute, limit)
        if result is None:
            self.operations -= limit
        return result
