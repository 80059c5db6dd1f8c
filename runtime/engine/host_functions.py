"""Functions of the host that programs call in their middle."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.engine.elements import hand_out
from ipu_mlir.runtime.engine.inputs import as_expected
from ipu_mlir.runtime.engine.turns import Turn, serving
from ipu_mlir.runtime.translator.translation import Stream


class HostFunction:
    """A function of arrays that gives a list of them, called once for each replica in turn.

    Attributes:
        function: None where the host has not said it.
        turn: of the run that calls it.
        who: it, in messages.
    """

    def __init__(self, stream: Stream, function: Callable[..., Any] | None = None) -> None:
        """Let programs call ``function``."""
        self.stream, self.function = stream, function
        self.turn: Turn | None = None
        self.who = f"host function {stream.name!r}"
        self._given = [np.empty((stream.replicas, *spec.shape), spec.dtype) for spec in stream.specs]
        self._found: list[list[np.ndarray]] = []

    def put(self, index: int, value: Any) -> None:
        """Let ``value`` be argument number ``index`` of the next call: of each replica, or one for all of them."""
        self._given[index][...] = value

    def call(self, turn: Turn | None = None) -> None:
        """Call it with copies of what was put.

        Args:
            turn: that the run holds which calls.

        Raises:
            RunError: nobody has said what it does, or what it gives is not what the program takes. Anything that the
                function raises.
        """
        name = self.stream.name
        if self.function is None:
            raise RunError(f"host function {name!r} has no function; give it one with session.serve({name!r}, ...)")
        self._found, self.turn = [], turn
        for replica in range(self.stream.replicas):
            with serving(self):
                found = self.function(*(array[replica].copy() for array in self._given))
            self._found.append(self._checked([] if found is None else found))

    def hand_out(self, index: int, out: np.ndarray) -> None:
        """Write a result of the last call to ``out``; for several replicas that has one row for each."""
        assert self._found, "a function is called before its results are taken"
        hand_out(self._found, index, out)

    def synthetic(self) -> "HostFunction":
        """One that does without the host: it gives zeros."""
        zeros = [np.zeros(spec.shape, spec.dtype) for spec in self.stream.gives]
        return HostFunction(self.stream, lambda *_: zeros)

    def _checked(self, found: Any) -> list[np.ndarray]:
        given = list(found) if isinstance(found, list | tuple) else [found]
        where = f"what host function {self.stream.name!r} gives"
        if len(given) != len(self.stream.gives):
            raise RunError(f"{where} has {len(given)} tensors, expected {len(self.stream.gives)}")
        return [
            as_expected(each, spec, f"{spec.name}, {where},")
            for each, spec in zip(given, self.stream.gives, strict=True)
        ]
