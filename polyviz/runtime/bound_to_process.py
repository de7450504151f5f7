"""What belongs to the process that made it."""

from __future__ import annotations

from pickle import PicklingError
from typing import NoReturn, Self


class BoundToProcess:
    """Something compiled: it cannot be handed to another process, and nobody needs a second one."""

    __name__: str

    def __reduce__(self) -> NoReturn:
        raise PicklingError(
            f"The kernel {self.__name__} cannot be pickled: compile the function where it is to run."
        )

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self
