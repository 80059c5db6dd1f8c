"""The interpreter of superstep programs: one handler per operation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.dialects.bindings import ir
from ipu_mlir.dialects.errors import CompileError
from ipu_mlir.runtime.per_tile.errors import place_of
from ipu_mlir.runtime.per_tile.exchange import Traffic, run_exchange
from ipu_mlir.runtime.per_tile.family import Family
from ipu_mlir.runtime.per_tile.host import place
from ipu_mlir.runtime.per_tile.lifetimes import values_dying_after
from ipu_mlir.runtime.per_tile.memory import Allocation, TileMemories, View, whole_buffer
from ipu_mlir.runtime.per_tile.races import AccessLog
from ipu_mlir.runtime.per_tile.scalar_ops import SCALAR_OPS
from ipu_mlir.runtime.per_tile.vertices import run_family


@dataclass(frozen=True)
class HeldBytes:
    """Bytes that lived on each tile during one step (an exchange or a compute set), shape (num_tiles,)."""

    location: str
    per_tile: np.ndarray[Any, np.dtype[np.int64]]


class Interpreter:
    """The state of one run: what the values of the program are, and what the tiles hold.

    Attributes:
        memories: the tiles.
        strict: whether reading an element that was never written is an error, or yields its poison.
        traffic: one record per exchange that ran.
        held: one record per step that ran.
    """

    def __init__(self, module: ir.Operation, num_tiles: int, strict: bool) -> None:
        self.memories = TileMemories(num_tiles)
        self.strict = strict
        self.traffic: list[Traffic] = []
        self.held: list[HeldBytes] = []
        self._symbols = {
            ir.StringAttr(op.attributes["sym_name"]).value: op
            for op in module.regions[0].blocks[0].operations
            if "sym_name" in op.attributes
        }
        self._values: dict[ir.Value, Any] = {}
        self._constants: dict[str, View] = {}
        self._live: set[Allocation] = set()
        self._dying: dict[ir.Block, list[list[ir.Value]]] = {}

    def value_of(self, value: ir.Value) -> Any:
        """What ``value`` is now: a ``View`` of a buffer, or a scalar."""
        return self._values[value]

    def bind(self, value: ir.Value, to: Any) -> None:
        self._values[value] = to

    def symbol(self, name: str) -> ir.OpView:
        return self._symbols[name]

    def new_buffer(self, value: ir.Value, writable: bool = True) -> View:
        """A new allocation for the memref ``value``, poisoned; it lives while a value shows it."""
        view = whole_buffer(value, writable)
        self.memories.allocate(view.allocation)
        self._live.add(view.allocation)
        return view

    def constant(self, name: str, value: ir.Value) -> View:
        """The buffer of the ``memref.global`` called ``name``, which holds its value from the first use to the end."""
        if name not in self._constants:
            view = whole_buffer(value, writable=False)
            self.memories.allocate(view.allocation)
            place(_dense_value(self.symbol(name)).reshape(view.shape), view, self.memories)
            self._constants[name] = view
        return self._constants[name]

    def run_block(self, block: ir.Block, arguments: Sequence[Any]) -> list[Any]:
        """Run ``block`` on ``arguments``; answer the values that its terminator hands on."""
        self._values.update(zip(block.arguments, arguments, strict=True))
        if block not in self._dying:
            self._dying[block] = values_dying_after(block)
        handed_on: list[Any] = []
        for op, dying in zip(block.operations, self._dying[block], strict=True):
            if op.operation.name in TERMINATORS:
                handed_on = [self.value_of(value) for value in op.operands]
                self._forget([*dying, *block.arguments])
            else:
                self.run_op(op)
                self._forget(dying)
                self._release_buffers()
        return handed_on

    def run_op(self, op: ir.OpView) -> None:
        """Run one operation of a function."""
        name = op.operation.name
        handler = HANDLERS.get(name)
        if handler is not None:
            handler(self, op)
            return
        results = SCALAR_OPS[name](op)(*(self.value_of(value) for value in op.operands))
        self._values.update(zip(op.results, results if len(op.results) > 1 else [results], strict=True))

    def record_step(self, op: ir.OpView) -> None:
        self.held.append(HeldBytes(place_of(op.location), self.memories.held_bytes.copy()))

    def _forget(self, values: list[ir.Value]) -> None:
        for value in values:
            self._values.pop(value, None)

    def _release_buffers(self) -> None:
        """Take back the memory of the buffers that no value shows any more."""
        shown = {value.allocation for value in self._values.values() if isinstance(value, View)}
        for allocation in self._live - shown:
            self.memories.release(allocation)
        self._live &= shown


def _dense_value(op: ir.OpView) -> np.ndarray[Any, Any]:
    value = op.attributes["initial_value"].maybe_downcast() if "initial_value" in op.attributes else None
    if not isinstance(value, ir.DenseElementsAttr):
        raise CompileError(
            f"{place_of(op.location)}: the constant has no dense value in the program; give it dense<...>"
        )
    return np.asarray(value)


def _alloc(interpreter: Interpreter, op: ir.OpView) -> None:
    interpreter.bind(op.results[0], interpreter.new_buffer(op.results[0]))


def _get_global(interpreter: Interpreter, op: ir.OpView) -> None:
    name = ir.FlatSymbolRefAttr(op.attributes["name"]).value
    interpreter.bind(op.results[0], interpreter.constant(name, op.results[0]))


def _view(interpreter: Interpreter, op: ir.OpView) -> None:
    """A view's type says which elements of its allocation it shows."""
    memref = ir.MemRefType(op.results[0].type)
    strides, offset = memref.get_strides_and_offset()
    if not memref.has_static_shape or ir.ShapedType.get_dynamic_stride_or_offset() in (*strides, offset):
        raise CompileError(f"{place_of(op.location)}: the view has the dynamic type {memref}; make its bounds static")
    allocation = interpreter.value_of(op.operands[0]).allocation
    interpreter.bind(op.results[0], View(allocation, tuple(memref.shape), tuple(strides), offset))


def _exchange(interpreter: Interpreter, op: ir.OpView) -> None:
    source, dest = (interpreter.value_of(value) for value in op.operands)
    interpreter.traffic.append(run_exchange(source, dest, interpreter.memories, op.location))
    interpreter.record_step(op)


def _compute_set(interpreter: Interpreter, op: ir.OpView) -> None:
    families = list(op.regions[0].blocks[0].operations)
    log = AccessLog(len(families))
    for family in families:
        run_family(Family(family, interpreter.value_of), interpreter.memories, log, interpreter.strict)
    interpreter.record_step(op)


VIEWS = ("cast", "collapse_shape", "expand_shape", "reinterpret_cast", "subview", "transpose")

TERMINATORS = frozenset(("func.return",))

HANDLERS: dict[str, Callable[[Interpreter, ir.OpView], None]] = {
    "memref.alloc": _alloc,
    "memref.get_global": _get_global,
    **{f"memref.{view}": _view for view in VIEWS},
    "ipu.exchange": _exchange,
    "ipu.compute_set": _compute_set,
}
