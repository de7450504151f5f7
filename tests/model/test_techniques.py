"""One table of techniques, from which every place that can switch them off is made."""

from __future__ import annotations

import inspect
from dataclasses import fields

import pytest

from polyviz.api.options import read_options
from polyviz.errors import OptionError
from polyviz.mapping import cpu
from polyviz.model.staging import DeviceOptions
from polyviz.model.techniques import switched_off, switches, techniques, techniques_for
from polyviz.notebook.words import OPTIONS


def test_every_switch_of_the_mapping_is_a_technique_and_the_other_way_round() -> None:
    parameters = inspect.signature(cpu.make_plan).parameters.values()
    # Decided around the mapping of loops.
    before = {"extremes", "reroll", "substitute", "join_strips", "quotients"}
    before |= {"known_sizes", "delinearise", "small_arrays", "private_arrays", "group", "simd"}
    assert {one.name for one in parameters if one.default is True} | before == set(switches())


def test_what_kernels_of_a_device_may_do_is_a_technique_and_the_rest_are_sizes() -> None:
    sizes = {"depth", "shared_bytes", "threads"}
    assert {one.name for one in fields(DeviceOptions)} - sizes == set(techniques_for(device=True))
    off = read_options(switched_off(techniques_for(device=True))).device
    assert off == DeviceOptions(
        stage=False, elements=(1, 1), prefetch=False, padding=False, vectors=False, trees=False
    )


def test_the_help_of_the_magic_names_every_technique() -> None:
    assert all(
        f"{name} ({meaning})" in OPTIONS["--without"]["help"] for name, meaning in techniques().items()
    )


def test_keywords_switch_techniques_off() -> None:
    assert switched_off(techniques()) == {
        "tile": False,
        "register_tile": False,
        "pack": False,
        "even_blocks": False,
        "known_sizes": False,
        "delinearise": False,
        "group": False,
        "extremes": False,
        "substitute": False,
        "reroll": False,
        "join_strips": False,
        "quotients": False,
        "small_arrays": False,
        "private_arrays": False,
        "fuse_passes": False,
        "strips": False,
        "array_sums": False,
        "accumulate": False,
        "late": False,
        "once_more": False,
        "rows_ahead": False,
        "interleave": False,
        "lift": False,
        "outer_vectors": False,
        "periodic": False,
        "select": False,
        "versions": False,
        "factor": False,
        "reciprocal": False,
        "row_blocks": False,
        "panels": False,
        "jam": False,
        "collapse": False,
        "align": False,
        "pipeline": False,
        "simd": False,
        "threads": 1,
        "tuned": False,
        "stage": False,
        "elements": (1, 1),
        "prefetch": False,
        "padding": False,
        "vectors": False,
        "trees": False,
    }


def test_an_unknown_technique_is_one_line_with_the_nearest_name() -> None:
    with pytest.raises(OptionError) as caught:
        switched_off(["register-tiles"])
    assert str(caught.value) == "Unknown technique 'register-tiles' (did you mean `register_tile`?)."
