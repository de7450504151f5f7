"""How long a helper is as one expression, where a value that is used again is written again."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from polyviz.frontend.helper_calls import given_values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Helpers = Callable[[ast.Call], ast.FunctionDef | None]


def written_size(helper: ast.FunctionDef, sizes: Mapping[str, int], helper_of: Helpers) -> int:
    """The operations and values of ``helper`` as one expression, with all that it calls; ``sizes`` are those of its
    parameters.

    >>> helper = ast.parse("def f(x):\\n y = x * x\\n z = y + y\\n return z * z").body[0]
    >>> written_size(helper, {"x": 1}, lambda call: None)
    15
    """
    sizes_of = _Sizes(dict(sizes), helper_of)
    sizes_of.run(helper.body)
    return sizes_of.returned


def call_size(call: ast.Call, helper: ast.FunctionDef, helper_of: Helpers) -> int:
    """The size of what ``call`` of ``helper`` stands for."""
    return _Sizes({}, helper_of).of_call(call, helper)


class _Sizes:
    """Follows the statements of a helper; ``values`` are the sizes of its names so far."""

    def __init__(self, values: dict[str, int], helper_of: Helpers) -> None:
        self.returned = 0
        self._values = values
        self._helper_of = helper_of

    def run(self, body: Sequence[ast.stmt]) -> None:
        """Count what ``body`` assigns and returns; what follows an arm that returns is counted once."""
        for node in body:
            match node:
                case ast.Assign(targets=targets, value=value):
                    self._assign(targets, value)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    self._values[name] = self._of(value)
                case ast.AugAssign(target=ast.Name(id=name), value=value):
                    self._values[name] = 1 + self._values.get(name, 1) + self._of(value)
                case ast.If():
                    self._choose(node)
                case ast.Return(value=ast.expr() as value):
                    self.returned += self._of(value)

    def of_call(self, call: ast.Call, helper: ast.FunctionDef) -> int:
        """The size of ``call`` of ``helper``, or of its text where that does not fit."""
        given = given_values(helper, call)
        if given is None:
            return 1 + sum(map(self._of, call.args))
        return written_size(
            helper, {name: self._of(value) for name, value in given.items()}, self._others(helper)
        )

    def _others(self, helper: ast.FunctionDef) -> Helpers:
        """The helpers but ``helper``: one that calls itself is refused elsewhere."""

        def other(call: ast.Call) -> ast.FunctionDef | None:
            found = self._helper_of(call)
            return None if found is None or found.name == helper.name else found

        return other

    def _assign(self, targets: Sequence[ast.expr], value: ast.expr) -> None:
        for target in targets:
            pairs = [(target, value)]
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                pairs = list(zip(target.elts, value.elts, strict=False))
            found = {one.id: self._of(part) for one, part in pairs if isinstance(one, ast.Name)}
            self._values |= found

    def _choose(self, node: ast.If) -> None:
        test, before, ends = self._of(node.test), self._values, list[dict[str, int]]()
        for arm in (node.body, node.orelse):
            self._values = dict(before)
            self.run(arm)
            ends.append(self._values)
        then, otherwise = ends
        self.returned += test if self.returned else 0
        both = {name: 1 + test + then.get(name, 1) + otherwise.get(name, 1) for name in {*then, *otherwise}}
        changed = {name for name in both if then.get(name) != otherwise.get(name)}
        self._values = {**then, **{name: both[name] for name in changed}}

    def _of(self, node: ast.AST) -> int:
        if isinstance(node, ast.Name):
            return self._values.get(node.id, 1)
        if isinstance(node, ast.Call):
            helper = self._helper_of(node)
            if helper is not None:
                return self.of_call(node, helper)
        parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
        return 1 + sum(map(self._of, parts))
