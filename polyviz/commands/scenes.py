"""What the demonstration shows. Nothing heavy is imported here, so that a wrong name is told at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from polyviz.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Scene:
    """A kernel of the gallery at a size at which all variants take a moment, and whether plain Python is affordable."""

    name: str
    sizes: dict[str, int]
    python: bool = False


SCENES = (
    Scene("gemm", {"ni": 480, "nj": 500, "nk": 520}),
    Scene("jacobi-2d", {"tsteps": 60, "n": 700}),
    Scene("mvt", {"n": 800}, python=True),
)


def chosen_scenes(names: Sequence[str] | None) -> list[Scene]:
    """The scenes called ``names``, all of them for none; raises OptionError for a name that is no scene."""
    known = {scene.name: scene for scene in SCENES}
    for name in names or ():
        if name not in known:
            raise OptionError(f"The demonstration has no kernel {name!r}; it has {', '.join(known)}.")
    return [known[name] for name in names or known]
