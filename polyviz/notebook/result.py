"""What a ``%%polyopt`` cell gives back: everything that was found out and done, and the forms it is shown in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from polyviz.api.targets import SECOND_CHOICE
from polyviz.errors import PolyvizError
from polyviz.model.words import listed_notes
from polyviz.runtime.residency import device
from polyviz.views import text
from polyviz.views.bundles import (
    Section,
    bundle,
    combine,
    comparison_bundle,
    dependences_bundle,
    device_bundle,
    listing_bundle,
    note_bundle,
    parallelism_bundle,
    program_bundle,
    schedule_bundle,
    scop_bundle,
    transfers_bundle,
    tuning_bundle,
)
from polyviz.views.comparison_text import comparison_text
from polyviz.views.device import summary_lines
from polyviz.views.html import items, paragraph
from polyviz.views.nodes import read_tree
from polyviz.views.schema import MIME
from polyviz.views.tables import seconds
from polyviz.views.transfers import size_text
from polyviz.views.tree import tree_html, tree_text
from polyviz.views.tuning import tuning_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.api import Comparison
    from polyviz.errors import OverlapError
    from polyviz.model.dependences import Dependences, LoopParallelism
    from polyviz.model.display import Bundle
    from polyviz.model.measurement import VariantRow
    from polyviz.model.scop import Scop
    from polyviz.model.tuning import Tuning
    from polyviz.notebook.choice import Choice
    from polyviz.notebook.options import Show
    from polyviz.runtime.kernel import Kernel

MORE = "More: --show source, --show schedule or --show tree; --compare for times; or look at the parts of this result."
ALONG_WAVEFRONTS = (
    "No loop is parallel as written. The program runs on several threads all the same: it cuts the loops into tiles, "
    "and those that need nothing of each other, along a wavefront, run at the same time."
)
_NOT_AS_WRITTEN = "No loop is parallel as written. All the same, "
_LOOPS, _LOOPS_APART = "Loops", "Loops, for arrays that do not overlap"


@dataclass(frozen=True, slots=True)
class Part:
    """One loop nest of the cell.

    ``loops`` judges the loops as written. ``row`` is the outcome of the verification, None when there was none;
    ``choice`` says why this kernel was taken from ``comparison``; ``seconds`` is how long it ran in place, None for a
    function, which runs when it is called; ``tuning`` is the search for better options that came before;
    ``overlap`` says why the loops ran as written, ``layouts`` which arrays took a slower way.
    """

    scop: Scop
    dependences: Dependences
    loops: tuple[LoopParallelism, ...]
    kernel: Kernel
    row: VariantRow | None = None
    comparison: Comparison | None = None
    choice: Choice | None = None
    seconds: float | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    tuning: Tuning | None = None
    overlap: OverlapError | None = None
    layouts: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the loops are called."""
        return self.scop.name

    @property
    def title(self) -> str:
        """What was done, in one line."""
        variant = f"{self.kernel.schedule.scheduler} on {self.kernel.target}"
        if self.seconds is None:
            return f"{self.scop.name} is now an optimised kernel: {variant}"
        if self.overlap is not None:
            return f"as written, since arrays overlap in memory: ran in place in {seconds(self.seconds)}"
        chosen = f", {self.choice.why}" if self.choice is not None else ""
        compiled = ", compilation included" if self.kernel.target == "numba" else _device_share(self.kernel)
        # Who sees a table wonders why it says something else.
        told = ", once and with all preparations: the table has medians of repeated runs"
        once = told if self.comparison is not None else ""
        return f"{variant}{chosen}: {self.verdict}, then ran in place in {seconds(self.seconds)}{compiled}{once}"

    @property
    def verdict(self) -> str:
        """Whether the result was compared with that of the loop as written, and under which contract."""
        if self.row is not None and self.row.verified:
            exactly = " bit for bit" if self.row.floating_point == "strict" and self.row.exact else ""
            return f"verified{exactly} against the loop as written (contract {self.row.floating_point})"
        return "not verified, as asked"

    @property
    def notes(self) -> tuple[str, ...]:
        """Everything assumed, approximated, skipped, or still to be done."""
        notes = [*self.scop.notes, *self.kernel.program.notes]
        if self.overlap is not None:
            notes = [*self.scop.notes, f"{self.overlap.message} {self.overlap.hint}"]
        notes += [f"target {one.text}" for one in self.kernel.plan.decisions if one.step == SECOND_CHOICE]
        notes += self.layouts
        if self.overlap is None and not any(loop.parallel for loop in self.loops):
            decisions = {decision.step: decision.text for decision in self.kernel.plan.decisions}
            notes += [ALONG_WAVEFRONTS] if "wavefront" in decisions else []
            if "array-sum" in decisions and not any(loop.reduction_parallel for loop in self.loops):
                notes.append(f"{_NOT_AS_WRITTEN}{decisions['array-sum']}")
        if self.choice is not None and self.choice.remark:
            notes.append(self.choice.remark)
        if self.row is not None and self.row.note:
            own = listed_notes(self.kernel.program.notes)  # a comparison's row has them, too
            told = self.row.note.removeprefix(own).removeprefix("; ")
            notes += [told] if told else []
        if self.seconds is None:
            notes.append(
                f"not verified yet, since there is no data: polyviz.compare({self.scop.name}, …) verifies and times it"
            )
        return tuple(dict.fromkeys(notes))


@dataclass(frozen=True, slots=True)
class Waiting:
    """A function whose text leaves open how many dimensions its arrays have: its first call makes the ``kernel``."""

    kernel: Kernel

    @property
    def name(self) -> str:
        """What the function is called."""
        return self.kernel.__name__

    @property
    def bundle(self) -> Bundle:
        """What there is to say of it by now."""
        return note_bundle(
            f"{self.name} is compiled when it is called: its text does not tell how many dimensions its arrays have, "
            "and the first call does."
        )


def _device_share(kernel: Kernel) -> str:
    """How the time in place divides, where it was spent on a device."""
    times = kernel.device_times
    if times is None:
        return ""
    moving = seconds((times.to_device + times.from_device) / 1000)
    return (
        f" (kernels {seconds(times.kernels / 1000)}, transfers {moving} for {size_text(times.moved_bytes)})"
    )


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """The outcome of a cell. ``parts`` has one entry per loop nest, ``show`` restricts what is displayed."""

    parts: tuple[Part | Waiting, ...]
    show: Show | None = None

    @property
    def kernel(self) -> Kernel:
        """The kernel of the (first) loop nest."""
        return self.parts[0].kernel

    @property
    def scop(self) -> Scop:
        """The (first) loop nest as it was extracted; raises ExtractionError where a call has to come first."""
        first = self.parts[0]
        return first.scop if isinstance(first, Part) else first.kernel.scop

    @property
    def comparison(self) -> Comparison | None:
        """The comparison of all variants, where one was asked for."""
        first = self.parts[0]
        return first.comparison if isinstance(first, Part) else None

    def __repr__(self) -> str:
        return str(self._repr_mimebundle_()["text/plain"])

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Bundle:
        shown = [_shown(part, self.show) for part in self.parts]
        if len(shown) == 1:
            return shown[0]
        titles = zip(self.parts, shown, strict=True)
        whole = combine(
            "Optimised functions", [Section(part.name, one, open=True) for part, one in titles]
        )
        return {**whole, "text/plain": "\n\n".join(one["text/plain"] for one in shown)}


def _shown(part: Part | Waiting, show: Show | None) -> Bundle:
    if isinstance(part, Waiting):
        return part.bundle
    return _view(part, show) if show else _overview(part)


def _overview(part: Part) -> Bundle:
    comparison = [] if part.comparison is None else [_comparison_section(part.comparison)]
    tuning = [] if part.tuning is None else [Section("Tuning", tuning_bundle(part.tuning), open=True)]
    sections = [
        *tuning,
        *comparison,
        *_device_sections(part),
        Section(_LOOPS if part.overlap is None else _LOOPS_APART, parallelism_bundle(part.loops), open=True),
        Section(
            "Source and domains", scop_bundle(part.scop, part.dependences, part.sizes or None), open=True
        ),
        Section(
            "Dependences", dependences_bundle(part.dependences, part.scop, part.sizes or None, drawn=False)
        ),
        Section("Schedule", schedule_bundle(part.kernel.schedule)),
        Section("Program", program_bundle(part.kernel.program)),
    ]
    told = {*part.scop.notes, *([] if part.comparison is None else part.comparison.data.notes)}  # above
    notes = [note for note in part.notes if note not in told]
    if notes:
        listed = bundle(None, items(notes), "\n".join(notes))
        sections.append(Section("Notes", listed, open=True))
    return {**combine(part.title, sections), "text/plain": _summary(part)}


def _device_sections(part: Part) -> list[Section]:
    """What runs on blocks and threads, and what moved between host and device."""
    view = part.kernel.device_view()
    if view is None:
        return []
    shown = [Section("Blocks and threads", device_bundle(view), open=True)]
    if device.log.rows:
        shown.append(Section("Transfers so far", transfers_bundle(device.log)))
    return shown


def _comparison_section(comparison: Comparison) -> Section:
    return Section("Comparison", comparison_bundle(comparison.data), open=True)


def _summary(part: Part) -> str:
    """What a terminal shows: the outcome, a sentence per loop, the comparison; the rest is a question away."""
    told: tuple[str, ...] = ()  # with the comparison
    # What is known of the loops holds for arrays of their own.
    paragraphs = [part.title] if part.overlap is not None else [part.title, text.parallelism_text(part.loops)]
    if part.tuning is not None:
        paragraphs.append(tuning_text(part.tuning))
    if part.comparison is not None:
        paragraphs.append(comparison_text(part.comparison.data))
        told = part.comparison.data.notes
    view = part.kernel.device_view()
    paragraphs += [] if view is None else summary_lines(view)
    paragraphs += [f"Note: {note}" for note in part.notes if note not in told]
    return "\n".join([*paragraphs, MORE])


def _view(part: Part, show: Show) -> Bundle:
    """One view alone, under the line that says what was done."""
    views = {
        "source": lambda: program_bundle(part.kernel.program, opened=True),
        "schedule": lambda: schedule_bundle(part.kernel.schedule),
        "tree": lambda: _tree_bundle(part),
        "device": lambda: _device_bundle(part),
        "teaching": lambda: _teaching_bundle(part),
    }
    try:
        view = views[show]()
    except PolyvizError as error:
        # The loops have run by now; what cannot be shown is no error of the cell, and would be told once per form.
        view = note_bundle(" ".join(filter(None, (error.message, error.reason, error.hint))))
    shown: dict[str, Any] = bundle(
        view.get(MIME), paragraph(part.title) + view["text/html"], f"{part.title}\n{view['text/plain']}"
    )
    return shown


def _device_bundle(part: Part) -> Bundle:
    """Cards, who runs which iteration, the trees of blocks and threads, and what the compiler reports."""
    view = part.kernel.device_view(resources=True)
    return _no_device(part) if view is None else device_bundle(view)


def _teaching_bundle(part: Part) -> Bundle:
    """The kernels of a device as Python."""
    if part.kernel.program.device is None:
        return _no_device(part)
    return listing_bundle(part.kernel.teaching_source)


def _no_device(part: Part) -> Bundle:
    return note_bundle(
        f"The target {part.kernel.target} has no blocks and threads: choose -t emulated or cuda."
    )


def _tree_bundle(part: Part) -> Bundle:
    """The tree that code was generated from, tiles and marks included."""
    root = read_tree(part.kernel.plan.tree, part.kernel.schedule.bands)
    return bundle(None, f"<div>{tree_html(root)}</div>", tree_text(root))
