from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from polyviz.benchmark.failures import failed, first_line, refused
from polyviz.errors import CodegenError, PolyvizError, ToolchainError
from polyviz.runtime.worker import CrashError, TimeLimitError
from tests.benchmark.samples import GCC

if TYPE_CHECKING:
    from polyviz.model.measurement import Status


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (TimeLimitError("It ran too long."), "timeout"),
        (CrashError("It crashed."), "crashed"),
        (ToolchainError("It does not compile."), "failed"),
        (ZeroDivisionError("division by zero"), "failed"),
    ],
)
def test_a_failure_has_a_status_and_no_time(error: Exception, status: Status) -> None:
    row = failed(GCC, error)
    assert (row.status, row.verified, row.first_seconds, row.samples) == (status, None, None, ())
    assert row.note == first_line(error)


def test_a_refusal_is_no_failure_but_a_crash_on_the_way_is() -> None:
    assert refused(GCC, CodegenError("C has no such type.")).status == "refused"
    assert refused(GCC, CrashError("It crashed.")).status == "crashed"
    assert refused(GCC, KeyError("x")).status == "failed"


def test_one_line_says_what_and_why() -> None:
    error = PolyvizError("It failed.", reason="no memory\nat line 3", hint="Buy some.")
    assert first_line(error) == "It failed. no memory"
    assert first_line(ValueError()) == "ValueError"
