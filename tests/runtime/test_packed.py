"""A compiled function finds the values of a call in one block, each as the type it has in C."""

from __future__ import annotations

import ctypes
import threading

import pytest

from polyviz.model.program import Program, ProgramArgument
from polyviz.runtime.arguments import native_type
from polyviz.runtime.execute import NativeRunner
from polyviz.runtime.packed import Blocks
from polyviz.runtime.toolchain import find_toolchain

VALUES = {
    "int8": (-7, "int8_t"),
    "int16": (-300, "int16_t"),
    "int32": (-70_000, "int32_t"),
    "int64": (-(2**40), "int64_t"),
    "uint8": (200, "uint8_t"),
    "uint16": (60_000, "uint16_t"),
    "uint32": (2**32 - 1, "uint32_t"),
    "uint64": (2**63 + 5, "uint64_t"),
    "bool": (1, "uint8_t"),
    "float32": (-0.375, "float"),
    "float64": (1e-300, "double"),
}


@pytest.mark.skipif(find_toolchain() is None, reason="no C compiler")
def test_every_type_comes_as_it_is() -> None:
    arguments = tuple(ProgramArgument("scalar", f"given_{dtype}", dtype) for dtype in VALUES)
    parameters = ", ".join(f"{kind} given_{dtype}" for dtype, (_, kind) in VALUES.items())
    tests = "\n".join(
        f"    if (given_{dtype} != ({kind}){number}{'u' if dtype == 'uint64' else ''}) return {place};"
        for place, (dtype, (number, kind)) in enumerate(VALUES.items(), 1)
    )
    text = f"#include <stdint.h>\nint64_t kernel_f({parameters})\n{{\n{tests}\n    return 0;\n}}\n"
    runner = NativeRunner(Program("c", "kernel_f", text, arguments, {}, {}))
    numbers = [number for number, _ in VALUES.values()]
    block = Blocks(numbers, map(native_type, arguments)).taken()
    assert runner.run_packed(block.place) == 0
    for place in range(len(numbers)):
        others = [*numbers[:place], numbers[place] + 1 if place != 10 else 2.0, *numbers[place + 1 :]]
        block = Blocks(others, map(native_type, arguments)).taken()
        assert runner.run_packed(block.place) == place + 1


def test_no_two_calls_share_a_block() -> None:
    blocks = Blocks((1, 2), (ctypes.c_int64, ctypes.c_int64))
    first, second = blocks.taken(), blocks.taken()
    assert first.place != second.place
    first.slots[0] = 7
    assert list(second.slots) == [1, 2]
    blocks.give_back(first)
    assert blocks.taken() is first


def test_threads_get_blocks_of_their_own() -> None:
    blocks, taken, barrier = Blocks((1,), (ctypes.c_int64,)), [], threading.Barrier(8)

    def work() -> None:
        barrier.wait()
        taken.append(blocks.taken())

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len({block.place for block in taken}) == 8
