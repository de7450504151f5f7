"""The one way from a schedule to a plan: processors and devices have their own rules."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from polyviz.errors import OptionError
from polyviz.mapping import cpu, gpu
from polyviz.mapping.source_order import with_scalars_kept, without_sparse_copies
from polyviz.model.schedule import Decision

if TYPE_CHECKING:
    from polyviz.mapping.tile_sizes import Tile
    from polyviz.model.dependences import Dependences
    from polyviz.model.plan import Plan
    from polyviz.model.processor import Processor
    from polyviz.model.program import FloatingPoint
    from polyviz.model.schedule import Schedule
    from polyviz.model.scop import Scop
    from polyviz.model.staging import DeviceOptions


IN_VECTORS = ("register_tile", "row_blocks", "panels", "lift", "outer_vectors", "jam")
"""The techniques that are made of vector registers."""
ONE_BY_ONE = f"no loop runs in vector lanes, as asked, and nothing that needs them: {', '.join(IN_VECTORS)}"


def make_plan(
    scop: Scop,
    dependences: Dependences,
    schedule: Schedule,
    target: str,
    *,
    tile: Tile = None,
    processor: Processor | None = None,
    threads: int | None = None,
    device: DeviceOptions | None = None,
    contract: FloatingPoint = "reassociate",
    simd: bool = True,
    **techniques: Any,
) -> Plan:
    """Bind ``schedule`` to ``target``.

    ``tile`` gives the tile sizes of every tiled band (the last one repeats), None chooses, False switches tiling off;
    on a device they are those of the block loops. ``processor``, ``techniques`` (see `polyviz.model.techniques`) and
    the floating-point ``contract`` concern processors; ``threads`` bounds how many run the parallel loops there.
    ``device`` says what kernels may do. Without ``simd`` C runs every loop one iteration at a time.
    Raises OptionError for sizes that are not positive.
    """
    if tile and any(size < 1 for size in tile):
        raise OptionError(f"Tile sizes are positive numbers, not {', '.join(map(str, tile))}.")
    if target in gpu.DEVICE_TARGETS:
        return gpu.make_device_plan(scop, dependences, schedule, target, tile=tile, options=device)

    scalar = target == "c" and not simd
    if scalar:
        techniques = {**techniques, **dict.fromkeys(IN_VECTORS, False)}

    def bind(order: Schedule) -> Plan:
        return cpu.make_plan(
            scop, dependences, order, target, tile=tile, processor=processor, contract=contract, **techniques
        )

    plan = bind(schedule)
    if target == "c" and tile is None:
        plan = with_scalars_kept(scop, dependences, plan, bind)
    plan = without_sparse_copies(scop, dependences, plan, bind)
    if scalar:
        plan = replace(plan, scalar=True, decisions=(*plan.decisions, Decision("simd", ONE_BY_ONE)))
    plan = plan if threads is None else _on_threads(plan, threads)
    if not plan.read_back:
        return plan
    given: dict[str, Any] = {"tile": tile, "processor": processor, "threads": threads, "contract": contract}
    others = {**given, **techniques, "simd": simd, "once_more": False}
    return replace(plan, otherwise=make_plan(scop, dependences, schedule, target, **others))


def _on_threads(plan: Plan, threads: int) -> Plan:
    """``plan`` for at most so many threads."""
    text = (
        f"parallel loops run on at most {threads} threads, as asked"
        if threads > 1
        else "one thread runs all loops, as asked"
    )
    return replace(plan, threads=threads, decisions=(*plan.decisions, Decision("threads", text)))
