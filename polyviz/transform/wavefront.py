"""Wavefront: the outer loop of a permutable band becomes a diagonal, the loop after it parallel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from polyviz.errors import OptionError
from polyviz.model.schedule import Decision
from polyviz.transform.move import Move
from polyviz.transform.rows import loop_text, loops_text
from polyviz.transform.tree import (
    Path,
    band_at,
    bands,
    coincident_members,
    members,
    replace_rows,
    split_band,
    statements_under,
)

if TYPE_CHECKING:
    import islpy as isl


@dataclass(frozen=True, slots=True)
class Wavefront(Move):
    """Run a permutable band along its diagonals, so that the ``degree`` loops after the first become parallel.

    The first row of the band at ``path`` becomes its sum with the ``degree`` rows after it. Every dependence that
    any of these rows carried is then carried by the first, so the next ``degree`` rows are parallel. The diagonal
    stays at ``path`` as a band of one; the others follow as a band at ``(*path, 0)``.
    """

    name: ClassVar[str] = "wavefront"
    degree: int = 1

    @property
    def extent(self) -> int:
        """The loops that the diagonal is made of."""
        return self.degree + 1

    @classmethod
    def available(cls, tree: isl.Schedule) -> tuple[Path, ...]:
        """Every permutable band of two and more loops whose first is not parallel."""
        return tuple(
            path
            for path, band in bands(tree)
            if band.band_get_permutable() and band.band_n_member() > 1 and not coincident_members(band)[0]
        )

    def apply(self, tree: isl.Schedule) -> tuple[isl.Schedule, Decision]:
        """The diagonal around the rest of the band."""
        band = band_at(tree, self.path)
        if not 1 <= self.degree < band.band_n_member():
            raise OptionError(f"A band of {band.band_n_member()} has no wavefront of degree {self.degree}.")
        if not band.band_get_permutable():
            raise OptionError(f"{loops_text(band)} not permutable: there is no wavefront.")
        tree = with_diagonal(tree, self.path, self.degree)
        freed = "the next loop is" if self.degree == 1 else f"the next {self.degree} loops are"
        text = (
            f"Loop {loop_text(members(band)[0])} carries dependences: it became the sum of the first "
            f"{self.degree + 1} loops, so that {freed} parallel."
        )
        details = {"path": self.path, "degree": self.degree}
        return split_band(tree, self.path, 1), Decision("wavefront", text, statements_under(band), details)


def with_diagonal(tree: isl.Schedule, path: Path, degree: int = 1) -> isl.Schedule:
    """The permutable band at ``path`` with the sum of its first ``degree`` + 1 rows as its first, still as one band."""
    band = band_at(tree, path)
    rows = list(members(band))
    diagonal = rows[0]
    for row in rows[1 : degree + 1]:
        diagonal = diagonal.add(row)
    kept = coincident_members(band)[degree + 1 :]
    return replace_rows(tree, path, [diagonal, *rows[1:]], coincident=(False, *(True,) * degree, *kept))


def wavefront(tree: isl.Schedule, path: Path, degree: int = 1) -> tuple[isl.Schedule, Decision]:
    """``Wavefront(path, degree)`` applied to ``tree``.

    >>> import islpy as isl
    >>> rows = '[{ S[i, j] -> [i] }, { S[i, j] -> [j] }]'
    >>> tree = isl.Schedule(f'{{ domain: "{{ S[i, j] }}", child: {{ schedule: "{rows}", permutable: 1 }} }}')
    >>> print(wavefront(tree, (0,))[0].get_map())
    { S[i, j] -> [i + j, j] }
    """
    return Wavefront(path, degree).apply(tree)
