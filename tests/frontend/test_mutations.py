"""Programs with one part replaced by something out of place are extracted or refused, never anything else."""

from __future__ import annotations

import ast
import copy
import random
from pathlib import Path

import pytest

from polyviz.errors import PolyvizError
from polyviz.frontend import extract
from tests.frontend.test_programs import PROGRAMS

FILES = sorted((Path(__file__).parent.parent / "must_fail").glob("*.py"))
STRANGERS = """
A[1:2] | None | 's' | (1, 2) | [1] | {} | lambda q: q | f(A) | A | n | -1 | 1.5 | 1j | True | A.shape | A.shape[0]
len(A) | np.zeros(n) | range(n) | A[i][j] | not n | n ** -1 | n / 2 | 10 ** 30 | i < j < n | max(1) | min() | A[-1]
A[n] | n % 0 | n // 0 | ~i | i if n else A | A.T | np.pi | np | A.size | zzz | abs(i, j) | int('3') | ... | f'{n}'
i @ j | i is n | n in A | A[0.5] | A[None] | A() | A.foo() | A.shape[i] | A.shape[9] | len(n) | np.zeros_like(A)
print(n) | 2 ** n | n << i | A[idx] | (y := 3) | [q for q in A] | A[i, ...] | -A | i * j | i / j | n or i | A.real
"""
EXPRESSIONS = [
    ast.parse(text.strip(), mode="eval").body
    for text in STRANGERS.replace("\n", "|").split("|")
    if text.strip()
]


def trees() -> list[ast.Module]:
    texts = [text for text, _ in PROGRAMS.values()]
    texts += [path.read_text(encoding="utf-8") for path in FILES if path.stem != "syntax_error"]
    return [ast.parse(text) for text in texts]


class Replacement(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def mutated(tree: ast.Module, statements: list[ast.stmt], chance: random.Random) -> str:
    tree = copy.deepcopy(tree)
    parts = list(ast.walk(tree))
    if chance.random() < 0.7:
        places = [part for part in parts if isinstance(part, ast.expr) and not hasattr(part, "ctx")]
        places += [part for part in parts if isinstance(getattr(part, "ctx", None), ast.Load)]
        # The inside of a formatted string is no place for arbitrary expressions.
        inside = {id(part) for text in parts if isinstance(text, ast.JoinedStr) for part in ast.walk(text)}
        places = [part for part in places if id(part) not in inside]
        new: ast.AST = chance.choice(EXPRESSIONS)
    else:
        places = [
            part for part in parts if isinstance(part, ast.stmt) and not isinstance(part, ast.FunctionDef)
        ]
        new = chance.choice(statements)
    if places:
        tree = Replacement(chance.choice(places), copy.deepcopy(new)).visit(tree)
    return ast.unparse(ast.fix_missing_locations(tree))


def outcomes(count: int, seed: int) -> tuple[int, int]:
    """How many of ``count`` mutated programs are extracted and how many refused; anything else propagates."""
    chance, sources = random.Random(seed), trees()
    statements = [part for tree in sources for part in ast.walk(tree) if isinstance(part, ast.stmt)]
    statements = [part for part in statements if not isinstance(part, ast.FunctionDef)]
    extracted = refused = 0
    for _ in range(count):
        text = mutated(chance.choice(sources), statements, chance)
        try:
            extract(text)
            extracted += 1
        except PolyvizError as error:
            assert error.hint, text
            assert "polyhedral library" not in error.message, text
            refused += 1
    return extracted, refused


@pytest.mark.slow
def test_few() -> None:
    extracted, refused = outcomes(300, seed=1)
    assert extracted > 20
    assert refused > 100


@pytest.mark.slow
def test_many() -> None:
    assert sum(outcomes(4000, seed=2)) == 4000
