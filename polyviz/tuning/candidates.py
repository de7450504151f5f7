"""What can be tried: candidates around the defaults, each a set of keywords of ``pv.compile``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DEFAULTS = "the defaults"
SMALLEST_TILE, LARGEST_TILE = 4, 4096
_FIRST_TILES = (32, 128)
"""What is tried for loops that the model leaves without tiles."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Keywords that differ from the defaults, sorted by name.

    >>> str(Candidate.of({"tile": (32, 64), "pack": False}))
    'without pack, tile 32 x 64'
    """

    options: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Candidate:
        """The candidate with these keywords."""
        return cls(tuple(sorted(options.items())))

    @property
    def keywords(self) -> dict[str, Any]:
        """The keywords as a fresh dictionary."""
        return dict(self.options)

    def __str__(self) -> str:
        return described(self.keywords)


def described(options: Mapping[str, Any]) -> str:
    """Keywords in words.

    >>> described({}), described({"concurrent_start": True, "threads": 2})
    ('the defaults', 'with concurrent_start, threads 2')
    """
    return ", ".join(_said(name, value) for name, value in options.items()) or DEFAULTS


def _said(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return f"{'with' if value else 'without'} {name}"
    if isinstance(value, tuple):
        return f"{name} {' x '.join(map(str, value))}"
    return f"{name} {value}"


@dataclass(frozen=True, slots=True)
class Dimension:
    """One keyword with the values that it can have, ``default`` among them."""

    name: str
    values: tuple[Any, ...]
    default: Any


@dataclass(frozen=True, slots=True)
class Space:
    """Everything that can be tried.

    ``tile`` holds the sizes that the model chooses for the deepest tiled band, outermost first; none where it tiles
    nothing. ``tiles`` tells whether other sizes may be tried. ``known`` were tried by earlier searches and were no
    better: they come last.
    """

    dimensions: tuple[Dimension, ...] = ()
    tile: tuple[int, ...] = ()
    tiles: bool = True
    known: frozenset[Candidate] = frozenset()
    _defaults: Mapping[str, Any] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_defaults", {one.name: one.default for one in self.dimensions})

    def changed(self, candidate: Candidate, name: str, value: Any) -> Candidate:
        """``candidate`` with another value, which is left out where it is the default."""
        options = {**candidate.keywords, name: value}
        if (name == "tile" and value is None) or (name in self._defaults and value == self._defaults[name]):
            del options[name]
        return Candidate.of(options)

    def holds(self, candidate: Candidate) -> bool:
        """Whether all that ``candidate`` changes is among what can be tried; its values may be any."""
        names = {*self._defaults, *(("tile",) if self.tiles else ())}
        return names.issuperset(candidate.keywords)

    def neighbours(self, candidate: Candidate) -> Iterator[Candidate]:
        """All candidates one step away: one tile size doubled or halved, or another value of one keyword.

        >>> known = frozenset({Candidate.of({"tile": (64,)})})
        >>> space = Space((Dimension("pack", (True, False), True),), (32,), known=known)
        >>> [str(one) for one in space.neighbours(Candidate())]
        ['tile 16', 'without tile', 'without pack', 'tile 64']
        """
        return iter(sorted(self._steps(candidate), key=self.known.__contains__))

    def _steps(self, candidate: Candidate) -> Iterator[Candidate]:
        given = candidate.keywords
        if self.tiles:
            yield from (
                self.changed(candidate, "tile", tile) for tile in self._other_tiles(given.get("tile"))
            )
        for one in self.dimensions:
            now = given.get(one.name, one.default)
            yield from (self.changed(candidate, one.name, value) for value in one.values if value != now)

    def _other_tiles(self, tile: Any) -> Iterator[Any]:
        if tile is False:
            yield None
            return
        sizes = tile or self.tile
        if not sizes:
            yield from ((size,) for size in _FIRST_TILES)
            return
        for place in reversed(range(len(sizes))):
            for size in (2 * sizes[place], sizes[place] // 2):
                if SMALLEST_TILE <= size <= LARGEST_TILE:
                    yield (*sizes[:place], size, *sizes[place + 1 :])
        yield False
