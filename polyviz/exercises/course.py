"""The exercises of the notebooks: loops, goals and hints. Solutions are in nobody's file but the student's."""

from __future__ import annotations

from polyviz.exercises.exercise import exercise
from polyviz.exercises.goals import distances, domain, legal, parallel, tiled, vector
from polyviz.exercises.memory import at_most
from polyviz.exercises.running import same_result

COLUMNS = """\
for i in range(n):
    for j in range(n):
        B[j, i] = A[j, i] + 1.0
"""
RUNNING = """\
for i in range(1, n):
    for j in range(n):
        A[i, j] = A[i - 1, j] + X[i, j]
"""
# Not the product that the notebooks work through: its solution must not stand there.
TURNED_PRODUCT = """\
for i in range(n):
    for j in range(n):
        for k in range(n):
            C[j, i] += A[k, i] * B[k, j]
"""
TURNED_VECTOR = """\
for i in range(n):
    for j in range(n):
        y[j] += A[i, j] * x[i]
"""
SWEEP = """\
for i in range(1, n):
    for j in range(1, n):
        A[i, j] = A[i - 1, j] + A[i, j - 1]
"""
IN_PLACE = """\
for t in range(T):
    for i in range(1, n - 1):
        A[i] = A[i - 1] + A[i] + A[i + 1]
"""
CROOKED = """\
for i in range(1, n):
    for j in range(n - 1):
        A[j, i] = A[j + 1, i - 1] + X[j, i]
"""
BACKWARD = """\
for i in range(n - 1):
    for j in range(1, n):
        B[j, i] = B[j - 1, i + 1] + Y[j, i]
"""
JACOBI = """\
for t in range(T):
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            B[i, j] = 0.2 * (A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i - 1, j] + A[i + 1, j])
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            A[i, j] = 0.2 * (B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i - 1, j] + B[i + 1, j])
"""
ONE_LATE = """\
for i in range(n):
    B[i] = 2.0 * A[i]
for i in range(n - 1):
    C[i] = B[i + 1] + A[i]
"""

_MADE = (
    exercise(
        "first-interchange",
        COLUMNS,
        [legal(), at_most(lines=144, cache=512)],
        task="fetch fewer lines of memory",
        hints=(
            "Which loop moves along a line of memory when it advances by one?",
            "`j` counts rows here. In a nest whose lines are used up before they leave, where does it stand?",
        ),
        sizes={"n": 24},
    ),
    exercise(
        "triangle",
        None,
        [domain("[n] -> { [i, j] : 0 <= i < j < n }")],
        task="write two loops over the points with i smaller than j",
        hints=(
            "The inner loop need not begin at zero: `range` takes a first value too.",
            "What is the smallest `j` for a given `i`? A bound of the inner loop may name the outer one.",
        ),
    ),
    exercise(
        "stripes",
        None,
        [domain("[n] -> { [i, j] : 0 <= i < n and 0 <= j < n and (i + j) mod 2 = 0 }")],
        task="write loops over the black squares of a chess board",
        hints=(
            "An `if` may stand in front of the statement.",
            "An affine condition may use `%`, here of the sum of both iterators.",
        ),
    ),
    exercise(
        "flow-diagonal",
        None,
        [distances((2, -1))],
        task="write two loops in which values flow over the distance (2, -1) and no other",
        hints=(
            "The numbers go from the writer to the reader. Where is the writer, seen from the reader at (i, j)?",
            "Two back in `i`, and one ahead in `j`. Begin and end the loops so that no subscript leaves the array.",
        ),
    ),
    exercise(
        "columns",
        RUNNING,
        [legal(), parallel()],
        task="make the outermost loop parallel",
        hints=(
            "Which of the two loops carries the dependence?",
            "The loop that carries nothing goes outside.",
        ),
    ),
    exercise(
        "crooked",
        CROOKED,
        [legal(), at_most(lines=200, cache=512)],
        task="fetch fewer lines, although the plain interchange is illegal",
        hints=(
            "Draw the distance (1, -1). What does it look like when the loops change places?",
            "It would point backwards. Which move turns the sign of one component round, before the other move?",
        ),
        sizes={"n": 24},
    ),
    exercise(
        "inner-loop",
        SWEEP,
        [legal(), parallel("innermost")],
        task="make the inner loop parallel",
        hints=(
            "Both loops carry a dependence now. A diagonal carries both.",
            "Give all iterations on one diagonal the same number in the outer loop: that is a skew.",
        ),
    ),
    exercise(
        "stencil-waves",
        IN_PLACE,
        [legal(), parallel("innermost")],
        task="make the inner loop parallel",
        hints=(
            "On the plain diagonals somebody still waits. Which distance ends on the same diagonal?",
            "Slant space against time until no distance is negative; then look for diagonals again, or lean further.",
        ),
    ),
    exercise(
        "tile-sweep",
        SWEEP,
        [legal(), tiled(2), at_most(lines=900, cache=512)],
        task="tile both loops, so that fewer lines are fetched",
        hints=(
            "Are the distances (1, 0) and (0, 1) negative anywhere? `pv.moves()` has a move for permutable bands.",
            "The cache holds 8 lines. How many rows of a tile, and the row above it, are in it at a time?",
        ),
        sizes={"n": 65},
    ),
    exercise(
        "tile-stencil",
        IN_PLACE,
        [legal(), tiled(2), at_most(lines=192, cache=512)],
        task="tile time and space together, and fetch at most a quarter of the lines",
        hints=(
            "Which distance is negative in `i`? Tiles of the plain loops would wait for each other.",
            "A skew makes that distance harmless. Then think of tiles whose cells fit into 8 lines.",
        ),
        sizes={"T": 24, "n": 256},
    ),
    exercise(
        "product-lines",
        TURNED_PRODUCT,
        [legal(), at_most(lines=5500, cache=2048)],
        task="fetch at most 5,500 lines",
        hints=(
            "Two of the three arrays end in the same loop variable. What does that loop do to them?",
            "It walks along their lines, so it goes innermost. Two of the six orders have it there.",
        ),
        sizes={"n": 32},
    ),
    exercise(
        "product-tiles",
        TURNED_PRODUCT,
        [legal(), tiled(3), at_most(lines=1200, cache=2048)],
        task="fetch at most 1,200 lines",
        hints=(
            "A better order of three loops is not enough: use tiles. The cache holds 32 lines.",
            "Three tiles of 8 × 8 are 24 lines. Are they used up before they leave? Mind the order within a tile, too.",
        ),
        sizes={"n": 32},
    ),
    exercise(
        "one-late",
        ONE_LATE,
        [legal(), at_most(lines=200, cache=512)],
        task="read `B` and `A` again while they are still in the cache",
        hints=(
            "Which iteration of the second loop needs what iteration 5 of the first one wrote?",
            "Fused, it would read too early. A move lets the second loop run one iteration later.",
        ),
        sizes={"n": 512},
    ),
    exercise(
        "device-threads",
        COLUMNS,
        [legal(), parallel(), vector(), at_most(lines=144, cache=512)],
        task="let neighbouring lanes read neighbouring elements",
        hints=(
            "Lanes run the innermost loop, several iterations at once. Which loop goes along a line of memory?",
            "See `first-interchange` for the loops; the mark is a move of its own (pv.moves() lists them).",
        ),
        sizes={"n": 24},
    ),
    exercise(
        "parallel-lines",
        TURNED_VECTOR,
        [legal(), parallel(), at_most(lines=600, cache=512)],
        task="make the outermost loop parallel, and fetch fewer lines than before",
        hints=(
            "Which loop adds up, and which carries nothing? Put outside, the latter runs down the columns.",
            "A line holds eight numbers, so give every thread eight columns: loops over tiles may change places, too.",
        ),
        sizes={"n": 64},
    ),
    exercise(
        "rewrite",
        TURNED_PRODUCT,
        [same_result(), at_most(lines=5500, cache=2048)],
        task="write the product anew, in loops of your own, with at most 5,500 lines fetched",
        hints=(
            "The sum may be added up in any order.",
            "Write them so that nothing jumps from row to row in the innermost loop.",
        ),
        sizes={"n": 32},
    ),
    exercise(
        "backward-lines",
        BACKWARD,
        [legal(), at_most(lines=250, cache=512)],
        task="fetch fewer lines, by hand or by a scheduler of your own",
        hints=(
            "What runs later overwrites what is read here. Which distance is that, and what does an interchange do?",
            "A scheduler may try more moves than interchanges, in pairs too: one of them turns the sign of a distance.",
        ),
        sizes={"n": 24},
    ),
    exercise(
        "jacobi-lines",
        JACOBI,
        [legal(), tiled(3), at_most(lines=1400, cache=4096)],
        task="fetch at most 1,400 of the 3,968 lines",
        hints=(
            "Bring the half steps together. Which scheduler does that? A script may begin with it.",
            "64 lines fit into the cache: think how many lines a tile of both arrays has.",
        ),
        sizes={"T": 8, "n": 32},
    ),
)

NAMES = tuple(made.name for made in _MADE)
