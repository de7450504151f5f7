"""What the emulator needs beside the kernels: one C function that calls each of them with values from slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.codegen.typing import C_TYPE_NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from polyviz.model.device_program import KernelText
    from polyviz.model.program import ProgramArgument

EMULATE = "emulate"
"""The function's name. Its arguments: kernel, grid, block (three numbers each), slots (8 bytes each), seed."""


def entry_point(kernels: Sequence[KernelText], stored: Sequence[str]) -> str:
    """The text of the function; ``stored`` are the arrays in the order of the emulator's table."""
    cases = []
    for number, kernel in enumerate(kernels):
        values = ", ".join(_value(one, slot, stored) for slot, one in enumerate(kernel.arguments))
        barriers = int(bool(kernel.barriers))
        call = f"launch({number}, grid, block, seed, {barriers}, [=] {{ {kernel.name}({values}); }})"
        cases.append(f"    case {number}:\n        return {call};\n")
    header = (
        f'\nextern "C" int64_t {EMULATE}(int64_t kernel, const int64_t *grid, const int64_t *block, '
        "const int64_t *slots, int64_t seed)\n"
    )
    return f"{header}{{\n    switch (kernel) {{\n{''.join(cases)}    }}\n    return 1;\n}}\n"


def _value(argument: ProgramArgument, slot: int, stored: Sequence[str]) -> str:
    kind = C_TYPE_NAMES[argument.dtype]
    if argument.kind in ("array", "cell"):
        return f"Global<{kind}>({stored.index(argument.name)})"
    return f"slot<{kind}>(slots[{slot}])"
