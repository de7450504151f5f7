"""The arguments of a call by name, as the signature has them; what does not fit is said before anything runs."""

from __future__ import annotations

import inspect
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from polyviz.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from polyviz.model.scop import Scop

_BY_POSITION = inspect.Parameter.POSITIONAL_OR_KEYWORD


class NamedArguments:
    """``signature`` is that of the original function, where known.

    Arguments of it that the part does not have are None: the loops were read for calls in which they are.
    """

    def __init__(self, scop: Scop, signature: inspect.Signature | None = None) -> None:
        self._name = scop.name
        self.signature = signature or _signature(scop)
        kinds = {parameter.kind for parameter in self.signature.parameters.values()}
        read = {argument.name for argument in scop.arguments}
        self._absent = [] if scop.is_cell else [name for name in self.signature.parameters if name not in read]
        is_plain = kinds <= {_BY_POSITION} and not self._absent
        self.positional = tuple(self.signature.parameters) if is_plain else None
        """The names, where all may be given by position; None where they may not, or where some are left out."""

    def of(self, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Mapping[str, Any]:
        """Everything that is given or has a default; raises ArgumentError where the call does not fit."""
        if self.positional is not None and not keywords and len(arguments) == len(self.positional):
            return dict(zip(self.positional, arguments, strict=True))  # the usual call, ten times as fast
        self._check_keywords(keywords)
        try:
            bound = self.signature.bind(*arguments, **keywords)
        except TypeError as error:
            raise ArgumentError(f"{self._name}(): {error}.", hint=f"Its signature is {self.signature}.") from None
        bound.apply_defaults()
        return self._without_absent(bound.arguments)

    def _without_absent(self, named: Mapping[str, Any]) -> Mapping[str, Any]:
        """The arguments that the loops were read for; raises where one of the others is not None."""
        given = [name for name in self._absent if named[name] is not None]
        if given:
            raise ArgumentError(
                f"{self._name}(): the loops were read for calls in which `{given[0]}` is None.",
                hint=f"Leave `{given[0]}` out, or compile the function itself, which is read anew for such calls.",
            )
        return {name: value for name, value in named.items() if name not in self._absent}

    def _check_keywords(self, keywords: Mapping[str, Any]) -> None:
        """Python would first complain of the argument that is missing because its name is misspelled."""
        unknown = [name for name in keywords if name not in self.signature.parameters]
        if unknown:
            near = get_close_matches(unknown[0], self.signature.parameters, 1)
            raise ArgumentError(
                f"{self._name}() has no argument `{unknown[0]}`{f'; did you mean `{near[0]}`?' if near else '.'}",
                hint=f"Its signature is {self.signature}.",
            )


def _signature(scop: Scop) -> inspect.Signature:
    return inspect.Signature(
        [
            inspect.Parameter(
                argument.name,
                _BY_POSITION,
                default=argument.default if argument.has_default else inspect.Parameter.empty,
            )
            for argument in scop.arguments
        ]
    )
