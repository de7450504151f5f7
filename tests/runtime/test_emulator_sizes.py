"""The emulator and arrays that are large: 64-bit subscripts, and memory that is not there."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import polyviz as pv

PROGRAM = """
import resource

import numpy as np

import polyviz as pv


def corner(A, m):
    for i in range(m):
        A[i] += 1


kernel = pv.compile(corner, schedule="isl", target="emulated")
kernel(np.zeros(10, np.int8), 3)
with open("/proc/self/statm") as sizes:
    used = int(sizes.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**30, used + 2**30))
array = np.zeros(100_000_000, np.int8)
try:
    kernel(array, 3)
except pv.PolyvizError as error:
    print(error)
print(array[:4])
"""


def corner(A, m):
    n = A.shape[0]
    for i in range(n - m, n):
        for j in range(n - 40, n):
            A[i, j] += A[i - 1, j] + 1


@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["isl", "superposition"])
def test_the_last_cells_of_an_array_beyond_32_bits(schedule):
    extent = 46_400
    assert extent**2 > 2**31
    array = np.zeros((extent, extent), np.int8)
    pv.compile(corner, schedule=schedule, target="emulated")(array, 4)
    expected = np.repeat(np.arange(5, dtype=np.int8), 40).reshape(5, 40)
    np.testing.assert_array_equal(array[-5:, -40:], expected)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux' table of this process")
def test_memory_that_is_not_there_is_said_and_nothing_changes(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(PROGRAM))
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert "There is no memory to watch the 100,000,000 cells of array A." in done.stdout
    assert "[0 0 0 0]" in done.stdout
