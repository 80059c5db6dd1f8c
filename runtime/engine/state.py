"""What a program keeps between runs: the variables of one session."""

import threading
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.engine.inputs import as_expected
from ipu_mlir.runtime.engine.memory import aligned_bytes
from ipu_mlir.runtime.translator.translate import Variable


class State:
    """The variables of one session, each in memory of its own that programs read and write in place.

    Whoever runs a program on it holds ``turn``: threads take turns.
    """

    def __init__(self, variables: Iterable[Variable]) -> None:
        """Make the variables, with their first values; those of one name are one."""
        self.turn = threading.RLock()
        self.variables: dict[str, Variable] = {}
        self._arrays: dict[str, np.ndarray] = {}
        self._has_value: set[str] = set()
        for variable in variables:
            if variable.name in self.variables:
                continue
            self.variables[variable.name] = variable
            array = aligned_bytes(variable.nbytes).view(variable.held).reshape(variable.shape)
            self._arrays[variable.name] = array
            if variable.initial is not None:
                array[...] = variable.initial
                self._has_value.add(variable.name)

    def memory_of(self, variables: Sequence[Variable]) -> list[np.ndarray]:
        """The memory of ``variables``, for a program that is about to run.

        Raises:
            RunError: one that the program reads has no value yet.
        """
        for variable in variables:
            if variable.is_read and variable.name not in self._has_value:
                raise RunError(_unset(variable.name))
        return [self._arrays[variable.name] for variable in variables]

    def have_values(self, variables: Iterable[Variable]) -> None:
        """A program that has ended gave ``variables`` values, if they had none."""
        self._has_value.update(variable.name for variable in variables)

    def __getitem__(self, name: str) -> np.ndarray:
        """A copy of the value of a variable.

        Raises:
            RunError: there is no such variable, or it has no value yet.
        """
        variable = self._variable(name)
        with self.turn:
            if name not in self._has_value:
                raise RunError(_unset(name))
            return self._arrays[name].astype(variable.dtype)

    def __setitem__(self, name: str, value: Any) -> None:
        """Give a variable a value; ``value`` is copied.

        Raises:
            RunError: there is no such variable, or it has another shape or element type.
        """
        variable = self._variable(name)
        array = as_expected(value, variable, f"the value of variable {name!r}")
        with self.turn:
            self._arrays[name][...] = array
            self._has_value.add(name)

    def has_value(self, name: str) -> bool:
        """Whether variable ``name`` was given a value."""
        return name in self._has_value

    def _variable(self, name: str) -> Variable:
        if name not in self.variables:
            raise RunError(f"there is no variable {name!r}; there are: {', '.join(self.variables) or 'none'}")
        return self.variables[name]


def _unset(name: str) -> str:
    return f"variable {name!r} has no value yet; give it one, or run a function that assigns it"
