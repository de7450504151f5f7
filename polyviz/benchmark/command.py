"""``polyviz bench``: from the options to the files, one kernel at a time."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from polyviz.benchmark.ablation import run_ablation
from polyviz.benchmark.contest import Contest
from polyviz.benchmark.entrants import Entry
from polyviz.benchmark.gpu.command import run_gpu
from polyviz.benchmark.options import (
    ABLATION_SUITE,
    GPU_SUITE,
    ODD_SUITE,
    SCHEDULER_SUITE,
    SQUARE_SUITE,
    Options,
    parse,
    suite,
)
from polyviz.benchmark.peers import Peer, all_peers
from polyviz.benchmark.records import KernelRecord, PeerRecord, Results, Settings
from polyviz.benchmark.squares import edges
from polyviz.benchmark.store import Store, resumed, with_kernel
from polyviz.benchmark.subject import SEED, Data
from polyviz.benchmark.survey.command import SHORT_SIZES, run_survey
from polyviz.benchmark.survey.growth import SIZES
from polyviz.benchmark.table import best_ratio
from polyviz.benchmark.versions import versions
from polyviz.benchmark.workers import Workers, fixed_threads
from polyviz.errors import OptionError, PolyvizError
from polyviz.runtime.machine import this_machine
from polyviz.runtime.peaks import MEASURE_LIMIT
from polyviz.views.tables import seconds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from polyviz.model.roofline import Peaks


def run(arguments: Sequence[str] | None, peers: Sequence[Peer] | None = None) -> int:
    """Run what ``arguments`` ask for, against all ``peers``; 1 when a variant of polyviz was wrong, else 0."""
    options = parse(arguments)
    _make(options.output)
    if options.suite == SCHEDULER_SUITE:
        return run_survey(
            options.kernels,
            options.schedules,
            options.output,
            _say,
            resume=options.resume,
            sizes=SHORT_SIZES if options.short else SIZES,
        )
    if options.suite == GPU_SUITE:
        return run_gpu(
            options.kernels,
            options.schedules,
            options.output,
            _say,
            size=options.size,
            dtype=options.dtype,
            repeats=options.repeats,
            resume=options.resume,
        )
    if options.suite == ABLATION_SUITE:
        return run_ablation(
            options.kernels,
            options.output,
            _say,
            size=options.size,
            dtype=options.dtype,
            schedule=options.schedules[0],
            target=options.targets[0],
            contract=options.contract,
            repeats=options.repeats,
        )
    field = tuple(all_peers() if peers is None else peers)
    with fixed_threads() as threads:
        results = _start(options, _fresh(options, field, threads))
        return _run(options, field, results)


def _make(directory: Path) -> None:
    """Raises OptionError now rather than after minutes of work where nothing can be written."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"{directory} cannot be written: {error.strerror}.") from error


def _fresh(options: Options, peers: Sequence[Peer], threads: int) -> Results:
    settings = Settings(
        suite=options.suite,
        size=options.size,
        dtype=options.dtype,
        seed=SEED,
        repeats=options.repeats,
        threads=threads,
        schedules=options.schedules,
        targets=options.targets,
        machine=this_machine().describe(),
        contract=options.contract,
    )
    found = [(peer.name, peer.available()) for peer in peers]
    return Results(
        settings, versions(), tuple(PeerRecord(name, each.available, each.reason) for name, each in found)
    )


def _start(options: Options, fresh: Results) -> Results:
    store = Store(options.output, options.name)
    if options.resume:
        found = store.load()
        return fresh if found is None else resumed(found, fresh)
    if store.json.exists():
        _say(f"{store.json} is there already and will be replaced (--resume would go on with it)")
    return fresh


def _run(options: Options, peers: Sequence[Peer], results: Results) -> int:
    store = Store(options.output, options.name)
    field = _races(options)
    order = (*suite(options.suite, options.size), *(data.label for data in field))
    finished = {kernel.kernel for kernel in results.kernels}
    missing = [data for data in field if data.label not in finished]
    if options.resume and finished:
        _say(f"{len(finished)} kernels are finished, {len(missing)} to go")
    with Workers() as workers:
        if results.peaks is None and missing:
            results = replace(results, peaks=_peaks(workers))
        entry = Entry(peers, options.schedules, options.targets, options.contract)
        exact = options.contract == "strict"
        contest = Contest(workers, entry, options.repeats, options.budget, _say, exact)
        for number, data in enumerate(missing, 1):
            record = contest.run(data)
            results = with_kernel(results, record, order)
            store.save(results)
            _say(f"[{number}/{len(missing)}] {_summary(record)}")
    _say(f"{store.table} and {store.json} hold the results")
    return int(any(_is_wrong(kernel) for kernel in results.kernels))


def _races(options: Options) -> tuple[Data, ...]:
    """The data that are raced, one after the other."""
    squares = edges(options.size) if options.suite == SQUARE_SUITE else (0,)
    odd = options.suite == ODD_SUITE
    return tuple(
        Data(name, options.size, options.dtype, odd=odd, square=square)
        for name in options.kernels
        for square in squares
    )


def _peaks(workers: Workers) -> Peaks | None:
    """What the machine can do, None where that cannot be measured."""
    try:
        found: Peaks = workers.run(
            "peaks", "polyviz.runtime.peaks:measure_peaks", time_limit=MEASURE_LIMIT, label="The measurement"
        )
    except PolyvizError as error:
        _say(f"no limits in the table: {error.message}")
        return None
    return found


def _summary(record: KernelRecord) -> str:
    peer, own, found = record.best_peer, record.best_own, best_ratio(record)
    if not (peer and own and found and peer.median and own.median):
        said = "; ".join(record.notes) or "no ratio: one side has no verified time"
        return f"{record.kernel}: {said} ({record.wall_seconds:.0f} s)"
    return (
        f"{record.kernel}: best peer {peer.label} {seconds(peer.median)}, {own.label} {seconds(own.median)}, "
        f"{found.value:.2f}x ({record.wall_seconds:.0f} s)"
    )


def _is_wrong(kernel: KernelRecord) -> bool:
    return any(variant.side == "polyviz" and variant.status == "wrong" for variant in kernel.variants)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
