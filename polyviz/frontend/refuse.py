"""What has no place in a static control part: one table from Python constructs to what the user is told."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Container


class Refusal(NamedTuple):
    """``construct`` names what was met; ``reason`` says why it is refused and ``hint`` what to write instead."""

    construct: str
    reason: str
    hint: str


_LOOP_COUNT = "The number of iterations has to be known when the loop starts."
_LISTED = "a list of one number, `[0] * n`, and one to which a loop over a range or an array appends once each time, "
_LISTED += "are read where only elements, `len(values)` and `np.array(values)` are asked for."
_NUMBERS = "A loop nest works on numbers and arrays of numbers."
ELEMENTS = "Every operation is analysed element by element."
_WRITE_LOOP = "Write a `for` loop over `range`."
_OUTSIDE = "Do this outside of the function or cell that polyviz gets."
_EXCEPTION = "Exceptions leave a loop at a point that no schedule can keep."
_GUARD = (
    "Outside of loops, sizes can be asked for: `assert A.shape[1] == n`, or `if A.shape[1] != n: raise ...`. Ask for "
    "anything else outside of the function or cell that polyviz gets."
)
_ONE_ASSIGNMENT = "Write an assignment statement of its own."

SLICE = Refusal(
    "A slice here",
    ELEMENTS,
    "Assign to elements that exist, such as `A[i, :] = ...`, write the loop over these elements, or make an array of "
    "them on a line of its own, `B = A[i, :].copy()`.",
)
SELECTION = Refusal(
    "A mask here",
    "How many elements it chooses is known only when the loops run.",
    "Set elements with it, `A[A > 3] = 0.0`, add them up, `np.sum(A[A > 3])`, choose with `np.where(A > 3, A, 0.0)`, "
    "or fill an array in a loop.",
)
CHOSEN_VALUES = Refusal(
    "What the chosen elements are given here",
    "It may be a number, a row for chosen rows, or elements that the same mask chooses; elements of the array that is "
    "changed are read before the first one is.",
    "Choose on both sides with the same mask, `A[m] = B[m]`, and keep single elements in a variable first: "
    "`first = A[0]`.",
)
LARGEST_CHOSEN = Refusal(
    "The largest or smallest of the elements that a mask chooses",
    "Where it chooses none, NumPy raises, and here that is known only when the loops have run.",
    "Say what it is then, `np.max(np.where(A > 3, A, -np.inf))`, or keep the best in a loop: `if A[i] > 3: ...`.",
)
PLACES = Refusal(
    "An array as a subscript",
    "For NumPy it holds truth values or places, as its type says: elements and rows at places may be read and set, "
    "where a call or the head of the function tells it, `def f(x, m: 'int64[:]')`.",
    "Where it chooses elements, write `A[m[:] != 0] = ...`, or `if m[i]:` in a loop; where it holds places, write the "
    "loop with `A[m[i]]`.",
)
COMPUTED_PLACES = Refusal(
    "Setting elements at computed places to what is computed of the same array",
    "NumPy computes all values before it stores the first, since a place may be there twice, and how many there are "
    "is told by no array.",
    "Make an array of the places on a line before: `at = (idx + 1) % n`, `x[at] += 1.0`.",
)
MASK = Refusal(
    "A truth value as a subscript",
    "For NumPy it is a mask that chooses elements, and nothing says that arrays are compared here.",
    "Say so where they are: `a[m[:] != 0] = 0.0`. For one element use `if`.",
)

COMPARED_WITH_NONE = Refusal(
    "This comparison with None",
    "Whether an argument is None is known from a call, as long as no loop or condition before may have assigned it; "
    "nothing else can be None.",
    "Ask at the beginning of the function, `if w is None: w = 1.0`, and compare numbers with `==`.",
)

ASSERTED_DATA = Refusal(
    "This `assert`, which asks for more than sizes,",
    "Sizes are compared before anything runs; other numbers and elements are looked at only in the loops, which "
    "nothing may leave.",
    "Ask for it in a function that calls this one: `def checked(A, x): assert x < 1; return f(A, x)`.",
)

STATEMENTS: dict[type[ast.AST], Refusal] = {
    ast.Continue: Refusal(
        "This `continue`",
        "Each condition that may lead to one doubles what follows, and there are too many here.",
        "Put the rest of the body under one `if`.",
    ),
    ast.Try: Refusal("`try`", "Exceptions leave a loop at a point that no schedule can keep.", _OUTSIDE),
    ast.Raise: Refusal("This `raise`", _EXCEPTION, _GUARD),
    ast.Assert: Refusal("This `assert`", _EXCEPTION, _GUARD),
    ast.With: Refusal("`with`", "A context manager runs code with side effects.", _OUTSIDE),
    ast.AsyncFor: Refusal("`async for`", _LOOP_COUNT, _WRITE_LOOP),
    ast.AsyncWith: Refusal("`async with`", "A context manager runs code with side effects.", _OUTSIDE),
    ast.FunctionDef: Refusal(
        "This nested function",
        "One that is only called, behind its definition at the beginning of a line of the function, takes the place of "
        "its calls; this one is used otherwise, or has more than plain arguments, assignments, `if` and `return`.",
        "Call it by its own name and pass it numbers and arrays, or write its statements where it is called.",
    ),
    ast.AsyncFunctionDef: Refusal(
        "`async def`", "It runs interleaved with other code.", "Write a plain function."
    ),
    ast.ClassDef: Refusal("`class`", _NUMBERS, _OUTSIDE),
    ast.Global: Refusal(
        "`global`", "A function may change only its arguments and what it returns.", "Pass it and return it."
    ),
    ast.Nonlocal: Refusal(
        "`nonlocal`",
        "A function may change only its arguments and what it returns.",
        "Pass it and return it.",
    ),
    ast.Delete: Refusal("`del`", "Arrays live until the end of the function.", "Leave it out."),
    ast.Match: Refusal("`match`", "Only `if` can be analysed.", "Write `if` / `elif` / `else`."),
    ast.Import: Refusal("An import inside a function or loop", "It is no computation.", "Import at the top."),
    ast.ImportFrom: Refusal(
        "An import inside a function or loop", "It is no computation.", "Import at the top."
    ),
}

EXPRESSIONS: dict[type[ast.AST], Refusal] = {
    ast.ListComp: Refusal(
        "A list comprehension",
        _NUMBERS,
        "Write a loop that fills an array; `[f(i) for i in range(n)]` is read where only its elements, `len` and "
        "`np.array` of it are asked for.",
    ),
    ast.SetComp: Refusal("A set comprehension", _NUMBERS, "Write a loop that fills an array."),
    ast.DictComp: Refusal("A dictionary comprehension", _NUMBERS, "Write a loop that fills an array."),
    ast.GeneratorExp: Refusal(
        "A generator expression", _NUMBERS, "Write a loop that accumulates into a scalar."
    ),
    ast.Lambda: Refusal(
        "`lambda`",
        "It may be called at any time.",
        "Give it a name, `f = lambda x: ...`, and only call it, or write the expression where it is used.",
    ),
    ast.NamedExpr: Refusal("`:=`", "An assignment inside an expression hides a statement.", _ONE_ASSIGNMENT),
    ast.Await: Refusal("`await`", "It runs interleaved with other code.", "Write a plain function."),
    ast.Yield: Refusal(
        "`yield`", "A generator stops in the middle of a loop.", "Store the values in an array."
    ),
    ast.YieldFrom: Refusal(
        "`yield from`", "A generator stops in the middle of a loop.", "Store the values in an array."
    ),
    ast.Dict: Refusal("A dictionary", _NUMBERS, "Use arrays or separate variables."),
    ast.Set: Refusal("A set", _NUMBERS, "Use arrays."),
    ast.List: Refusal("A list", _NUMBERS, f"Use a NumPy array that is made before the loops; {_LISTED}"),
    ast.Tuple: Refusal("A tuple used as a value", _NUMBERS, "Use separate variables."),
    ast.JoinedStr: Refusal("A formatted string", _NUMBERS, _OUTSIDE),
    ast.Slice: Refusal("A slice", ELEMENTS, "Write the loop over these elements: `for j in range(...)`."),
    ast.Starred: Refusal(
        "A starred expression", "The number of values has to be visible.", "Write each value."
    ),
}

OPERATORS: dict[type[ast.AST], Refusal] = {
    ast.MatMult: Refusal(
        "`@`",
        ELEMENTS,
        "Say how many dimensions both have: `A[:, :] @ x[:]`, or `def f(A: 'float64[:, :]', x: 'float64[:]')`. Give a "
        "factor that is computed a name on a line before.",
    ),
    ast.In: Refusal("`in`", _NUMBERS, "Write each number, `x in (1, 2)`, or compare with `==`."),
    ast.NotIn: Refusal("`not in`", _NUMBERS, "Write each number, `x not in (1, 2)`, or compare with `!=`."),
    ast.Is: Refusal("`is`", "Identity means nothing for numbers.", "Compare with `==`."),
    ast.IsNot: Refusal("`is not`", "Identity means nothing for numbers.", "Compare with `!=`."),
}


def index_refusal(
    index: ast.expr, is_array: Callable[[str], bool], masks: Container[str] = ()
) -> Refusal | None:
    """Why ``index`` is no subscript of one element; None where it may be one. ``masks`` hold truth values.

    >>> index_refusal(ast.parse("a > 3", mode="eval").body, {"a"}.__contains__) is SELECTION
    True
    """
    if isinstance(index, ast.Slice):
        return SLICE
    constant = index.value if isinstance(index, ast.Constant) else 0
    if constant is Ellipsis or constant is None:
        what = "`...`" if constant is Ellipsis else "A new axis"
        return Refusal(what, ELEMENTS, "Write the loop over these elements.")
    if isinstance(index, ast.Name) and is_array(index.id):
        return SELECTION if index.id in masks else PLACES
    operands = [index.left, *index.comparators] if isinstance(index, ast.Compare) else []
    return SELECTION if any(isinstance(one, ast.Name) and is_array(one.id) for one in operands) else None


def statement_refusal(node: ast.AST) -> Refusal | None:
    """Why a statement of this kind is refused; None when there is more to look at."""
    kind: type[ast.AST] = ast.Try if isinstance(node, ast.TryStar) else type(node)
    return STATEMENTS.get(kind)


def operator_refusal(operator: ast.AST, *operands: ast.expr) -> Refusal | None:
    """Why an operator is refused; None for those of numbers."""
    if isinstance(operator, ast.Is | ast.IsNot) and any(ast.unparse(one) == "None" for one in operands):
        return COMPARED_WITH_NONE
    return OPERATORS.get(type(operator))
