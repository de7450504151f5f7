"""CUDA text: golden kernels, and what makes them right."""

from __future__ import annotations

import re

import pytest

import polyviz as pv
from polyviz.gallery import kernels
from polyviz.model.device_program import HostLoop
from polyviz.model.expression import Name
from polyviz.model.program import ArrayType


def function_of(name):
    return next(entry.function for entry in kernels() if entry.name == name)


def compiled(name, schedule="superposition", **options):
    return pv.compile(function_of(name), schedule=schedule, target="emulated", **options)


@pytest.mark.parametrize("name", ["jacobi-2d-alt", "doitgen-expanded", "gemm", "gesummv"])
def test_superposed_kernels(name, golden):
    golden(compiled(name).source, "cu")


def test_one_order_for_blocks_and_threads(golden):
    golden(compiled("doitgen-expanded", "isl").source, "cu")


def test_the_host_runs_the_time_loop():
    kernel = compiled("jacobi-2d")
    loops = [kernel.program.device.host.then]
    assert isinstance(loops[0], HostLoop)
    assert loops[0].stop == Name("tsteps")
    assert [launch.kernel for launch in loops[0].body.steps] == [0, 1]


def bare(text):
    """The kernels without comments, subscripts, accessors, and the types by which accesses are watched."""
    kernels = text.partition("// Kernel 0")[2].partition('\nextern "C" int64_t emulate')[0]
    kernels = re.sub(r"//.*|\.raw\(\)|__align__\(16\) ", "", kernels)
    kernels = re.sub(r"(?:const )?(\w+) \*__restrict__ (\w+)", r"Global<\1> \2", kernels)
    kernels = re.sub(r"Shared<(\w+)(?:, \d+)*>", r"\1", kernels)
    for accessor in (r"\.when\(", r"\.of\(", r"\.at<\d+>\("):
        kernels = without(kernels, accessor, "()")
    return without(kernels, r"\[", "[]")


def without(text, begin, brackets):
    """``text`` without everything from what matches ``begin`` to the bracket that closes it."""
    kept = ""
    while found := re.search(begin, text):
        kept, end, depth = kept + text[: found.start()], found.end(), 1
        while depth:
            depth += {brackets[0]: 1, brackets[1]: -1}.get(text[end], 0)
            end += 1
        text = text[end:]
    return kept + text


@pytest.mark.thinned(4)
@pytest.mark.parametrize("name", ["jacobi-2d-alt", "gemm", "gesummv", "symm", "doitgen", "spmv-guarded"])
@pytest.mark.parametrize("schedule", ["superposition", "isl"])
def test_an_instrumented_text_differs_by_accessors_only(name, schedule):
    program = compiled(name, schedule).program
    assert ".at<" in program.device.instrumented
    assert bare(program.device.instrumented).splitlines() == bare(program.text).splitlines()


def test_lines_lead_back_to_statements():
    program = compiled("jacobi-2d-alt").program
    lines = program.text.splitlines()
    found = {origin.statement: lines[line - 1].strip() for line, origin in program.lines.items()}
    assert found["S0"].startswith("B[i * B_extent1 + j] = factor")
    assert found["S1"].startswith("A[i * A_extent1 + j] = B[")


def test_complex_numbers_are_a_type_of_the_text():
    types = {"values": ArrayType("complex64", 1, "C")}

    def double(values):
        for i in range(values.shape[0]):
            values[i] = values[i] * 2.0

    text = pv.compile(double, schedule="isl", target="emulated").specialise(types).text
    assert "Complex<float> *__restrict__ values" in text
    assert "_Complex" not in text


def test_a_subscript_known_only_at_run_time_is_tested():
    def gather(x, place, y):
        for i in range(y.shape[0]):
            y[i] = x[place[i]]

    program = pv.compile(gather, schedule="isl", target="emulated").program
    assert "checked_index(" in program.text
    assert program.device.failure in program.device.arrays
    assert [one.clause for one in program.failures] == ["a subscript of x is out of range (line 3)"]


def test_a_choice_in_the_last_subscript_stays_in_one_piece():
    def corner(A, B, m):
        for i in range(A.shape[0] - 1):
            if i >= m - 2 and 3 * i <= m and i % 3 != 2:  # which leaves one i, the larger one of 0 and m - 2
                A[i, i] = 7 * A[i + 1, i] + B[i]

    place = "((int64_t)m <= 1 ? 0 : (int64_t)m - 2)"
    text = pv.compile(corner, schedule="isl", target="emulated").program.text
    assert f"    A[{place} * A_extent1 + {place}] = 7 * A[({place} + 1) * A_extent1 + {place}] + B[" in text


def test_pieces_of_sixteen_bytes_are_copied_where_addresses_allow_it():
    one_cell = {"elements": (1, 1)}
    assert "copy_later<2>(&A_tile" in compiled("gemm", device=one_cell).source
    plain = compiled("gemm", device={**one_cell, "vectors": False}).source
    assert "copy_later<" not in plain.partition("// Kernel 0")[2]


def test_the_next_tile_is_copied_while_this_one_is_used():
    ahead, plain = compiled("gemm").source, compiled("gemm", device={"prefetch": False}).source
    assert "A_tile[2][8][130]" in ahead
    assert "A_tile[8][130]" in plain
    assert ahead.partition("// Kernel 0")[2].count("__syncthreads()") == 1
    assert plain.partition("// Kernel 0")[2].count("__syncthreads()") == 2


def test_rows_of_a_tile_are_longer_where_banks_would_meet():
    assert "A_tile_1[2][256][9]" in compiled("mvt", "isl").source
    assert "A_tile_1[2][256][8]" in compiled("mvt", "isl", device={"padding": False}).source


def test_a_card_says_who_does_what_and_how_accesses_meet_memory(golden):
    (card,) = compiled("doitgen-expanded").cards
    golden(card.text())
    value = card.value()
    assert value["block"] == (32, 4, 4)
    assert value["accesses"][0]["kind"] == "contiguous"


def test_the_card_of_a_tiled_product_lists_its_tiles():
    (card,) = compiled("gemm").cards
    assert [(one.array, one.place, one.bytes) for one in card.promotions] == [
        ("A", "shared", 16640),
        ("B", "shared", 8192),
        ("C", "register", 256),
        ("C", "global", 0),
    ]
    costs = "a copy would cost 512 transactions per tile, reading costs 512"
    assert card.promotions[3].reason == f"S0: {costs} (cells counted as 8 bytes)"
    assert "64 operations on 96 bytes of shared memory" in card.promotions[2].reason
