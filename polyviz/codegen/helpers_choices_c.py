"""The templates of C's helper functions that choose between numbers without a branch.

gcc branches for a choice between two fractions wherever it does not make vectors of several; so they are put into
vectors of equal numbers, whose comparison leaves bits that are all set or none, in every part.
"""

from __future__ import annotations

from polyviz.codegen.helpers_c import Helper


def _comparison(operator: str) -> Helper:
    return Helper(
        """\
static inline choice_{suffix} {name}({T} a, {T} b)
{
    return (choice_{suffix})((several_{suffix}){a, a} OPERATOR (several_{suffix}){b, b});
}
""".replace("OPERATOR", operator),
        ("choice_{suffix}",),
    )


CHOICES: dict[tuple[str, str], Helper] = {
    ("choice", "f"): Helper(
        """\
typedef {T} several_{suffix} __attribute__((vector_size(16)));
typedef {S} {name} __attribute__((vector_size(16)));  // all bits of a part are set where a condition holds
"""
    ),
    ("less", "f"): _comparison("<"),
    ("less_equal", "f"): _comparison("<="),
    ("equal", "f"): _comparison("=="),
    ("unequal", "f"): _comparison("!="),
    ("holds", "f"): Helper(
        """\
static inline choice_{suffix} {name}({S} condition)
{
    return (choice_{suffix}){-condition, -condition};
}
""",
        ("choice_{suffix}",),
    ),
    ("chosen", "i"): Helper(
        """\
static inline {T} {name}(_Bool condition, {T} a, {T} b)  // no branch, which would be guessed wrong
{
    const {T} chosen = -({T})condition;  // all bits are set where it holds
    return (a & chosen) | (b & ~chosen);
}
"""
    ),
    ("chosen", "f"): Helper(
        """\
static inline {T} {name}(choice_{suffix} condition, {T} a, {T} b)  // no branch, which would be guessed wrong
{
    const choice_{suffix} one = condition & (choice_{suffix})(several_{suffix}){a, a};
    const choice_{suffix} other = ~condition & (choice_{suffix})(several_{suffix}){b, b};
    return ((several_{suffix})(one | other))[0];
}
""",
        ("choice_{suffix}",),
    ),
}
