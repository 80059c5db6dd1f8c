"""What a traced function knows of the other replicas that run it: its number among them, and collectives."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ipu_mlir.dialects.analysis.collectives import Collective
from ipu_mlir.dialects.ipu import (
    AllGatherOp,
    AllReduceOp,
    AllToAllOp,
    AssumeEqualOp,
    BroadcastOp,
    ReduceScatterOp,
    ReplicaIndexOp,
)
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.specs.specs import PerReplica
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.graph import Symbol, Trace, own_trace
from ipu_mlir.tracing.operands import tensor
from ipu_mlir.tracing.structure import flatten, is_number, unflatten

Reduction = Literal["sum", "mean", "min", "max", "prod", "and", "or", "square_sum"]

_REDUCTIONS = {
    "sum": "add",
    "mean": "mean",
    "min": "min",
    "max": "max",
    "prod": "mul",
    "and": "and",
    "or": "or",
    "square_sum": "square_add",
}
"""The dialect's names for them."""


def per_replica(x: Any) -> Any:
    """Say of an argument to ``compile`` for that each replica gets one of its own.

        exe = ipu.compile(step, args=(ipu.per_replica(ipu.TensorSpec((16, 4))), w), target=ipu.Target(replicas=4))
        exe(np.zeros((4, 16, 4), np.float32), w)

    Args:
        x: what one replica gets, as a ``TensorSpec`` or an example array of any framework; or tuples, lists and dicts
            of them. Arrays that the program is given have one more dimension in front of it, for replicas.
    """
    structure, leaves = flatten(x, "argument", lambda leaf: is_number(leaf) or hasattr(leaf, "dtype"))
    return unflatten(structure, iter(map(_of_each, leaves)))


def _of_each(leaf: Any) -> PerReplica:
    leaf = leaf if hasattr(leaf, "dtype") else np.asarray(leaf)
    kind = getattr(leaf.dtype, "as_numpy_dtype", None) or str(leaf.dtype).removeprefix("torch.")
    return PerReplica(tuple(leaf.shape), kind)


def replica_index() -> Any:
    """The number of the replica that the function runs on, from 0: a tensor of one int32."""
    trace = _tracing("replica_index")
    with trace.emit("replica_index"):
        op = ReplicaIndexOp(index=trace.tensor_type((), np.dtype(np.int32)))
        return trace.wrap(op.operation.results[0], (), np.dtype(np.int32))


def all_reduce(x: Any, op: Reduction = "sum", group: int | None = None) -> Any:
    """The values of all replicas, combined element by element; each replica gets the result.

        gradients = ipu.all_reduce(gradients, "mean")

    Args:
        x: a tensor, or tuples, lists and dicts of them.
        op: how they are combined: numbers by sum, mean, min, max, prod, or square_sum, the sum of their squares;
            booleans by and, or.
        group: how many consecutive replicas take part in one; all of them if it is not given.

    Raises:
        TraceTypeError: elements that cannot be combined so.
        TraceValueError: there is no such ``op`` or group.
    """
    attributes = {"op": _reduction(op), **_group(group)}
    return _each(
        x,
        "all_reduce",
        lambda leaf: _checked(leaf, "all_reduce", op),
        AllReduceOp,
        Collective("all_reduce"),
        attributes,
    )


def all_gather(x: Any, group: int) -> Any:
    """The values of ``group`` consecutive replicas, in their order along one more first dimension.

    Args:
        x: a tensor, or tuples, lists and dicts of them.
        group: how many replicas take part; the number of all replicas for all.
    """
    return _each(x, "all_gather", _any, AllGatherOp, Collective("all_gather", group=_size(group)), _group(group))


def reduce_scatter(x: Any, group: int, op: Reduction = "sum") -> Any:
    """As ``all_reduce``, but each of ``group`` replicas gets only its block of the result.

    Args:
        x: a tensor of one dimension, or tuples, lists and dicts of them. Of n elements each replica gets
            ceil(n / group); those beyond the n are 0.
        group: how many replicas take part; the number of all replicas for all.
        op: as of ``all_reduce``.
    """

    def checked(leaf: Symbol) -> None:
        _checked(leaf, "reduce_scatter", op)
        if len(leaf.shape) != 1:
            raise TraceValueError(f"reduce_scatter takes tensors of one dimension, got {leaf}; flatten it first")

    attributes = {"op": _reduction(op), **_group(group)}
    return _each(x, "reduce_scatter", checked, ReduceScatterOp, Collective("reduce_scatter", group=group), attributes)


def all_to_all(x: Any, group: int, *, split: int = 0, concat: int = 0) -> Any:
    """Replica r of ``group`` gets block r of the value of every one, put together in the order of the replicas.

    Args:
        x: a tensor, or tuples, lists and dicts of them.
        group: how many replicas take part; the number of all replicas for all.
        split: the dimension that is cut into ``group`` blocks.
        concat: the dimension that blocks are put together in.
    """
    collective = Collective("all_to_all", group=_size(group), split=split, concat=concat)

    def checked(leaf: Symbol) -> None:
        if collective.shape(leaf.shape, group) is None:
            raise TraceValueError(
                f"all_to_all of {leaf} cuts dimension {split} into {group} blocks, and puts them together in dimension "
                f"{concat}; they must be dimensions, and the size of the first a multiple of {group}"
            )

    attributes = {"split_dimension": _number(split), "concat_dimension": _number(concat), **_group(group)}
    return _each(x, "all_to_all", checked, AllToAllOp, collective, attributes)


def broadcast(x: Any, root: int = 0, group: int | None = None) -> Any:
    """The value of replica ``root``, on all replicas, or in each group the value of its replica of that number."""
    if type(root) is not int or root < 0:
        raise TraceValueError(f"broadcast takes root as the number of a replica, from 0 on, got {root!r}")
    attributes = {"root": _number(root), **_group(group)}
    return _each(x, "broadcast", _any, BroadcastOp, Collective("broadcast"), attributes)


def assume_equal(x: Any) -> Any:
    """``x``, of which the writer of the program says that it is the same on all replicas.

    Branches and loops may depend on it. A run in which it is not so ends with an error.
    """
    return _each(x, "assume_equal", _any, AssumeEqualOp, Collective("assume_equal"), {})


def _each(
    x: Any,
    name: str,
    check: Callable[[Symbol], None],
    make: Any,
    collective: Collective,
    attributes: dict[str, Callable[[], ir.Attribute]],
) -> Any:
    """One op for every tensor of ``x``."""
    trace = _tracing(name)
    structure, leaves = flatten(x, name, is_number)
    made = []
    for leaf in leaves:
        symbol = tensor(trace, leaf)
        check(symbol)
        shape = collective.shape(symbol.shape, collective.group or 1)
        assert shape is not None, "the check has looked at it"
        with trace.emit(name):
            given = {entry: value() for entry, value in attributes.items()}
            declared = {entry: given.pop(entry) for entry in list(given) if hasattr(make, entry)}
            op = make(source=symbol.value, value=trace.tensor_type(shape, symbol.dtype), **declared)
            for entry, value in given.items():
                op.operation.attributes[entry] = value
            made.append(trace.wrap(op.operation.results[0], shape, symbol.dtype))
    return unflatten(structure, iter(made))


def _any(leaf: Symbol) -> None:
    """Elements of every type are moved."""


def _checked(leaf: Symbol, name: str, op: str) -> None:
    kind = leaf.dtype.kind
    if (kind == "b") != (op in ("and", "or")):
        raise TraceTypeError(
            f"{name} of {leaf} with {op!r}: booleans are combined by 'and' and 'or', numbers by others"
        )
    if kind == "u" and op in ("min", "max"):
        raise TraceTypeError(f"{name} of {leaf} with {op!r}: programs know no sign of integers; use astype(np.int32)")
    if op == "mean" and kind in "iu":
        raise TraceTypeError(f"{name} of {leaf} with 'mean': integers have none; use 'sum', or astype(np.float32)")


def _reduction(op: str) -> Callable[[], ir.Attribute]:
    if op not in _REDUCTIONS:
        raise TraceValueError(f"values are combined by {', '.join(_REDUCTIONS)}, not by {op!r}")
    return lambda: ir.StringAttr.get(_REDUCTIONS[op])


def _size(group: Any) -> int:
    if type(group) is not int or group < 1:
        raise TraceValueError(f"a group is the number of replicas in it, from 1 on, got {group!r}")
    return group


def _group(group: int | None) -> dict[str, Callable[[], ir.Attribute]]:
    return {} if group is None else {"group": _number(_size(group))}


def _number(number: int) -> Callable[[], ir.Attribute]:
    return lambda: ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)


def _tracing(name: str) -> Trace:
    trace = own_trace()
    if trace is None:
        raise TraceTypeError(f"{name} is called in traced functions: there are no replicas outside of them")
    return trace
