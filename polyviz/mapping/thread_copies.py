"""Loops whose iterations meet only in arrays that each of them fills before it reads: threads copy these arrays.

``for r: { t = A[r] @ C; A[r] = t }`` keeps a whole matrix for one iteration at a time. With a matrix for every thread
the loop is parallel, and takes no more memory the longer it is (Tu and Padua, "Automatic Array Privatization", 1993).
The last iteration works on the array itself, so that what is seen afterwards stands there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.parallelism import verdict_on_loop
from polyviz.model.isl_limits import solved
from polyviz.model.schedule import Decision
from polyviz.transform.tree import bands, node_at

if TYPE_CHECKING:
    from polyviz.model.dependences import Dependences
    from polyviz.model.scop import Scop
    from polyviz.transform.tree import Path

_OPERATIONS = 300_000


def find_thread_copies(scop: Scop, dependences: Dependences, tree: isl.Schedule, path: Path) -> tuple[str, ...]:
    """The arrays to copy so that the first loop of the band at ``path``, the outermost of its nest, can be shared.

    Empty where that will not do.

    Whatever the loop carries must be an array of the part alone being filled again. No value of it may come into an
    iteration from elsewhere, and only those of the last one may leave the loop.
    """
    band = node_at(tree, path)
    temporaries = {array.name for array in scop.arrays if _is_temporary(scop, array.name)}
    if dependences.kind != "value" or not temporaries:
        return ()
    number = 0
    for other, earlier in bands(tree):
        if other == path:
            break
        number += earlier.band_n_member()
    carried = verdict_on_loop(scop, dependences, tree, number).carries
    arrays = tuple(sorted({found.array for found in carried}))
    if any(found.kind not in ("anti", "output") for found in carried) or not temporaries.issuperset(arrays):
        return ()
    times = isl.UnionMap.from_union_pw_aff(band.band_get_partial_schedule().get_at(0))
    times = times.intersect_domain(band.get_domain()).intersect_params(scop.context)
    is_private = bool(arrays) and solved(lambda: _stays_inside(dependences, arrays, times), _OPERATIONS)
    return arrays if is_private else ()


def copies_decision(arrays: tuple[str, ...], statements: tuple[str, ...]) -> Decision:
    """What is said of a loop that threads share although its iterations use the same arrays."""
    names = " and ".join(arrays)
    text = (
        f"threads share the loop, each with a copy of {names} of its own: every iteration fills it before it reads it; "
        "the last one works on the array itself"
    )
    return Decision("thread-copy", text, statements, {"arrays": arrays})


def _is_temporary(scop: Scop, name: str) -> bool:
    """Whether nobody outside the part sees the array ``name``, it starts with no values, and its accesses are exact."""
    array = scop.array(name)
    if not array.rank or array.live_out or array.creation is None:
        return False
    used = [one for one in scop.statements if any(access.array == name for access in one.accesses)]
    whole = all(extent is not None for extent in array.extents)
    return whole and array.creation.function == "empty" and all(statement.exact for statement in used)


def _stays_inside(dependences: Dependences, arrays: tuple[str, ...], times: isl.UnionMap) -> bool:
    """Whether values of ``arrays`` stay within one iteration of the loop that runs at ``times``, but for those of the
    last one, which may be read behind the loop."""
    iterations = isl.Set.from_union_set(times.range()).coalesce()
    if iterations.n_basic_set() != 1 or iterations.get_basic_set_list().get_at(0).dim(isl.dim_type.div):
        return False
    last = times.intersect_range(times.range().lexmax()).domain()
    inside, together = times.domain(), times.apply_range(times.reverse())
    for found in dependences.relations:
        if found.kind != "flow" or found.array not in arrays:
            continue
        pairs = isl.UnionMap.from_map(found.relation)
        into = pairs.intersect_range(inside)
        out = pairs.intersect_domain(inside).subtract_range(inside)
        if not (into.is_subset(together) and out.domain().is_subset(last)):
            return False
    return True
