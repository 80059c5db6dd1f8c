"""Replicas that run side by side: where they meet, and what a collective makes of the values that they bring.

Each replica is a machine of its own, in a thread of its own; one of them runs at a time, until all wait at one place.
"""

import threading
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, TypeVar

import numpy as np

from ipu_mlir.dialects.analysis.collectives import Collective
from ipu_mlir.runtime.per_tile.scalar import narrow_floats
from ipu_mlir.runtime.per_tile.scalar.element_types import same_bits
from ipu_mlir.runtime.per_tile.scalar.errors import DivergenceError

Array = np.ndarray[Any, Any]
T = TypeVar("T")


class Meeting:
    """The place where the replicas of one run wait for each other."""

    def __init__(self, replicas: int) -> None:
        self.replicas = replicas
        self._barrier = threading.Barrier(replicas)
        self._turn = threading.Lock()
        self._said: list[tuple[str, Any]] = [("", None)] * replicas
        self._made: Any = None

    def run(self, program: Callable[[int], T]) -> list[T]:
        """The results of ``program`` for each replica.

        Raises:
            whatever ends a replica first; the others end with it.
        """
        found: list[Any] = [None] * self.replicas
        errors: list[BaseException] = []

        def one(replica: int) -> None:
            with self._turn:
                try:
                    with np.errstate(all="ignore"):
                        found[replica] = program(replica)
                        self.together(replica, "the end of the program", None, lambda values: None)
                except threading.BrokenBarrierError:
                    pass  # another one has ended with an error
                except BaseException as error:  # handed to the caller
                    errors.append(error)
                    self._barrier.abort()

        threads = [threading.Thread(target=one, args=(replica,), daemon=True) for replica in range(self.replicas)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]
        return found

    def together(self, replica: int, place: str, value: Any, make: Callable[[list[Any]], T]) -> T:
        """The result of ``make``, called once, for the values that all replicas bring to ``place``.

        Raises:
            DivergenceError: one of them is at another place.
        """
        self._said[replica] = place, value
        self._wait()
        if replica == 0:
            places = [each for each, _ in self._said]
            if other := [number for number, each in enumerate(places) if each != places[0]]:
                raise DivergenceError(
                    f"replica 0 is at {places[0]} while replica {other[0]} is at {places[other[0]]}; all replicas go "
                    "one way"
                )
            self._made = make([each for _, each in self._said])
        self._wait()
        made: T = self._made
        return made

    def _wait(self) -> None:
        self._turn.release()
        try:
            self._barrier.wait()
        finally:
            self._turn.acquire()


def same_way(place: str, decisions: list[Any]) -> None:
    """Refuse control flow that goes different ways.

    Raises:
        DivergenceError: ``decisions`` are not one.
    """
    if other := [number for number, each in enumerate(decisions) if each != decisions[0]]:
        raise DivergenceError(
            f"{place}: replicas go different ways: the control flow of replica 0 says {decisions[0]}, that of replica "
            f"{other[0]} says {decisions[other[0]]}; combine what decides it over all replicas"
        )


def combined(collective: Collective, values: Sequence[Array], narrow: str | None, place: str) -> list[Array]:
    """The value that each replica gets for those that they bring.

    Args:
        narrow: the type of the elements, if NumPy lacks it and they lie in float32.

    Raises:
        DivergenceError: values that the program says are one are not.
    """
    size = collective.size(len(values))
    found: list[Array] = []
    for first in range(0, len(values), size):
        found += _of_group(collective, values[first : first + size], narrow, place)
    return found


def _of_group(collective: Collective, values: Sequence[Array], narrow: str | None, place: str) -> list[Array]:
    size = len(values)
    match collective.kind:
        case "all_reduce":
            return [_reduced(collective.reduction, values, narrow)] * size
        case "all_gather":
            return [np.stack(values)] * size
        case "reduce_scatter":
            whole = _reduced(collective.reduction, values, narrow)
            block = -(-len(whole) // size)
            padded = np.concatenate([whole, np.zeros(block * size - len(whole), whole.dtype)])
            return list(padded.reshape(size, block))
        case "all_to_all":
            blocks = [np.split(value, size, collective.split) for value in values]
            return [np.concatenate([each[replica] for each in blocks], collective.concat) for replica in range(size)]
        case "broadcast":
            return [values[collective.root]] * size
        case "assume_equal":
            for number, value in enumerate(values):
                if not same_bits(value, values[0]).all():
                    raise DivergenceError(
                        f"{place}: ipu.assume_equal says that replicas have one value, but those of replica 0 and "
                        f"replica {number} of a group differ"
                    )
            return list(values)


_COMBINE: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "mean": np.add,
    "square_add": np.add,
    "mul": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.logical_and,
    "or": np.logical_or,
}


def _reduced(reduction: str, values: Sequence[Array], narrow: str | None) -> Array:
    """All values combined in order: floats of fewer bits than f32 in f32, and rounded once."""
    dtype = values[0].dtype
    wide = np.dtype(np.float32) if dtype == np.float16 else dtype
    terms = [value.astype(wide) for value in values]
    if reduction == "square_add":
        terms = [term * term for term in terms]
    whole = reduce(_COMBINE[reduction], terms)
    if reduction == "mean":
        whole = whole / wide.type(len(values))
    return np.asarray(narrow_floats.round_to(narrow, whole) if narrow else whole.astype(dtype))
