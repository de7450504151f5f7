"""The real device, where there is one; elsewhere the reason why not, and that its checks need little."""

from __future__ import annotations

import subprocess
import sys

import pytest

import polyviz as pv
from polyviz.gallery import kernels
from polyviz.runtime.cuda import cuda_availability
from tests.gpu_checks import checks

CHECKS = dict(checks())


@pytest.mark.gpu
@pytest.mark.parametrize("name", CHECKS)
def test_on_the_device(name):
    CHECKS[name]()


def test_without_a_device_the_target_says_why():
    available, reason = cuda_availability()
    if available:
        pytest.skip("there is a device")
    assert pv.targets()["cuda"].available is False
    assert "emulated" in reason or "pip install" in reason
    with pytest.raises(pv.PolyvizError, match="'cuda' cannot run here"):
        pv.compile(next(iter(kernels())).function, target="cuda")


ONLY = """
import sys
from importlib.abc import MetaPathFinder
from itertools import chain

ABSENT = ("pytest", "hypothesis", "numba", "llvmlite", "IPython", "ipywidgets", "anywidget", "traitlets", "plotly",
          "highspy", "platformdirs", "jupyterlab", "scipy", "sklearn", "optuna", "dask")

class Bare(MetaPathFinder):
    def __init__(self, others):
        self.others = others

    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in ABSENT:
            return None
        return next(filter(None, (one.find_spec(name, path, target) for one in self.others)), None)

    def find_distributions(self, *context):
        return chain.from_iterable(
            one.find_distributions(*context) for one in self.others if hasattr(one, "find_distributions")
        )

sys.meta_path[:] = [Bare([*sys.meta_path])]
import numpy as np
import polyviz as pv
from tests.gpu_checks import CHECKS, KERNELS, SCHEDULES, checks
from polyviz.gallery import kernel
assert len(dict(checks())) == 2 * len(KERNELS) + len(CHECKS)
for schedule in SCHEDULES:
    made = pv.compile(kernel("gemm").function, schedule=schedule, target="emulated")
    arguments = kernel("gemm").arguments("mini")
    made(*arguments)
    print(made.program.device.kernels[0].name)
"""


@pytest.mark.slow
def test_the_checks_need_islpy_and_numpy_only(cache_directory):
    run = subprocess.run([sys.executable, "-c", ONLY], capture_output=True, text=True, check=False, cwd=".")
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["kernel_gemm_0", "kernel_gemm_0"]
