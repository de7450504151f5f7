"""The one way from a schedule to a plan: processors and devices have their own rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyviz.errors import OptionError
from polyviz.mapping import cpu, gpu

if TYPE_CHECKING:
    from polyviz.mapping.tile_sizes import Tile
    from polyviz.model.dependences import Dependences
    from polyviz.model.plan import Plan
    from polyviz.model.processor import Processor
    from polyviz.model.schedule import Schedule
    from polyviz.model.scop import Scop


def make_plan(
    scop: Scop,
    dependences: Dependences,
    schedule: Schedule,
    target: str,
    *,
    tile: Tile = None,
    processor: Processor | None = None,
    register_tile: bool = True,
    pack: bool = True,
    interleave: bool = True,
) -> Plan:
    """Bind ``schedule`` to ``target``.

    ``tile`` gives the tile sizes of every tiled band (the last one repeats), None chooses, False switches tiling off;
    on a device they are those of the block loops. The target ``c`` alone has register tiles (``processor``,
    ``register_tile``, ``pack``) and runs chains of dependent iterations side by side (``interleave``).
    Raises OptionError for sizes that are not positive.
    """
    if tile and any(size < 1 for size in tile):
        raise OptionError(f"Tile sizes are positive numbers, not {', '.join(map(str, tile))}.")
    if target in gpu.DEVICE_TARGETS:
        return gpu.make_device_plan(scop, dependences, schedule, target, tile=tile)
    return cpu.make_plan(
        scop,
        dependences,
        schedule,
        target,
        tile=tile,
        processor=processor,
        register_tile=register_tile,
        pack=pack,
        interleave=interleave,
    )
