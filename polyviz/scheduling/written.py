"""An order that somebody wrote, in any of the forms there are, as a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import islpy as isl

from polyviz.analysis.schedule_input import schedule_times, tree_of_text
from polyviz.scheduling.from_times import tree_from_times

if TYPE_CHECKING:
    from polyviz.model.scop import Scop


def written_tree(scop: Scop, choice: isl.Schedule | isl.UnionMap | str) -> isl.Schedule:
    """The tree of ``choice``: a tree, a map into time, or the isl text of either.

    Whether it is legal is not looked at. Raises ``LegalityError`` for what is no schedule of ``scop``: text that does
    not parse, an instance with two times or none, a statement that does not exist.

    >>> from polyviz.frontend import extract
    >>> scop = extract("def f(A):\\n    for i in range(9):\\n        A[i] = 0.0")
    >>> print(written_tree(scop, "{ S0[i] -> [-i] }").get_map())
    { S0[i] -> [-i] }
    """
    if isinstance(choice, isl.Schedule):
        return choice
    tree = tree_of_text(choice) if isinstance(choice, str) else None
    return tree or tree_from_times(scop.domain, schedule_times(scop, choice))
