"""Everything known about the loops of a function in a file, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.analysis import dependences as find_dependences
from polyviz.analysis import parallelism
from polyviz.api.building import build_kernel
from polyviz.api.extracting import extract
from polyviz.commands.terminal import fitted
from polyviz.scheduling import schedule as find_schedule
from polyviz.views import text
from polyviz.views.bundles import dependences_bundle

if TYPE_CHECKING:
    from collections.abc import Mapping


def explain(
    source: str,
    schedule: str = "pluto",
    target: str = "auto",
    *,
    code: bool = False,
    sizes: Mapping[str, int] | None = None,
) -> str:
    """The explanation of the function in the text ``source``; ``code`` adds the program for ``target``.

    ``sizes`` tells values of parameters to schedulers that choose by them. Raises ExtractionError for loops that cannot
    be handled.
    """
    scop = extract(source)
    found = find_dependences(scop)
    chosen = find_schedule(scop, schedule, dependences=found, sizes=sizes)
    parts = [
        text.scop_text(scop),
        dependences_bundle(found, scop, drawn=False)["text/plain"],
        "As written. " + text.parallelism_text(parallelism(scop, found, scop.schedule)),
        text.schedule_text(chosen),
    ]
    parts = [fitted(part) for part in parts]
    if code:
        kernel = build_kernel(scop, found, source, schedule=chosen, target=target)
        parts.append(f"Program for {kernel.target}\n{kernel.source}".rstrip())
    return "\n\n".join(parts)
