"""NumPy and the BLAS below it, where its calls do the job."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from polyviz.api.targets import Availability
from polyviz.benchmark.peers.formulas import NUMPY, SCIPY
from polyviz.benchmark.peers.protocol import Candidate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.benchmark.session import Call
    from polyviz.benchmark.subject import Subject


@dataclass(frozen=True, slots=True)
class NamedFormula:
    """The formula for a kernel, found by name in the worker."""

    kernel: str

    def prepare(self, example: Mapping[str, Any], _parameters: Mapping[str, int]) -> Call:
        """Run the example, which loads the library."""
        function = {**NUMPY, **SCIPY}[self.kernel]
        function(*example.values())
        return lambda values, _: function(*values.values())


class Blas:
    """What a user who thinks in matrices would write."""

    name = "NumPy/BLAS"

    def available(self) -> Availability:
        """NumPy is always there; the versions of it and of its BLAS."""
        build: Any = np.show_config(mode="dicts")
        library = build["Build Dependencies"]["blas"]
        return Availability(True, f"NumPy {np.__version__}, {library['name']} {library['version']}")

    def candidates(self, subject: Subject) -> tuple[Candidate, ...]:
        """The formula, where there is one for this kernel and dtype."""
        kernel = subject.data.kernel
        if kernel in NUMPY:
            return (Candidate(self.name, "NumPy", NamedFormula(kernel)),)
        if kernel not in SCIPY:
            return (Candidate(self.name, "", None, "no call of NumPy or BLAS does this loop"),)
        if find_spec("scipy") is None:
            return (Candidate(self.name, "", None, "this call needs SciPy's BLAS"),)
        return (Candidate(self.name, "SciPy's BLAS", NamedFormula(kernel)),)
