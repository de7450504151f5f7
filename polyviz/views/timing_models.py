"""JSON view models of what was timed: comparisons with their roofline, and searches for better options."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from polyviz.views.fit import fit
from polyviz.views.roofline_chart import comparison_notes
from polyviz.views.schema import VERSION, ComparisonModel, TuningModel
from polyviz.views.tuning import outcome, title
from polyviz.views.verdict import verdict

if TYPE_CHECKING:
    from polyviz.model.measurement import ComparisonData, VariantRow
    from polyviz.model.roofline import Roofline
    from polyviz.model.tuning import Trial, Tuning
    from polyviz.views.models import Json
    from polyviz.views.timing_schema import RooflineModel, RowModel, TrialModel


def comparison_model(data: ComparisonData) -> Json:
    """All rows with their samples, and the verdict."""
    model: ComparisonModel = {
        "v": VERSION,
        "kind": "comparison",
        "shortened": [],
        "name": data.name,
        "rows": [_row(row) for row in data.rows],
        "baseline": data.baseline,
        "best": data.best,
        "verdict": verdict(data),
        "machine": data.machine,
        "sizes": dict(data.sizes),
        "notes": comparison_notes(data),
        "roofline": None if data.roofline is None else _roofline(data.roofline),
    }
    return fit(cast("Json", model))


def _roofline(roof: Roofline) -> RooflineModel:
    return {
        "operations": roof.work.operations,
        "bytes": roof.work.traffic,
        "peak": roof.peak,
        "memory": roof.peaks.copy,
        "cache": roof.peaks.cached_copy,
        "limit": roof.limit.seconds,
        "bottleneck": roof.limit.bottleneck,
        "dtype": roof.dtype,
        "threads": roof.peaks.threads,
    }


def _row(row: VariantRow) -> RowModel:
    return {
        "label": row.label,
        "schedule": row.schedule,
        "target": row.target,
        "status": row.status,
        "verified": row.verified,
        "median": _finite(row.median),
        "interval": _pair(row.interval),
        "speedup": _finite(row.speedup),
        "speedup_interval": _pair(row.speedup_interval),
        "compile_seconds": _finite(row.compile_seconds),
        "kernels": _finite(row.measurement.kernels) if row.measurement else None,
        "samples": []
        if row.measurement is None
        else [value for value in row.measurement.samples if math.isfinite(value)],
        "note": row.note,
        "source": row.source,
        "is_baseline": row.is_baseline,
    }


def _finite(value: float | None) -> float | None:
    """JSON has no infinity and no NaN."""
    return value if value is not None and math.isfinite(value) else None


def _pair(interval: tuple[float, float] | None) -> list[float] | None:
    return list(interval) if interval is not None and all(map(math.isfinite, interval)) else None


def tuning_model(tuning: Tuning) -> Json:
    """Every trial of a search in the order in which they were made."""
    model: TuningModel = {
        "v": VERSION,
        "kind": "tuning",
        "shortened": [],
        "name": tuning.name,
        "title": title(tuning),
        "outcome": outcome(tuning),
        "trials": [_trial(trial, tuning) for trial in tuning.trials],
        "notes": list(tuning.notes),
    }
    return fit(cast("Json", model))


def _trial(trial: Trial, tuning: Tuning) -> TrialModel:
    return {
        "name": trial.name,
        "status": trial.status,
        "verified": trial.verified,
        "median": _finite(trial.seconds),
        "speedup": _finite(trial.speedup),
        "elapsed": trial.elapsed,
        "note": trial.note,
        "best": trial is tuning.best,
    }
