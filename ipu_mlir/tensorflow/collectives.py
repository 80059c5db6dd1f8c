"""Collectives of replicas with their gradients."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.anywhere import anywhere
from ipu_mlir.tensorflow.custom_calls import call


def called(found: Any, name: str | None) -> Any:
    """A tensor, or a list of some, under the name that a user gives."""
    return found if name is None else tf.nest.map_structure(lambda each: tf.identity(each, name), found)


def replica_index() -> Any:
    """The number of the replica that runs the program."""
    return anywhere(lambda: call("replica_index", [], [tf.TensorSpec((), tf.int32)]), [], "replica_index")[0][0]


def all_reduce(x: Any, op: str, group: int | None = None) -> Any:
    """The values of all replicas of a group, combined; the gradient is combined as they are."""
    x = tf.convert_to_tensor(x)
    attributes = {"op": op, **_group(group)}

    @tf.custom_gradient
    def combined(value: Any) -> Any:
        found = _same_shape("all_reduce", value, attributes)
        return found, lambda given: all_reduce(given, op, group)

    return combined(x)


def assume_equal(x: Any) -> Any:
    """``x``, which is one on all replicas."""

    @tf.custom_gradient
    def same(value: Any) -> Any:
        return _same_shape("assume_equal", value, {}), lambda given: given

    return same(tf.convert_to_tensor(x))


def all_gather(x: Any, group: int) -> Any:
    """The values of ``group`` replicas along one more first dimension."""

    @tf.custom_gradient
    def gathered(value: Any) -> Any:
        def gradient(given: Any) -> Any:
            flat = tf.reshape(given, [-1])
            own = reduce_scatter(flat, "add", group)
            return tf.reshape(own, value.shape)

        return _call("all_gather", value, (group, *value.shape), {"group": group}), gradient

    return gathered(tf.convert_to_tensor(x))


def reduce_scatter(x: Any, op: str, group: int) -> Any:
    """The block of a replica of what ``all_reduce`` gives for a vector."""

    @tf.custom_gradient
    def scattered(value: Any) -> Any:
        size = value.shape[0]

        def gradient(given: Any) -> Any:
            if op not in ("add", "mean"):
                raise NotImplementedError(f"reduce_scatter by {op} has no gradient; use COLLECTIVE_OP_ADD")
            whole = tf.reshape(all_gather(given, group), [-1])[:size]
            return whole / group if op == "mean" else whole

        return _call("reduce_scatter", value, (-(-size // group),), {"op": op, "group": group}), gradient

    return scattered(tf.convert_to_tensor(x))


def all_to_all(x: Any, split: int, concat: int, group: int) -> Any:
    """The blocks of the others, put together; the gradient goes back.

    Raises:
        ValueError: there is no such dimension, or the one that is split has no block for each replica.
    """
    x = tf.convert_to_tensor(x)
    rank = x.shape.rank
    for name, dimension in (("split", split), ("concat", concat)):
        if not -rank <= dimension < rank:
            raise ValueError(f"{name}_dimension is {dimension}, and the tensor has {rank} dimensions")
    split, concat = split % rank, concat % rank
    if x.shape[split] % group:
        raise ValueError(
            f"split_dimension {split} has {x.shape[split]} elements, which {group} replicas do not share evenly; pad it"
        )

    @tf.custom_gradient
    def exchanged(value: Any) -> Any:
        shape = list(value.shape)
        shape[split] //= group
        shape[concat] *= group
        attributes = {"split_dimension": split, "concat_dimension": concat, "group": group}
        return _call("all_to_all", value, shape, attributes), lambda given: all_to_all(given, concat, split, group)

    return exchanged(x)


def _group(group: int | None) -> dict[str, int]:
    return {} if group is None else {"group": group}


def _same_shape(name: str, value: Any, attributes: dict[str, Any]) -> Any:
    return _call(name, value, value.shape, attributes)


def _call(name: str, value: Any, shape: Sequence[int], attributes: dict[str, Any]) -> Any:
    spec = tf.TensorSpec(shape, value.dtype)
    return anywhere(lambda own: call(name, [own], [spec], **attributes), [value], name)[0][0]
