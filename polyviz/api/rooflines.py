"""What a part has to compute and to move, under the roof of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl
import numpy as np

from polyviz.analysis.traffic import work_of
from polyviz.model.exclusion import exclusive
from polyviz.model.roofline import Roofline
from polyviz.runtime.machine import this_machine
from polyviz.runtime.peaks import known_peaks

if TYPE_CHECKING:
    from polyviz.model.scop import Scop
    from polyviz.runtime.bound import Bound

_SINGLE, _DOUBLE = "float32", "float64"
_FRACTIONS = "fc"


@exclusive
def roofline_of(scop: Scop, bound: Bound) -> Roofline | None:
    """The roofline of ``scop`` for the arguments of a call.

    None where this machine was never measured, where isl cannot count the work, where there is nothing to compute or to
    move, and for whole numbers only, of which no peak is measured.
    """
    peaks = known_peaks()
    if peaks is None:
        return None
    kinds = {name: np.dtype(kind.dtype) for name, kind in bound.types.items()}
    if kinds and not any(kind.kind in _FRACTIONS for kind in kinds.values()):
        return None
    try:
        widths = {name: kind.itemsize for name, kind in kinds.items()}
        work = work_of(scop, bound.parameters, widths, this_machine().line)
    except isl.Error:
        return None
    dtype = _SINGLE if kinds and all(kind == _SINGLE for kind in kinds.values()) else _DOUBLE
    countable = work.operations > 0 and work.traffic > 0 and dtype in peaks.multiply_add
    return Roofline(work, peaks, dtype) if countable else None
