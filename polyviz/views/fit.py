"""Keeps JSON models small: the heaviest lists and texts are cut, and the model says which and by how much."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT = 200_000
# Room for the record of what was cut.
_TARGET = 170_000
_SHORT_TEXT = 400
_FEW_RECORDS = 200
# A point less is missed less than a line of source, and that less than a whole entry.
_NUMBERS, _TEXT, _ENTRIES = 4.0, 2.0, 1.0
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """Something that can be cut: where it hangs, and its bytes times how lightly it is given up."""

    path: Path
    holder: Any
    key: str | int
    weight: float


def size(model: object) -> int:
    """Bytes of ``model`` as JSON in its longest encoding."""
    return len(json.dumps(model))


def fit(model: dict[str, Any], target: int = _TARGET) -> dict[str, Any]:
    """``model`` with less in it, if need be, so that it stays below ``LIMIT`` bytes; the argument is left alone.

    Lists of numbers are thinned evenly; texts and other lists lose their end. ``shortened`` names each of them with
    its full length. Should nothing help, a model of kind ``omitted`` stands in for it.

    >>> small = fit({"v": 1, "kind": "x", "shortened": [], "points": [[i, i] for i in range(40_000)]})
    >>> size(small) < LIMIT, small["shortened"][0]["path"], small["shortened"][0]["total"]
    (True, 'points', 40000)
    """
    if size(model) <= target:
        return model
    small = json.loads(json.dumps(model))
    totals: dict[Path, int] = {}
    while size(small) > target:
        parts: list[_Part] = []
        _collect(small, (), parts)
        if not parts:
            break
        heavy = max(part.weight for part in parts) / 2
        for part in parts:
            if part.weight >= heavy:
                totals.setdefault(part.path, len(part.holder[part.key]))
                part.holder[part.key] = _halved(part.holder[part.key])
    small["shortened"] = [*small.get("shortened", ()), *_records(small, totals)][:_FEW_RECORDS]
    return small if size(small) < LIMIT else omitted(model)


def omitted(model: dict[str, Any]) -> dict[str, Any]:
    """What stands in for a model that cannot be made small enough."""
    record = {"path": "", "total": size(model), "kept": 0}
    return {"v": model["v"], "kind": "omitted", "shortened": [record], "of": model["kind"]}


def _collect(value: Any, path: Path, parts: list[_Part]) -> int:
    """Adds what can be cut below ``value``; returns the bytes that are in none of the added parts."""
    entries: Iterator[tuple[Any, Any]] = iter(value.items() if isinstance(value, dict) else enumerate(value))
    own = 2
    for key, child in entries:
        place = (*path, key)
        own += len(str(key)) + 4 if isinstance(value, dict) else 2
        if isinstance(child, str) and len(child) > _SHORT_TEXT:
            parts.append(_Part(place, value, key, _TEXT * size(child)))
        elif _is_numbers(child):
            parts.append(_Part(place, value, key, _NUMBERS * size(child)))
        elif isinstance(child, list | dict) and key != "shortened":
            below = _collect(child, place, parts)
            if isinstance(child, list) and child:
                parts.append(_Part(place, value, key, _ENTRIES * below))
            else:
                own += below
        else:
            own += size(child)
    return own


def _is_numbers(value: Any) -> bool:
    """Several numbers, or several short lists of numbers such as points."""
    if not isinstance(value, list) or len(value) < 2:
        return False
    flat = (item for entry in value for item in (entry if isinstance(entry, list) else [entry]))
    return all(isinstance(item, int | float) for item in flat)


def _halved(value: Any) -> Any:
    return value[::2] if _is_numbers(value) else value[: len(value) // 2]


def _records(model: dict[str, Any], totals: dict[Path, int]) -> Iterator[dict[str, Any]]:
    for path, total in totals.items():
        found = _at(model, path)
        if found is not None:
            yield {"path": ".".join(map(str, path))[:_SHORT_TEXT], "total": total, "kept": len(found)}


def _at(model: Any, path: Path) -> Any:
    """What stands at ``path``; None when a list around it has lost that entry."""
    for step in path:
        if isinstance(model, list) and isinstance(step, int):
            model = model[step] if step < len(model) else None
        elif isinstance(model, dict):
            model = model.get(step)
        else:
            return None
    return model
