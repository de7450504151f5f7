"""The results as Markdown: what ran where, the ratios, the times of all peers, and everything that did not work."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from polyviz.benchmark.records import KernelRecord, Ratio, Results, VariantRecord, ratio
from polyviz.benchmark.rooflines import GOAL, STENCIL_GOAL, achieved, goal_of, held_back
from polyviz.benchmark.session import LONG_RUN
from polyviz.model.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BEST_OWN = "best of polyviz"


def markdown(results: Results, picture: str = "") -> str:
    """The whole document; ``picture`` is the file name of the roofline, where there is one."""
    parts = [
        _title(results),
        _surroundings(results),
        "## Ratio to the best peer",
        _READING,
        _ratios(results),
        "## Geometric means",
        _means(results),
        *_section("## Limits of the machine", _roofs(results, picture), _achieved_rows(results)),
        "## Times of the peers",
        "Seconds, the median of the rounds; *once* marks a single verified run of a peer too slow for the rounds.",
        _times(results),
        "## Compile time, which is in none of the figures above",
        _compile_times(results),
        *_section(
            "## Kernels below the goal",
            f"The goal is {GOAL}x, for stencils {STENCIL_GOAL}x. What holds the fastest variant back:",
            _below(results),
        ),
        *_section("## What did not run, or ran wrong", "", _troubles(results)),
    ]
    return "\n\n".join(parts) + "\n"


_READING = (
    "How many times faster than the best peer of that kernel a variant of polyviz is: the median, over the rounds, of "
    "the ratio of two times of the same round, with its 95 % interval in brackets for the fastest variant. "
    "*Verified* counts the variants, peers included, whose every output agreed with the original loop. A sample begins "
    "when no thread of any variant, peer or not, uses a core any more; it is the median of runs on fresh data after "
    f"one that is not counted, or a single run where that takes {LONG_RUN} s or more. Every sample has its arrays in "
    "other pages of memory."
)


def _title(results: Results) -> str:
    settings = results.settings
    return f"# {settings.suite}, size {settings.size}, {settings.dtype}"


def _surroundings(results: Results) -> str:
    settings = results.settings
    lines = [f"- Machine: {'; '.join(settings.machine.splitlines())}"]
    lines.append(f"- Made by `{_command(results)}` in {_wall(results)}")
    lines.append(
        f"- {settings.threads} threads for everybody, at most {settings.repeats} rounds, data of seed {settings.seed}"
    )
    lines.append(f"- Versions: {'; '.join(f'{name} {text}' for name, text in results.versions.items())}")
    for peer in results.peers:
        lines.append(
            f"- {peer.name}: {peer.reason}" if peer.available else f"- {peer.name}: absent ({peer.reason})"
        )
    lines += [f"- Flags of {label}: `{flags}`" for label, flags in _flags(results).items()]
    return "\n".join(lines)


def _command(results: Results) -> str:
    settings = results.settings
    words = ["polyviz bench", f"--suite {settings.suite} --size {settings.size} --dtype {settings.dtype}"]
    words.append(f"--contract {settings.contract} --repeats {settings.repeats}")
    words.append(f"--schedules {','.join(settings.schedules)} --targets {','.join(settings.targets)}")
    return " ".join(words)


def _wall(results: Results) -> str:
    minutes = sum(kernel.wall_seconds for kernel in results.kernels) / 60
    return plural(round(minutes), "minute")


def _flags(results: Results) -> dict[str, str]:
    found: dict[str, dict[str, None]] = {}
    for kernel in results.kernels:
        for variant in kernel.variants:
            if variant.side == "peer" and variant.flags:
                found.setdefault(variant.label, {})[variant.flags] = None
    return {label: "` or `".join(flags) for label, flags in found.items()}


def _ratios(results: Results) -> str:
    own = _labels(results, "polyviz")
    header = ("kernel", "best peer", "seconds", *own, BEST_OWN, "verified")
    rows = [(kernel.kernel, *_ratio_cells(kernel, own)) for kernel in results.kernels]
    return _table(header, rows)


def _ratio_cells(kernel: KernelRecord, own: Sequence[str]) -> Iterator[str]:
    best = kernel.best_peer
    yield "–" if best is None else best.label
    yield _seconds(None if best is None else best.median)
    by_label = {variant.label: variant for variant in kernel.variants}
    for label in own:
        yield _ratio_cell(best, by_label.get(label))
    found = best_ratio(kernel)
    yield "–" if found is None else f"**{found.value:.2f}x** {_interval(found)}".rstrip()
    run = [variant for variant in kernel.variants if variant.verified is not None]
    yield f"{sum(variant.verified is True for variant in run)} of {len(run)}"


def _ratio_cell(best: VariantRecord | None, variant: VariantRecord | None) -> str:
    if variant is None:
        return "–"
    if variant.status != "ok":
        return variant.status
    found = None if best is None else ratio(best, variant)
    if found is not None:
        return f"{found.value:.2f}x"
    return _once(variant)


def best_ratio(kernel: KernelRecord) -> Ratio | None:
    """The best peer's time over that of the fastest variant of polyviz, from the same rounds."""
    peer, own = kernel.best_peer, kernel.best_own
    return None if peer is None or own is None else ratio(peer, own)


def _means(results: Results) -> str:
    rows = []
    for label in (*_labels(results, "polyviz"), BEST_OWN):
        values = [
            found.value for kernel in results.kernels if (found := _ratio_of(kernel, label)) is not None
        ]
        if values:
            above = sum(value >= 1.0 for value in values)
            mean = f"{statistics.geometric_mean(values):.2f}x"
            rows.append((label, mean, f"{above} of {len(values)}", f"{min(values):.2f}x"))
    return _table(("variant", "geometric mean", "kernels at 1.0x or more", "lowest"), rows)


def _ratio_of(kernel: KernelRecord, label: str) -> Ratio | None:
    if label == BEST_OWN:
        return best_ratio(kernel)
    best = kernel.best_peer
    variant = next((variant for variant in kernel.variants if variant.label == label), None)
    return None if best is None or variant is None else ratio(best, variant)


def _times(results: Results) -> str:
    labels = _labels(results, "peer")
    rows = []
    for kernel in results.kernels:
        by_label = {variant.label: variant for variant in kernel.variants}
        rows.append((kernel.kernel, *(_time_cell(by_label.get(label)) for label in labels)))
    return _table(("kernel", *labels), rows)


def _time_cell(variant: VariantRecord | None) -> str:
    if variant is None:
        return "–"
    if variant.status == "unavailable":
        return "absent"
    if variant.status != "ok":
        return "–" if variant.status == "refused" else variant.status
    return _once(variant) if variant.median is None else _seconds(variant.median)


def _once(variant: VariantRecord) -> str:
    return "–" if variant.first_seconds is None else f"*once* {_seconds(variant.first_seconds)}"


def _compile_times(results: Results) -> str:
    rows = []
    for label in (*_labels(results, "peer"), *_labels(results, "polyviz")):
        variants = [
            variant for kernel in results.kernels for variant in kernel.variants if variant.label == label
        ]
        compiled = [variant.compile_seconds for variant in variants if variant.compile_seconds is not None]
        generated = [variant.generate_seconds for variant in variants if variant.generate_seconds is not None]
        if compiled:
            rows.append((label, *_middle_and_worst(generated), *_middle_and_worst(compiled)))
    return _table(
        ("variant", "loops to text: median s", "worst s", "compiler: median s", "worst s (0 from the cache)"),
        rows,
    )


def _middle_and_worst(seconds: Sequence[float]) -> tuple[str, str]:
    return (_seconds(statistics.median(seconds)), _seconds(max(seconds))) if seconds else ("–", "–")


def _below(results: Results) -> Iterator[str]:
    limits = {one.kernel: one for one in achieved(results)}
    for kernel in results.kernels:
        found, own = best_ratio(kernel), kernel.best_own
        if found is None or own is None or found.value >= goal_of(kernel.kernel):
            continue
        yield f"- {kernel.kernel}: {own.label} {found.value:.2f}x, {held_back(kernel, limits.get(kernel.kernel))}."


def _roofs(results: Results, picture: str) -> str:
    """What the machine was measured to do, how to read the table, and the picture."""
    peaks = results.peaks
    if peaks is None:
        return ""
    rates = ", ".join(f"{rate / 1e9:.0f} GFLOP/s in {dtype}" for dtype, rate in peaks.multiply_add.items())
    text = (
        f"Measured here with {peaks.threads} threads: multiply-adds at {rates}; copies at {peaks.copy / 1e9:.1f} GB/s "
        f"in memory and {peaks.cached_copy / 1e9:.1f} GB/s within the last cache, read and written together. The limit "
        "of a kernel is its operations at the peak, or every line that it has to read or write once at the bandwidth, "
        "whichever takes longer. Both are counted exactly by the analysis. A share above 100 % means data that stayed "
        "in a cache from one run to the next. Shares are those of the median of the rounds and, in brackets, of the "
        "fastest round: the limits are those of the fastest run that was measured."
    )
    return f"{text}\n\n![The roofline of this machine with the kernels]({picture})" if picture else text


def _achieved_rows(results: Results) -> Iterator[str]:
    header = (
        "kernel", "operations", "bytes", "limit", "seconds at the limit", "polyviz achieves", "best peer achieves"
    )  # fmt: skip
    rows = [
        (
            one.kernel,
            f"{one.work.operations:.3g}",
            f"{one.work.traffic:.3g}",
            one.limit.bottleneck,
            f"{one.limit.seconds:.3g}",
            _share(one.share, one.best_share),
            _share(one.peer_share, one.best_peer_share),
        )
        for one in achieved(results)
    ]
    if rows:
        yield _table(header, rows)


def _share(value: float | None, best: float | None) -> str:
    return "–" if value is None or best is None else f"{value:.0%} ({best:.0%})"


def _troubles(results: Results) -> Iterator[str]:
    """One line per trouble, with all the kernels that have it."""
    found: dict[str, list[str]] = {}
    for kernel in results.kernels:
        for note in () if kernel.variants else kernel.notes:
            found.setdefault(note, []).append(kernel.kernel)
        for variant in kernel.variants:
            if variant.status not in ("ok", "unavailable"):
                found.setdefault(f"{variant.label}, {variant.status}: {variant.note}", []).append(
                    kernel.kernel
                )
    for trouble, kernels in found.items():
        yield f"- {', '.join(kernels)}: {trouble}"


def _section(title: str, introduction: str, lines: Iterator[str]) -> tuple[str, ...]:
    listed = "\n".join(lines)
    if not listed:
        return ()
    return (title, introduction, listed) if introduction else (title, listed)


def _labels(results: Results, side: str) -> tuple[str, ...]:
    """The labels of one side in the order in which they first appear."""
    variants = (variant for kernel in results.kernels for variant in kernel.variants)
    return tuple(dict.fromkeys(variant.label for variant in variants if variant.side == side))


def _interval(found: Ratio) -> str:
    if found.interval is None:
        return ""
    low, high = found.interval
    return f"[{low:.2f}, {high:.2f}]"


def _seconds(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3g}" if value >= 1e-4 else f"{value:.7f}"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    ruler = ["---"] + ["---:"] * (len(header) - 1)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, ruler, *rows))
