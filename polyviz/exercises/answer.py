"""What a student handed in: moves, an order, an edit or loops written anew, in one form that goals can judge."""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import islpy as isl

from polyviz.analysis import check
from polyviz.analysis import dependences as find_dependences
from polyviz.api.building import choose_schedule
from polyviz.api.editing import replay
from polyviz.api.extracting import extract
from polyviz.editing import Edit
from polyviz.editing.script import START, as_python, read_script, replay_lines
from polyviz.errors import LegalityError, OptionError, PolyvizError, Span
from polyviz.model.dependences import Legality
from polyviz.model.registry import near
from polyviz.model.schedule import Schedule
from polyviz.transform.registry import moves

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

    from polyviz.editing.script import Call
    from polyviz.model.dependences import Dependences
    from polyviz.model.scop import Scop

Kind = Literal["moves", "order", "loops"]

FORMS = (  # nothing in it may be the answer to an exercise of the course
    'An answer is moves, one per line, such as shift(at="i", amount=1); an order in isl notation, such as '
    "{ S0[i, j] -> [i, j] }; a name or expression for an edit or a schedule; or loops in plain Python."
)

_WHOLE_ARRAYS = (
    "Write loops over the elements, one `for` inside the other. An assignment to a whole array is read where all "
    "subscripts are written out, as in A[:, :] = 0.0."
)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that could be read.

    ``given`` is the exercise's own part (None where it asks for loops), ``scop`` the part that ``schedule`` orders: the
    same one, or that of loops written anew. ``schedule`` is None for an order that ``legality`` refuses. ``text`` is
    the answer in a form that can be checked again without the notebook, ``note`` says which move was refused.
    """

    kind: Kind
    text: str
    given: Scop | None
    scop: Scop
    dependences: Dependences
    legality: Legality
    schedule: Schedule | None
    sizes: Mapping[str, int]
    note: str = ""


def is_blank(text: str) -> bool:
    """Whether an answer holds nothing but comments.

    >>> is_blank("# your answer here\\n\\n")
    True
    """
    return all(not line.strip() or line.lstrip().startswith("#") for line in text.splitlines())


def read_answer(
    text: str, given: Scop | None, sizes: Mapping[str, int], namespace: MutableMapping[str, Any] | None = None
) -> Answer:
    """The answer that ``text`` is; ``namespace`` is the notebook, without which no Python is executed.

    Raises PolyvizError with the line where the text cannot be read, and LegalityError for a move that is refused.
    """
    text = as_python(textwrap.dedent(text))
    if _is_isl(text):
        return _ordered(_isl_part(text), _needed(given), sizes)
    body = _parsed(text)
    if any(isinstance(node, ast.For | ast.FunctionDef) or _assigns_elements(node) for node in body):
        return _loops(text, given, sizes)
    if _is_script(body):
        return _scripted(_whole(text, body), _needed(given), sizes)
    _insist_on_moves(body, namespace)
    return _named(text, body, _needed(given), sizes, namespace)


def _is_isl(text: str) -> bool:
    return re.match(r"(\{|\[[^\]]*\]\s*->|\"?domain\"?\s*:)", _isl_part(text)) is not None


def _isl_part(text: str) -> str:
    """The text without the comments of Python in front."""
    lines = text.splitlines()
    while lines and is_blank(lines[0]):
        lines.pop(0)
    return "\n".join(lines).strip()


def _needed(given: Scop | None) -> Scop:
    if given is None:
        raise OptionError("This exercise asks for loops: write them out, one `for` inside the other.")
    return given


def _parsed(text: str) -> list[ast.stmt]:
    try:
        return ast.parse(text).body
    except ValueError as error:
        raise OptionError(f"The answer cannot be read: {error}.", hint=FORMS) from None
    except SyntaxError as error:
        line, column = error.lineno or 1, max(1, error.offset or 1)
        raise OptionError(
            f"The answer is no valid Python, nor isl: {error.msg} (line {line}).",
            span=Span(line, column, line, column + 1),
            text=text,
            hint=FORMS,
        ) from None


def _calls(body: list[ast.stmt]) -> list[str]:
    """The names called when ``body`` is nothing but calls of names, else nothing."""
    calls = [node.value for node in body if isinstance(node, ast.Expr)]
    names = [call.func.id for call in calls if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)]
    return names if len(names) == len(body) else []


def _assigns_elements(node: ast.stmt) -> bool:
    """Whether ``node`` assigns to elements, as ``A[i, :] = 0.0``: loops, in a shorter form."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return isinstance(node, ast.Assign | ast.AugAssign) and any(isinstance(one, ast.Subscript) for one in targets)


def _is_script(body: list[ast.stmt]) -> bool:
    known = {START, *(name.replace("-", "_") for name in moves())}
    return bool(set(_calls(body)) & known)


def _insist_on_moves(body: list[ast.stmt], namespace: Mapping[str, Any] | None) -> None:
    """Calls of names that nobody knows are moves with a slip of the pen."""
    for name in _calls(body):
        if name not in (namespace or {}) and not hasattr(builtins, name):
            known = [move.replace("-", "_") for move in moves()]
            raise OptionError(
                f"There is no move `{name}`{near(name, known)}; the moves are {', '.join(known)}."
            )


def _whole(text: str, body: list[ast.stmt]) -> str:
    """A script of moves alone begins with the order as written; its lines keep their numbers in messages."""
    return text if _calls(body)[0] == START else f'{START}("original"); {text.lstrip()}'


def _scripted(script: str, given: Scop, sizes: Mapping[str, int]) -> Answer:
    """The order after all moves; a move that would change the result ends it, with the pair that shows it."""
    calls = list(read_script(script))
    edit = replay(given, ast.unparse(ast.parse(script).body[0]))
    for call in calls[1:]:
        try:
            edit = replay_lines(edit, [call])
        except LegalityError as error:
            refused = _refused(edit, call)
            if not refused.violations:
                raise
            return replace(
                _moved(edit, sizes), text=script, legality=refused, schedule=None, note=error.message
            )
    return _moved(edit, sizes)


def _refused(edit: Edit, call: Call) -> Legality:
    return edit.check(call.name, **call.words)


def _moved(edit: Edit, sizes: Mapping[str, int]) -> Answer:
    return Answer(
        "moves",
        edit.script(),
        edit.scop,
        edit.scop,
        edit.dependences,
        Legality(),
        edit.schedule,
        sizes,
    )


def _ordered(order: Any, scop: Scop, sizes: Mapping[str, int]) -> Answer:
    known = find_dependences(scop)
    held = getattr(order, "schedule", order)  # asked once: what is judged is what was checked
    legality = check(scop, held, known=known)
    schedule = choose_schedule(scop, known, held, {}) if legality else None
    text = str(held.tree) if isinstance(held, Schedule) else str(held)
    return Answer("order", text, scop, scop, known, legality, schedule, sizes)


def _loops(text: str, given: Scop | None, sizes: Mapping[str, int]) -> Answer:
    scop = extract(text)
    if given is not None:
        _insist_on_names(scop, given)
    known = find_dependences(scop)
    order = choose_schedule(scop, known, "original", {})
    return Answer("loops", text, given, scop, known, Legality(), order, sizes)


def _insist_on_names(scop: Scop, given: Scop) -> None:
    ours = {array.name for array in given.arrays} | {parameter.name for parameter in given.parameters}
    theirs = {argument.name for argument in scop.arguments}
    strangers = sorted(theirs - ours)
    if strangers:
        raise OptionError(
            f"The loops take `{strangers[0]}`, which the exercise does not have.",
            reason=f"Its names are {', '.join(sorted(ours))}.",
            hint="Is this the answer to another exercise? Keep the names of arrays and sizes.",
        )


def _named(
    text: str,
    body: list[ast.stmt],
    given: Scop,
    sizes: Mapping[str, int],
    namespace: MutableMapping[str, Any] | None,
) -> Answer:
    if _assigns_array(body[-1], given):
        raise OptionError(
            f"`{ast.unparse(body[-1])}` cannot be read as loops: its arrays have no subscripts.", hint=_WHOLE_ARRAYS
        )
    value = _value(text, body, namespace)
    if isinstance(value, str):
        return read_answer(value, given, sizes)
    scop = getattr(value, "scop", None)
    if scop is not None and not scop.domain.is_equal(given.domain):
        raise OptionError(
            f"This orders other loops than those of the exercise: `{_spoken(scop)}`.",
            hint=f"Begin with the exercise's own loops: `{_spoken(given)}`.",
        )
    if isinstance(value, Edit):
        return _moved(replay(given, value.script()), sizes)
    if isinstance(value, Schedule | isl.Schedule | isl.UnionMap) or hasattr(value, "schedule"):
        return _ordered(value, given, sizes)
    raise OptionError(f"The answer is a value of type {type(value).__name__}, which is no order.", hint=FORMS)


def _assigns_array(node: ast.stmt, given: Scop) -> bool:
    """Whether ``node`` computes an array of the exercise as a whole, as ``C += A``."""
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    arrays = {array.name for array in given.arrays}
    return isinstance(node, ast.Assign | ast.AugAssign) and any(
        isinstance(target, ast.Name) and target.id in arrays for target in targets
    )


def _spoken(scop: Scop) -> str:
    return " ".join(scop.statements[0].source.split())


def _value(text: str, body: list[ast.stmt], namespace: MutableMapping[str, Any] | None) -> object:
    """The value of the last expression, after the statements before it, as in any cell."""
    last = body[-1]
    if not isinstance(last, ast.Expr):
        raise OptionError("The answer ends without a value.", hint=FORMS)
    if namespace is None:
        raise OptionError("The answer is the value of an expression, which only its notebook knows.")
    place: Any = namespace
    try:
        exec(compile(ast.Module(body[:-1], []), "<answer>", "exec"), place)
        return eval(compile(ast.Expression(last.value), "<answer>", "eval"), place)
    except PolyvizError:
        raise
    except Exception as error:
        raise OptionError(
            f"The answer stopped with {type(error).__name__}: {error}.",
            hint=FORMS,
            text=text,
        ) from error
