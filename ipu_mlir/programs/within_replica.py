"""``ipu.within_replica``: collectives over the IPUs of one replica, a traced tensor on each.

Each function takes one tensor for every shard, in the order of the shards, and gives one for every shard. They are made
of ordinary ops on shards.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.analysis.shards import ALL_IPUS, shard_of
from ipu_mlir.programs.replicas import Reduction
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.functions.joining import concatenate
from ipu_mlir.tracing.functions.padding import pad_with
from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.shards import shard

__all__ = ["all_gather", "all_reduce", "reduce_scatter"]

_COMBINERS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": np.add,
    "mean": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "prod": np.multiply,
    "and": np.logical_and,
    "or": np.logical_or,
    "square_sum": np.add,
}


def all_gather(tensors: Sequence[Any], axis: int = 0) -> list[Any]:
    """On every shard all of ``tensors``, one after the other along ``axis``; numbers as a tensor of one dimension.

    Raises:
        TypeError, ValueError: ``tensors`` are not as the module says, or their other sizes differ.
    """
    tensors = [x.reshape(1) if not x.shape else x for x in _checked("all_gather", tensors)]
    gathered = []
    for index in range(len(tensors)):
        with shard(index):
            gathered.append(concatenate(tensors, axis))
    return gathered


def all_reduce(tensors: Sequence[Any], op: Reduction = "sum") -> list[Any]:
    """On every shard the combination of ``tensors``, numbers or of one dimension; shorter ones end in zeros.

    Each shard combines a part and hands it to the others, so that no link carries more than twice a tensor.

    Raises:
        TypeError, ValueError: as ``reduce_scatter``.
    """
    tensors = _checked("all_reduce", tensors)
    gathered = all_gather(reduce_scatter(tensors, op))
    if not tensors[0].shape:
        return [each[0] for each in gathered]
    longest = max(x.shape[0] for x in tensors)
    return [each[:longest] for each in gathered]


def reduce_scatter(tensors: Sequence[Any], op: Reduction = "sum") -> list[Any]:
    """On shard ``k`` the ``k``-th part of the combination of ``tensors``, numbers or of one dimension.

    All parts have one size, that of the longest tensor by the number of shards, rounded up; shorter tensors, and the
    last parts, end in zeros.

    Args:
        op: numbers by sum, mean, min, max, prod, or square_sum, the sum of their squares; booleans by and, or.

    Raises:
        TypeError, ValueError: ``tensors`` are not as the module says, or have more dimensions; or there is no such
            ``op``, or not for their element type.
    """
    tensors = _checked("reduce_scatter", tensors)
    first = tensors[0]
    if op not in _COMBINERS:
        raise TraceValueError(f"reduce_scatter combines by {', '.join(_COMBINERS)}, got {op!r}")
    if len(first.shape) > 1:
        raise TraceValueError(f"reduce_scatter of {first}: it takes tensors of one dimension; reshape them")
    if (op in ("and", "or")) != (first.dtype == bool):
        raise TraceTypeError(f"reduce_scatter by {op} of {first}: and, or are for booleans, the others for numbers")
    if op == "mean" and first.dtype.kind not in "fcV":
        raise TraceTypeError(f"reduce_scatter by mean of {first}: means are of floats; convert them, or use sum")
    rows = [x.reshape(1) if not x.shape else x for x in tensors]
    size = -(-max(x.shape[0] for x in rows) // len(rows))
    scattered = []
    for index in range(len(rows)):
        with shard(index):
            parts = [_padded(x[index * size : (index + 1) * size], size) for x in rows]
            if op == "square_sum":
                parts = [x * x for x in parts]
            if op == "mean":
                parts = [x / len(parts) for x in parts]
            scattered.append(reduce(_COMBINERS[op], parts))
    return scattered


def _padded(part: Any, size: int) -> Any:
    return pad_with(part, [(0, size - part.shape[0])], part.dtype.type(0))


def _checked(name: str, tensors: Sequence[Any]) -> list[Any]:
    """``tensors``, if they are what a collective takes."""
    if not isinstance(tensors, list | tuple) or not tensors or not all(isinstance(x, Symbol) for x in tensors):
        raise TraceTypeError(f"{name} takes a list of traced tensors, one for each shard, got {tensors!r:.80}")
    first = tensors[0]
    if len({x.value for x in tensors}) < len(tensors):
        raise TraceValueError(f"{name} takes another tensor for each shard, and was given one twice")
    for index, x in enumerate(tensors):
        if x.dtype != first.dtype:
            raise TraceValueError(f"{name} of {first} and {x}: all tensors need one element type; convert them")
        if len(x.shape) != len(first.shape):
            raise TraceValueError(f"{name} of {first} and {x}: all tensors need one number of dimensions")
        made = defining_op(x.value)
        home = None if made is None else shard_of(made)
        if home not in (None, ALL_IPUS, index):
            raise TraceValueError(
                f"{name}: tensor {index}, {x}, is of shard {home}; give the tensors in the order of their shards"
            )
    return list(tensors)
