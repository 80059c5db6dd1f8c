"""Bodies of loops and branches: functions traced into blocks of their own, before there is the op that has them."""

import contextlib
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.specs.specs import TensorSpec
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.graph import USED_AFTERWARDS, Symbol, Trace, current_trace
from ipu_mlir.tracing.holders import Holder
from ipu_mlir.tracing.operands import tensor, with_numbers
from ipu_mlir.tracing.structure import Structure, flatten, is_number, leaves_like, paths, unflatten
from ipu_mlir.tracing.widths import WIDE, warn_of_width

_DEFAULT = {
    bool: np.dtype(np.bool_),
    int: np.dtype(np.int32),
    float: np.dtype(np.float32),
    complex: np.dtype(np.complex64),
}


@dataclass(frozen=True)
class Tree:
    """Tensors nested in tuples, lists, dicts and dataclasses, as a loop carries them or a branch gives them.

    Attributes:
        leaves: traced tensors; numbers of Python's own, whose element type follows from what they meet.
    """

    structure: Structure
    leaves: tuple[Any, ...]

    @property
    def paths(self) -> list[str]:
        return paths(self.structure)

    def nested(self, leaves: Sequence[Any]) -> Any:
        """``leaves`` in the place of these."""
        return unflatten(self.structure, iter(leaves))

    def like(self, returned: Any, path: str) -> "Tree":
        """The tree of what a body has returned, which has to be nested as this.

        Raises:
            TraceTypeError: it is not; names the first place.
        """
        found = tuple(_leaf(each) for each in leaves_like(self.structure, returned, path))
        return Tree(self.structure, found)


def tree(value: Any, path: str) -> Tree:
    """``value`` as a tree; arrays become constants of the program."""
    structure, leaves = flatten(value, path, is_number)
    return Tree(structure, tuple(map(_leaf, leaves)))


def _leaf(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(value)
    if isinstance(value, Symbol) and not (current_trace() or value.trace).holds(value):
        raise TraceValueError(USED_AFTERWARDS)
    if isinstance(value, TensorSpec):
        raise TraceTypeError(f"{value} is a spec; loops and branches carry tensors")
    return value


def is_weak(leaf: Any) -> bool:
    """True if ``leaf`` is a Python number: its element type is that of what it meets."""
    return type(leaf) in _DEFAULT


def spec_of_leaf(leaf: Any) -> TensorSpec:
    """Shape and element type of a leaf; a Python number by itself is an int32, a float32, a complex64 or a bool."""
    return TensorSpec((), _DEFAULT[type(leaf)]) if is_weak(leaf) else TensorSpec(leaf.shape, leaf.dtype)


def stacked(leaves: Sequence[Any], axis: int = 0) -> np.ndarray[Any, Any]:
    """Leaves that are known, one upon another."""
    return np.stack([np.asarray(leaf, spec_of_leaf(leaf).dtype) for leaf in leaves], axis)


def values_of(trace: Trace, leaves: Sequence[Any], specs: Sequence[TensorSpec]) -> list[ir.Value]:
    """The leaves as SSA values of the types of ``specs``, which they have, or can have if they are Python numbers."""
    return [
        leaf.value
        if isinstance(leaf, Symbol)
        else tensor(trace, leaf, spec.dtype).value
        if is_weak(leaf)
        else trace.constant(leaf).value
        for leaf, spec in zip(leaves, specs, strict=True)
    ]


def meets(leaf: Any, spec: TensorSpec) -> bool:
    """True if ``leaf`` has the shape and type ``spec``, or can become one of it as a Python number."""
    if is_weak(leaf):
        return spec.shape == () and np.result_type(*with_numbers([spec.dtype, leaf])) == spec.dtype
    return spec_of_leaf(leaf) == spec


def call(name: str, function: Callable[..., Any], *args: Any) -> Any:
    """``function(*args)``, for what users know as ``name``.

    Raises:
        TraceTypeError: the function takes other arguments.
    """
    with contextlib.suppress(ValueError):  # Python does not know what some functions of C take
        try:
            inspect.signature(function).bind(*args)
        except TypeError as error:
            shown = getattr(function, "__name__", repr(function))
            raise TraceTypeError(f"{name} calls {shown} with {counted(len(args), 'argument')}: {error}") from error
    return function(*args)


def spread(function: Callable[..., Any], args: Sequence[Any]) -> Sequence[Any]:
    """``args``; the elements of the last one, a tuple, in its place where ``function`` takes so many, and not it."""

    def takes(given: Sequence[Any]) -> bool:
        with contextlib.suppress(TypeError, ValueError):
            inspect.signature(function).bind(*given)
            return True
        return False

    if not args or not isinstance(args[-1], tuple) or takes(args):
        return args
    each = [*args[:-1], *args[-1]]
    return each if takes(each) else args


class Body(Holder):
    """A block that a Python function of the user's fills.

    Args:
        name: of the op that it will belong to.
        specs: of the tensors that it takes.
        holder: holds it until then, as of ``Holder``.
    """

    def __init__(
        self, trace: Trace, name: str, specs: Sequence[TensorSpec] = (), *holder: Callable[[], ir.OpView]
    ) -> None:
        self._trace, self._name, self._specs = trace, name, specs
        with trace.emit(name):
            super().__init__(*holder)
            self._first = len(self.block.arguments)
            for spec in specs:
                self.add_argument(trace.tensor_type(spec.shape, spec.dtype))

    @contextlib.contextmanager
    def traced(self) -> Iterator[list[Any]]:
        """Within the block, ops are appended here; gives the tensors that it takes. If that fails, nothing is left."""
        try:
            with self._trace.inside(self.block):
                arguments = list(self.block.arguments)[self._first :]
                pairs = zip(arguments, self._specs, strict=False)
                yield [self._trace.wrap(value, spec.shape, spec.dtype) for value, spec in pairs]
        except BaseException:
            self.drop()
            raise

    def end(
        self, terminator: Callable[[list[ir.Value]], Any], leaves: Sequence[Any], specs: Sequence[TensorSpec]
    ) -> None:
        """Hand ``leaves``, which become of the types ``specs``, on by ``terminator``."""
        with self.traced():
            values = values_of(self._trace, leaves, specs)
            with self._trace.emit(self._name):
                terminator(values)


def make_op(
    trace: Trace,
    kind: Any,
    operands: Sequence[ir.Value],
    specs: Sequence[TensorSpec],
    bodies: Sequence[Body],
    attributes: dict[str, ir.Attribute] | None = None,
) -> list[Any]:
    """The results of an op of the class ``kind`` with ``bodies``; specs are those of its results."""
    with trace.emit(kind.OPERATION_NAME):
        types = [trace.tensor_type(spec.shape, spec.dtype) for spec in specs]
        op = ir.Operation.create(
            kind.OPERATION_NAME, results=types, operands=list(operands), attributes=attributes, regions=len(bodies)
        )
        for region, body in zip(op.regions, bodies, strict=True):
            body.move_to(region)
        return [trace.wrap(value, spec.shape, spec.dtype) for value, spec in zip(op.results, specs, strict=True)]


def carry_specs(
    name: str, start: Tree, give: Callable[[list[TensorSpec]], tuple[Tree, Body]]
) -> tuple[list[TensorSpec], Tree, Body]:
    """Shapes and types of what a loop carries, what its body gives for them, and that body.

    A Python number that the loop starts from has the type that the body gives; it is traced again with that.

    Args:
        give: traces the body for carried values of some shapes and types.

    Raises:
        TraceTypeError: what the body gives has another shape or type than what it is given.
    """
    specs = [spec_of_leaf(leaf) for leaf in start.leaves]
    trace = current_trace()
    if trace is not None and any(isinstance(leaf, np.ndarray) and leaf.dtype in WIDE for leaf in start.leaves):
        warn_of_width(trace, name, "an array that the loop starts with")
    for last in (False,) * 3 * len(specs) + (True,):
        given, body = give(specs)
        wrong = [place for place, leaf in enumerate(given.leaves) if not meets(leaf, specs[place])]
        if not wrong:
            return specs, given, body
        body.drop()
        place = wrong[0]
        found, first = spec_of_leaf(given.leaves[place]), start.leaves[place]
        if not is_weak(first) or not meets(first, found) or last:
            raise _mismatch(name, start.paths[place], specs[place], found)
        # int32 with float32 is float64, and int8 with float32 is float32: the number is to take part without a say
        meddles = found.dtype.kind == "f" and specs[place] == spec_of_leaf(0)
        specs[place] = TensorSpec((), np.int8) if meddles else found
    raise AssertionError("the last iteration returns or raises")


def _mismatch(name: str, path: str, taken: TensorSpec, given: TensorSpec) -> Exception:
    what = f"{name}: {path} comes in as {taken} and the body gives {given}"
    if taken.shape == given.shape:
        return TraceTypeError(f"{what}; use .astype(np.{taken.dtype}) in it")
    return TraceValueError(f"{what}; all iterations have one shape")
