"""The module under construction, and the values in it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.analysis.replicas import VARIES
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.scalar_attributes import scalar_attribute
from ipu_mlir.specs.specs import PerReplica, TensorSpec
from ipu_mlir.specs.tensor_types import element_type, is_of_ml_dtypes, is_supported, part_dtype, sizes_of
from ipu_mlir.tracing.errors import OfOursError, TraceTypeError, TraceValueError
from ipu_mlir.tracing.user_places import Place, user_place

builtin, func, arith = upstream("builtin"), upstream("func"), upstream("arith")
tensor_dialect = upstream("tensor")


if TYPE_CHECKING:  # the types of NumPy's functions know nothing of __array_function__, which lets them take tensors
    from typing import Any as _Array
else:
    _Array = object


class Symbol(_Array):
    """A tensor whose values are known only when the program runs.

    Attributes:
        shape: its sizes, all known.
        dtype: its NumPy element type.
        program: the module that it is part of.
        value: the SSA value.
    """

    __slots__ = ("dtype", "program", "shape", "value")

    def __init__(self, trace: "Trace", value: ir.Value, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.program = trace
        self.value = value
        self.shape = shape
        self.dtype = dtype

    def __str__(self) -> str:
        return str(TensorSpec(self.shape, self.dtype))


_CURRENT: ContextVar["Trace | None"] = ContextVar("trace", default=None)


def current_trace() -> "Trace | None":
    """The function that is being traced in this thread; None outside of all."""
    return _CURRENT.get()


def own_trace() -> "Trace | None":
    """``current_trace``, for what functions of other frameworks cannot do.

    Raises:
        OfOursError: one of them is tracing the function.
    """
    found = _CURRENT.get()
    if found is None and _BY_ANOTHER.get():
        raise OfOursError("what only a traced function of ipu_mlir does is called where another framework traces")
    return found


_BY_ANOTHER: ContextVar[bool] = ContextVar("another framework traces", default=False)


@contextmanager
def by_another_framework() -> Iterator[None]:
    """In the block, functions are traced by another framework."""
    before = _BY_ANOTHER.set(True)
    try:
        yield
    finally:
        _BY_ANOTHER.reset(before)


USED_AFTERWARDS = (
    "a traced tensor is used after its function has ended, or in another call; "
    "return it from the function instead of storing it"
)


class Trace:
    """One function of MLIR that grows while the user's Python function runs; or the body of a loop or branch in it.

    Ops are appended where the innermost body that is being traced has its end. Values of outer bodies may be used in
    inner ones, but not the other way round.

    Args:
        name: name of the module.
        entry: name of the function.
        arguments: name and spec of each argument.
        tensor: the class of the values, which knows the operators.
        beside: another function; the new one becomes part of its module.
    """

    def __init__(
        self,
        name: str,
        entry: str,
        arguments: Sequence[tuple[str, TensorSpec]],
        tensor: type[Symbol],
        beside: "Trace | None" = None,
    ) -> None:
        self._tensor = tensor
        self._is_finished = False
        self.knows_of_width = False
        self._context = ipu.context() if beside is None else beside._context
        self.declared: dict[str, Any] = {} if beside is None else beside.declared
        with self._context, _location(self._context, "function", user_place()):
            if beside is None:
                self.module = ir.Module.create()
                self.module.operation.attributes["sym_name"] = ir.StringAttr.get(name)
            else:
                self.module = beside.module
            types = [self.tensor_type(spec.shape, spec.dtype) for _, spec in arguments]
            with ir.InsertionPoint(self.module.body):
                self._function = func.FuncOp(entry, (types, []))
            if any(isinstance(spec, PerReplica) for _, spec in arguments):
                varies = [
                    {VARIES: ir.BoolAttr.get(True)} if isinstance(spec, PerReplica) else {} for _, spec in arguments
                ]
                self._function.operation.attributes["arg_attrs"] = ir.ArrayAttr.get(list(map(ir.DictAttr.get, varies)))
            locations = [ir.Location.name(name) for name, _ in arguments]
            block = ir.Block.create_at_start(self._function.regions[0], types, locations)
        self._end = ir.InsertionPoint(block)
        self._open: list[Trace] = [self]
        self._origins: list[tuple[str, Place]] = []
        self.arguments = [
            tensor(self, value, spec.shape, spec.dtype)
            for value, (_, spec) in zip(block.arguments, arguments, strict=True)
        ]

    def emit(self, name: str) -> AbstractContextManager[None]:
        """Within the block, ops are appended; they carry the user's line and ``name``.

        Raises:
            TraceValueError: the function has ended, and one of its tensors was kept.
        """
        if self._is_finished:
            raise TraceValueError(USED_AFTERWARDS)
        if self._origins:
            scope, place = self._origins[-1]
            return self._emitting(f"{scope}/{name}" if scope else name, place)
        return self._emitting(name, user_place())

    @contextmanager
    def at(self, scope: str, place: Place) -> Iterator[None]:
        """Within the block, ops come from ``place`` of another program, where ``scope`` says which part of it it is."""
        self._origins.append((scope, place))
        try:
            yield
        finally:
            self._origins.pop()

    @contextmanager
    def _emitting(self, name: str, place: Place) -> Iterator[None]:
        with self._open[-1]._end, _location(self._context, name, place):
            yield

    @property
    def context(self) -> ir.Context:
        """Of the module."""
        return self._context

    @property
    def root(self) -> "Trace":
        """The function whose body, or whose body's body, this is."""
        return self._open[0]

    @property
    def block(self) -> ir.Block:
        """The block that ops are appended to at this moment."""
        return self._open[-1]._end.block

    def wrap(self, value: ir.Value, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """A tensor of the user's for an SSA value."""
        return self._tensor(self._open[-1], value, shape, dtype)

    def holds(self, value: Symbol) -> bool:
        """True if ``value`` can be used now: it is of the same function, and of no body that has ended."""
        return value.program._open is self._open and not value.program._is_finished

    def declare(self, name: str, owner: Any, make: Callable[[], None]) -> None:
        """Let ``make`` put what ``owner`` needs into the module, in front of its functions, once.

        Raises:
            TraceValueError: the module has something else of that name.
        """
        if name not in self.declared:
            self.declared[name] = owner
            functions = (op for op in self.module.body.operations if op.operation.name == "func.func")
            with self._context, ir.InsertionPoint(next(functions)), _location(self._context, name, user_place()):
                make()
        elif self.declared[name] is not owner:
            raise TraceValueError(f"the program has {self.declared[name]!r} and {owner!r}; give one another name")

    @contextmanager
    def inside(self, block: ir.Block) -> Iterator[None]:
        """Within the block, ops are appended to ``block``, the body of an op; afterwards none of its values is used."""
        body = copy(self)
        body._end = ir.InsertionPoint(block)
        self._open.append(body)
        try:
            yield
        finally:
            self._open.pop()
            body._is_finished = True

    @contextmanager
    def running(self) -> Iterator[None]:
        """Within the block, this is the function that is being traced."""
        token = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(token)

    def constant(self, array: np.ndarray) -> Any:
        """A tensor with the values of ``array``."""
        with self.emit("constant"):
            type_ = self.tensor_type(array.shape, array.dtype)
            made = arith.constant(type_, dense_attribute(array, type_)) if array.size else no_elements(type_)
            return self.wrap(made, array.shape, array.dtype)

    def finish(self, results: Sequence[Symbol]) -> ir.Module:
        """The module, with a function that returns ``results``; nothing can be added to it any more."""
        self._is_finished = True
        with self._context, self._end, _location(self._context, "return", user_place()):
            func.ReturnOp([result.value for result in results])
            kind = self._function.function_type.value
            self._function.attributes["function_type"] = ir.TypeAttr.get(
                ir.FunctionType.get(kind.inputs, [result.value.type for result in results])
            )
        assert self.module.operation.verify(), "tracing gives IR that verifies"
        return self.module

    @staticmethod
    def tensor_type(shape: Sequence[int], dtype: np.dtype[Any]) -> ir.Type:
        """The MLIR type of a tensor, in the current context.

        Raises:
            TraceValueError: a size is negative. TraceTypeError: programs have no such element type.
        """
        if any(size < 0 for size in shape):
            raise TraceValueError(f"a tensor cannot have the shape {tuple(shape)}; give each size, which is 0 or more")
        if not is_supported(dtype):
            raise TraceTypeError(unsupported_dtype(dtype))
        return ir.RankedTensorType.get(sizes_of(shape, dtype), element_type(dtype))


def no_elements(type_: ir.Type) -> ir.Value:
    """A tensor of a type that has a size of 0, at the current insertion point; whatever it is made of, it is empty."""
    return tensor_dialect.EmptyOp(list(type_.shape), type_.element_type).result


def element_attribute(value: Any, dtype: np.dtype[Any]) -> ir.Attribute:
    """``value`` as an attribute of ``dtype``'s type, a part's where that is complex, in the current context."""
    if dtype.kind == "u":  # MLIR writes the number that has these bits and a sign
        value = np.asarray(value).astype(dtype).view(f"i{dtype.itemsize}")
    return scalar_attribute(element_type(dtype), value)


def supported_dtype(dtype: Any) -> np.dtype[Any]:
    """``dtype`` as an element type.

    Raises:
        TraceTypeError: programs have none such.
    """
    try:
        found = np.dtype(dtype)
    except TypeError as error:
        raise TraceTypeError(f"{dtype!r} names no element type: {error}; use np.float32 or another type") from error
    if not is_supported(found):
        raise TraceTypeError(unsupported_dtype(found))
    return found


def unsupported_dtype(dtype: Any) -> str:
    """The error for an element type that programs cannot have."""
    kind = getattr(dtype, "kind", "")
    way_out = {
        "O": "give an array of numbers",
        "U": "give an array of numbers",
    }.get(kind, "use bool, int8 to int64, uint8 to uint64, float16 to float64, complex64 or a type of ml_dtypes")
    return f"element type {dtype} is not supported; {way_out}"


def _location(context: ir.Context, name: str, place: Place) -> ir.Location:
    """Of what comes from no file, the scope alone; without one, the place of what calls it holds."""
    if not place.file:
        return ir.Location.name(name, context=context) if "/" in name else ir.Location.unknown(context)
    line = ir.Location.file(place.file, place.line, place.column, context=context)
    return ir.Location.name(name, line, context=context)


def dense_attribute(array: np.ndarray, type_: ir.Type) -> ir.Attribute:
    """The values of ``array``, kept once where they are all the same."""
    contiguous = np.ascontiguousarray(array).reshape(array.shape)
    if array.dtype.kind == "c":
        contiguous = array = contiguous.reshape(-1).view(part_dtype(array.dtype)).reshape(*array.shape, 2)
    bits = contiguous.reshape(-1).view(f"u{array.itemsize}")
    if array.size > 1 and (bits == bits[0]).all():
        return ir.DenseElementsAttr.get_splat(type_, element_attribute(array.flat[0], array.dtype))
    if array.dtype.kind == "u" or is_of_ml_dtypes(array.dtype):
        return ir.DenseElementsAttr.get(contiguous.view(f"u{array.itemsize}"), type=type_)
    return ir.DenseElementsAttr.get(contiguous)
