"""Elements of datasets as arrays of the host: what files and measurements are made of."""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context

from ipu_mlir.dialects.storage.whole_files import write_whole
from ipu_mlir.tensorflow.feeds import out_of_graph


def flat_elements(source: Any) -> Iterator[list[np.ndarray]]:
    """The tensors of the elements of a dataset or a queue, from the first one on.

    Raises:
        TypeError: ``source`` is neither.
    """
    if not isinstance(source, tf.data.Dataset) and not hasattr(source, "_feed"):
        raise TypeError(f"expected a tf.data.Dataset or an IPUInfeedQueue, got {type(source).__name__}")
    dataset = out_of_graph(source) if isinstance(source, tf.data.Dataset) else source._feed._dataset
    with context.eager_mode(), tf.device("/cpu:0"):
        for element in dataset.as_numpy_iterator():
            yield [np.asarray(leaf) for leaf in tf.nest.flatten(element)]


def write_tensors(filename: str, tensors: Sequence[Sequence[Any]]) -> None:
    """Write each of ``tensors``, the values of one after another, to a file of its own."""
    path = Path(filename)
    for place, values in enumerate(tensors):
        own = path if len(tensors) == 1 else path.with_name(f"{path.stem}.{place}{path.suffix}")
        write_whole(own, b"".join(np.ascontiguousarray(each).tobytes() for each in values))


def measured(elements: Callable[[], Iterator[Sequence[np.ndarray]]], epochs: int, count: int, copy: bool) -> list[Any]:
    """The measurements of getting ``count`` elements, one for each epoch."""
    found, rows = [], elements()
    for _ in range(epochs):
        begun, size, taken = time.perf_counter(), 0, 0
        for leaves, _ in zip(rows, range(count), strict=False):
            size += sum(each.nbytes for each in leaves)
            taken += 1
            if copy:
                _ = [each.copy() for each in leaves]
        seconds = time.perf_counter() - begun
        found.append(
            {
                "elements_processed": taken,
                "total_bytes_processed": size,
                "time_elapsed": seconds,
                "elements_per_second": taken / seconds,
                "bandwidth": size / seconds / 1e9,
            }
        )
    return found
