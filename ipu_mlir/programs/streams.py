"""``Infeed`` and ``Outfeed``: what a program gets from the host and gives to it while it runs."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, count
from typing import Any, Literal

import numpy as np

from ipu_mlir.dialects.ipu import DequeueOp, ElementOp, EnqueueOp, InfeedOp, OutfeedOp, PutOp
from ipu_mlir.dialects.ops.streams import MODES, MOST_PREFETCHED
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.engine import infeeds, outfeeds
from ipu_mlir.specs.specs import TensorSpec, spec_of
from ipu_mlir.specs.tensor_types import as_for_users, as_in_programs
from ipu_mlir.tracing.errors import TraceError, TraceTypeError, TraceValueError
from ipu_mlir.tracing.graph import Trace, own_trace
from ipu_mlir.tracing.operands import tensor
from ipu_mlir.tracing.structure import Structure, flatten, is_number, leaves_like, paths, unflatten

_NUMBERS = count()

Source = Iterable[Any] | Callable[[], Iterable[Any]]
"""Elements; or what gives them, called anew for each session and each time that it begins again."""


class Infeed:
    """A queue of elements from the host: arrays, or tuples, lists and dicts of them, all of one form.

        batches = ipu.Infeed(lambda: ((x[i], y[i]) for i in range(100)), name="batches")

        def step(i, total):
            x, y = batches.dequeue()
            ...

    A thread fetches elements before the program asks for them. Each session begins with the first one, and keeps its
    position from run to run.

    Attributes:
        name: by which sessions know it.
    """

    kind = "infeed"

    def __init__(
        self, source: Source | None = None, *, like: Any = None, prefetch_depth: int = 3, name: str | None = None
    ) -> None:
        """Make a queue.

        Args:
            source: an iterable of elements, or a function that gives one; None where sessions are fed. An iterator can
                be used by one session only.
            like: what an element looks like, with arrays or ``TensorSpec``; without it, the first element is looked at.
            prefetch_depth: how many elements may wait, from 1 to 255.

        Raises:
            TraceTypeError: there is neither a source nor an example, or elements have no tensors.
            TraceValueError: the depth is out of range, or a tensor has a dimension of size 0.
        """
        self.name = f"infeed_{next(_NUMBERS)}" if name is None else name
        if type(prefetch_depth) is not int or not 0 < prefetch_depth <= MOST_PREFETCHED:
            problem = "greater than zero" if prefetch_depth == 0 else f"a number from 1 to {MOST_PREFETCHED}"
            raise TraceValueError(f"infeed {self.name}: prefetch_depth must be {problem}, got {prefetch_depth!r}")
        self._depth, self._source = prefetch_depth, source
        if like is None:
            if source is None:
                raise TraceTypeError(
                    f"infeed {self.name} has neither elements nor like=, which says what they look like"
                )
            like = self._first()
        self.structure, leaves = flatten(like, "element", is_number)
        self.specs = _specs(f"infeed {self.name}", self.structure, leaves)
        self._has_complex = any(spec.dtype.kind == "c" for spec in self.specs.values())
        self.own: infeeds.Infeed | None = None

    def dequeue(self) -> Any:
        """The next element; the program waits for it. In traced functions only."""
        trace = _tracing(f"infeed {self.name} is read")
        trace.declare(self.name, self, lambda: self._make(trace))
        name = ir.FlatSymbolRefAttr
        with trace.emit("dequeue"):
            DequeueOp(queue=name.get(self.name))
        leaves = []
        for index, spec in enumerate(self.specs.values()):
            with trace.emit("dequeue"):
                type_ = trace.tensor_type(spec.shape, spec.dtype)
                op = ElementOp(queue=name.get(self.name), index=_index(index), value=type_)
                leaves.append(trace.wrap(op.operation.results[0], spec.shape, spec.dtype))
        return unflatten(self.structure, iter(leaves))

    def elements(self, source: Source | None = None) -> Callable[[], Iterator[list[Any]]] | None:
        """What gives the tensors of elements in order, from ``source`` or from the queue's own; None if it has none."""
        given = self._source if source is None else source
        return None if given is None else lambda: _Leaves(self, _iterator(self.name, given))

    def leaves_of(self, element: Any) -> list[Any]:
        """The tensors of an element, as programs have them.

        Raises:
            RunError: it is nested otherwise than the others.
        """
        try:
            leaves = leaves_like(self.structure, element, f"an element of infeed {self.name!r}")
        except TraceError as error:
            raise RunError(str(error).removeprefix(f"{error.place}: ")) from error
        if not self._has_complex:
            return leaves
        return [as_in_programs(leaf, spec.dtype) for leaf, spec in zip(leaves, self.specs.values(), strict=True)]

    def _first(self) -> Any:
        iterator = _iterator(self.name, self._source)
        try:
            first = next(iterator)
        except StopIteration as error:
            raise TraceTypeError(f"infeed {self.name} has no elements; say with like= what they look like") from error
        if iterator is self._source:
            self._source = chain([first], iterator)
        return first

    def _make(self, trace: Trace) -> None:
        op = InfeedOp(sym_name=ir.StringAttr.get(self.name), types=_types(trace, self.specs))
        op.operation.attributes["prefetch_depth"] = _index(self._depth)

    def __getstate__(self) -> dict[str, Any]:
        """As another process gets it: at its first element."""
        return {**self.__dict__, "own": None}

    def __repr__(self) -> str:
        return f"<ipu infeed {self.name}: {', '.join(map(str, self.specs.values()))}>"


class Outfeed:
    """A queue of elements for the host, which may read them while the program runs.

        losses = ipu.Outfeed(name="losses")

        def step(i, total):
            losses.enqueue({"loss": loss})

    In mode ``all`` it keeps every element until somebody reads it, and refuses more than 1 GiB of them; in mode
    ``last`` it keeps the last one.

    Attributes:
        name: by which sessions know it.
        mode: ``all`` or ``last``.
        at_once: whether an element goes out in the iteration of a loop that makes it, because the host waits for it
            before it gives the next one to an infeed. With I/O tiles it goes out in the next iteration otherwise.
    """

    kind = "outfeed"

    def __init__(self, mode: Literal["all", "last"] = "all", *, name: str | None = None, at_once: bool = False) -> None:
        self.name = f"outfeed_{next(_NUMBERS)}" if name is None else name
        if mode not in MODES:
            raise TraceValueError(f"outfeed {self.name}: mode is 'all' or 'last', got {mode!r}")
        self.mode = mode
        self.at_once = at_once
        self.structure: Structure | None = None
        self.specs: dict[str, TensorSpec] = {}
        self.own: outfeeds.Outfeed | None = None

    def enqueue(self, element: Any) -> None:
        """Hand an element to the host: tensors, or tuples, lists and dicts of them. In traced functions only.

        Raises:
            TraceTypeError: it has another structure, shape or element type than those before.
        """
        trace = _tracing(f"outfeed {self.name} is written")
        structure, leaves = flatten(element, "element", is_number)
        symbols = [tensor(trace, leaf) for leaf in leaves]
        specs = _specs(f"outfeed {self.name}", structure, symbols)
        if self.structure is None:
            self.structure, self.specs = structure, specs
        if (structure, specs) != (self.structure, self.specs):
            found, known = (", ".join(f"{path} {spec}" for path, spec in each.items()) for each in (specs, self.specs))
            raise TraceTypeError(f"outfeed {self.name} takes {known}, and was given {found}; all elements are alike")
        trace.declare(self.name, self, lambda: self._make(trace))
        queue = ir.FlatSymbolRefAttr
        for index, symbol in enumerate(symbols):
            with trace.emit("enqueue"):
                PutOp(queue=queue.get(self.name), index=_index(index), value=symbol.value)
        with trace.emit("enqueue"):
            EnqueueOp(queue=queue.get(self.name))

    def read(self) -> Any:
        """The elements that functions that were called directly have passed, as ``Session.read``."""
        if self.own is None:
            raise RunError(f"outfeed {self.name!r} has not been written: call a function that does")
        return self.assembled(self.own.read())

    def assembled(self, arrays: list[np.ndarray]) -> Any:
        """``arrays``, one per tensor of an element, in the structure of the elements."""
        assert self.structure is not None, "a queue that was written has a structure"
        specs = self.specs.values()
        leaves = (as_for_users(array, spec.dtype) for array, spec in zip(arrays, specs, strict=True))
        return unflatten(self.structure, leaves)

    def _make(self, trace: Trace) -> None:
        queue = OutfeedOp(
            sym_name=ir.StringAttr.get(self.name),
            types=_types(trace, self.specs),
            mode=ir.StringAttr.get(self.mode),
        )
        if self.at_once:
            queue.operation.attributes["at_once"] = ir.UnitAttr.get()

    def __getstate__(self) -> dict[str, Any]:
        """As another process gets it: empty."""
        return {**self.__dict__, "own": None}

    def __repr__(self) -> str:
        return f"<ipu outfeed {self.name}>"


class _Leaves(Iterator[list[Any]]):
    """The tensors of elements: an element of another form is an error, and the next one is another chance."""

    def __init__(self, queue: Infeed, elements: Iterator[Any]) -> None:
        self._queue, self._elements = queue, elements

    def __next__(self) -> list[Any]:
        return self._queue.leaves_of(next(self._elements))


def _iterator(name: str, source: Any) -> Iterator[Any]:
    given: Any = source() if callable(source) else source
    try:
        return iter(given)
    except TypeError as error:
        raise TraceTypeError(
            f"infeed {name} takes elements from an iterable, or from a function that gives one, not from a "
            f"{type(given).__name__}"
        ) from error


def _tracing(what: str) -> Trace:
    trace = own_trace()
    if trace is None:
        raise TraceTypeError(f"{what} in traced functions; elsewhere a session does: session.feed, session.read")
    return trace


def _specs(what: str, structure: Structure, leaves: list[Any]) -> dict[str, TensorSpec]:
    if not leaves:
        raise TraceTypeError(f"{what}: an element has no tensors; give arrays, or tuples, lists and dicts of them")
    specs = [spec_of(leaf if hasattr(leaf, "dtype") else np.asarray(leaf)) for leaf in leaves]
    for path, spec in zip(paths(structure), specs, strict=True):
        if 0 in spec.shape:
            raise TraceValueError(f"{what}: {path} is {spec}, which has a dimension of size 0; give it its size")
    return dict(zip(paths(structure), specs, strict=True))


def _types(trace: Trace, specs: dict[str, TensorSpec]) -> ir.ArrayAttr:
    kinds = [trace.tensor_type(spec.shape, spec.dtype) for spec in specs.values()]
    return ir.ArrayAttr.get([ir.TypeAttr.get(kind) for kind in kinds])


def _index(number: int) -> ir.IntegerAttr:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)
