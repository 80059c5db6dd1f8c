"""Batches of the host, as many at a time as a run of steps takes, as arrays with one more dimension in front."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any

import numpy as np
import tensorflow as tf
from keras.src.trainers.data_adapters import ArrayDataAdapter, array_slicing
from keras.src.tree import lists_to_tuples
from tensorflow.python.data.ops.iterator_ops import OwnedIterator
from tensorflow.python.ops.gen_dataset_ops import iterator_get_next

from ipu_mlir.dialects.support.errors import CompileError


@dataclass(frozen=True)
class Batches:
    """Batches of the same shapes and types.

    Attributes:
        count: how many.
        nested: all of them, nested as each is.
    """

    count: int
    nested: Any


class ArrayBatches:
    """Batches of arrays of the host, in the order in which Keras has them.

    A run of steps takes its rows at once, where a pipeline of TensorFlow makes batches one after another.
    """

    def __init__(self, nested: Any, batch: int, count: int, shuffles: bool) -> None:
        """Batches of ``batch`` of the ``count`` rows of each array of ``nested``, the last one smaller."""
        self._nested, self._batch, self._count = nested, batch, count
        self._order = tf.data.Dataset.range(1).map(lambda _: _shuffled(count)) if shuffles else None

    @staticmethod
    def of(adapter: Any) -> "ArrayBatches | None":
        """The batches of a data adapter of Keras; None if it has no dense arrays of numbers."""
        if type(adapter) is not ArrayDataAdapter or adapter._shuffle == "batch":
            return None
        given = lists_to_tuples(array_slicing.convert_to_sliceable(adapter._inputs, target_backend="tensorflow"))
        leaves = tf.nest.flatten(given)
        if not all(leaf is None or isinstance(leaf, np.ndarray | tf.Tensor) for leaf in leaves):
            return None
        arrays = [leaf if leaf is None else np.asarray(leaf) for leaf in leaves]
        if any(each is not None and (each.dtype.kind not in "biufc" or not each.dtype.isnative) for each in arrays):
            return None
        nested = tf.nest.pack_sequence_as(given, arrays)
        return ArrayBatches(nested, adapter.batch_size, adapter._num_samples, adapter._shuffle)

    def __iter__(self) -> "_ArrayIterator":
        order = None if self._order is None else next(iter(self._order)).numpy()
        return _ArrayIterator(self._nested, self._batch, self._count, order)


class _ArrayIterator(Iterator[Any]):
    """The batches of an epoch."""

    def __init__(self, nested: Any, batch: int, count: int, order: np.ndarray | None) -> None:
        self._nested, self._batch, self._count, self._order = nested, batch, count, order
        self._at = 0

    def __next__(self) -> Any:
        for batches in self.take(1):
            return first(batches)
        raise StopIteration

    def take(self, most: int) -> list[Batches]:
        """The next ``most`` batches."""
        rows = min(most * self._batch, self._count - self._at)
        full, rest = divmod(rows, self._batch)
        return [self._next(count, size) for count, size in ((full, self._batch), (1, rest)) if count and size]

    def _next(self, count: int, size: int) -> Batches:
        begin, self._at = self._at, self._at + count * size
        rows = slice(begin, self._at) if self._order is None else self._order[begin : self._at]

        def at_once(leaf: np.ndarray | None) -> Any:
            return None if leaf is None else leaf[rows].reshape(count, size, *leaf.shape[1:])

        return Batches(count, tf.nest.map_structure(at_once, self._nested))


def _shuffled(count: int) -> Any:
    """The order of rows, from the seed that the pipeline of Keras for arrays would take."""
    return tf.random.shuffle(tf.range(count, dtype=tf.int64))


def take(source: Iterable[Any], most: int) -> list[Batches]:
    """The next batches of ``source``, those beside each other together that are alike.

    Args:
        source: an iterator of a dataset, or what gives batches to Python; its end is no error.
        most: how many.
    """
    if isinstance(source, _ArrayIterator):
        return source.take(most)
    if isinstance(source, OwnedIterator) and all(
        isinstance(each, tf.TensorSpec) for each in tf.nest.flatten(source.element_spec)
    ):
        flat = ((source.element_spec, each) for each in _flat(source))
    else:
        flat = ((each, tf.nest.flatten(each)) for each in source)
    rows = [(nest, [_plain(leaf) for leaf in leaves]) for nest, leaves in islice(flat, most)]
    found = []
    for _, alike in groupby(rows, lambda row: _form(row[1])):
        nests, leaves = zip(*alike, strict=True)
        stacked = [_stacked(each) for each in zip(*leaves, strict=True)]
        found.append(Batches(len(leaves), tf.nest.pack_sequence_as(nests[0], stacked)))
    return found


def in_groups(batches: Sequence[Batches], sizes: Sequence[int]) -> list[Batches]:
    """Batches of groups of batches: ``sizes`` are how many there are in a group, by dimension.

    What is left over at the end goes, and with it a last batch that is smaller than those it would be with.

    Raises:
        ValueError: the batches of a group are not alike.
    """
    size = int(np.prod(sizes))
    if size == 1:
        return list(batches)
    found, left = [], sum(each.count for each in batches)
    for each in batches:
        groups = each.count // size
        left -= each.count
        if groups:
            found.append(Batches(groups, tf.nest.map_structure(_regrouped(groups, sizes), each.nested)))
        if each.count % size and left > 1:
            raise ValueError(
                "the batches that replicas take together, or whose gradients accumulate, differ in their shapes; use "
                "batch(..., drop_remainder=True)"
            )
        if each.count % size:
            break
    return found


def first(batches: Batches) -> Any:
    """The first of the batches."""
    return tf.nest.map_structure(lambda leaf: leaf[0] if isinstance(leaf, np.ndarray) else leaf, batches.nested)


def _regrouped(count: int, sizes: Sequence[int]) -> Any:
    shape = (count, *(size for size in sizes if size > 1))
    return lambda leaf: (
        leaf[: np.prod(shape)].reshape(*shape, *leaf.shape[1:]) if isinstance(leaf, np.ndarray) else leaf
    )


def _flat(iterator: OwnedIterator) -> Iterator[list[Any]]:
    """The tensors of its elements: what ``next`` does besides takes longer than a small step."""
    resource, types, shapes = iterator._iterator_resource, iterator._flat_output_types, iterator._flat_output_shapes
    while True:
        try:
            yield iterator_get_next(resource, output_types=types, output_shapes=shapes)
        except tf.errors.OutOfRangeError:
            return


def _plain(leaf: Any) -> Any:
    """A tensor as an array; what is no tensor is part of the program, and what is optional is not there.

    Raises:
        CompileError: it has no place on the device.
    """
    if isinstance(leaf, tf.experimental.Optional):
        return None
    if not hasattr(leaf, "shape"):
        return leaf
    if isinstance(leaf, tf.RaggedTensor | tf.SparseTensor):
        raise CompileError(
            f"a batch has a {type(leaf).__name__}, and the device takes dense tensors; make one of it before, as by "
            "to_tensor() or tf.sparse.to_dense in dataset.map"
        )
    array = np.asarray(leaf)
    if array.dtype.kind in "OSU":
        raise CompileError(
            "a batch has a tensor of strings, which no device has; make numbers of it before, as in dataset.map"
        )
    return array


def _form(leaves: Sequence[Any]) -> list[Any]:
    return [(leaf.shape, leaf.dtype) if isinstance(leaf, np.ndarray) else leaf for leaf in leaves]


def _stacked(leaves: Sequence[Any]) -> Any:
    if not isinstance(leaves[0], np.ndarray):
        return leaves[0]
    return leaves[0][None] if len(leaves) == 1 else np.stack(leaves)
