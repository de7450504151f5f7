"""`import polyviz` is quick: it loads no heavy package, and every public name can still be had."""

from __future__ import annotations

import subprocess
import sys

import pytest

import polyviz

HEAVY = {"anywidget", "cupy", "ipywidgets", "islpy", "jupyterlab", "numba", "numpy", "plotly", "sklearn"}


def loaded_by(statement: str) -> set[str]:
    """The modules that a fresh interpreter has after ``statement`` and had not before."""
    program = f"import sys; before = set(sys.modules)\n{statement}\nprint(*sorted(set(sys.modules) - before))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_import_loads_only_the_package_itself() -> None:
    loaded = loaded_by("import polyviz")
    assert {name for name in loaded if name.split(".")[0] == "polyviz"} == {"polyviz"}
    assert not loaded & HEAVY


def test_an_error_class_loads_no_phase() -> None:
    loaded = loaded_by("import polyviz; polyviz.PolyvizError")
    assert {name for name in loaded if name.startswith("polyviz")} == {"polyviz", "polyviz.errors"}
    assert not loaded & HEAVY


@pytest.mark.slow
def test_the_extension_loads_without_compilers_and_plots() -> None:
    shell = "from IPython.core.interactiveshell import InteractiveShell; shell = InteractiveShell()"
    loaded = loaded_by(f"{shell}; import polyviz; polyviz.load_ipython_extension(shell)")
    assert "polyviz.notebook" in loaded
    assert not loaded & (HEAVY - {"islpy", "numpy"})


@pytest.mark.parametrize("name", polyviz.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(polyviz, name) is not None
    assert name in dir(polyviz)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'polyviz' has no attribute 'shedule'"):
        _ = polyviz.shedule


def test_the_gallery_is_found_behind_the_package() -> None:
    import polyviz as pv

    assert pv.gallery.kernel("lu").name == "lu"
    assert {"gallery", "exercises"} <= set(dir(pv))
