"""The speed at which data can be fed (guide 21.12.1)."""

import json
from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.host_data import flat_elements, measured
from ipu_mlir.tensorflow.ipu.ipu_infeed_queue import IPUInfeedQueue


def dataset_benchmark(
    dataset: tf.data.Dataset,
    number_of_epochs: int,
    elements_per_epochs: int,
    print_stats: bool = True,
    apply_options: bool = True,
    do_memcpy: bool = True,
) -> str:
    """The time that elements of a dataset take, as JSON with a record for each epoch.

    Args:
        print_stats: whether to print each record.
        apply_options: without effect: options of a dataset hold in any case.
        do_memcpy: whether elements are copied once, as they are for the device.

    Raises:
        TypeError: ``dataset`` is none.
        ValueError: a count is below 1.
        InvalidArgumentError: a tensor has a dimension of size 0.
    """
    if not isinstance(dataset, tf.data.Dataset):
        raise TypeError(f"dataset_benchmark takes a tf.data.Dataset, got {type(dataset).__name__}")
    return _measure(dataset, number_of_epochs, elements_per_epochs, print_stats, do_memcpy)


def infeed_benchmark(
    infeed_queue: IPUInfeedQueue,
    number_of_epochs: int,
    elements_per_epochs: int,
    print_stats: bool = True,
    do_memcpy: bool = True,
) -> str:
    """As ``dataset_benchmark``, for the dataset of a queue.

    Raises:
        TypeError: ``infeed_queue`` is none.
        ValueError: a count is below 1.
        InvalidArgumentError: a tensor has a dimension of size 0.
    """
    if not isinstance(infeed_queue, IPUInfeedQueue):
        raise TypeError(f"infeed_benchmark takes an IPUInfeedQueue, got {type(infeed_queue).__name__}")
    return _measure(infeed_queue, number_of_epochs, elements_per_epochs, print_stats, do_memcpy)


def _measure(source: Any, epochs: int, count: int, prints: bool, copies: bool) -> str:
    for name, number in (("number_of_epochs", epochs), ("elements_per_epochs", count)):
        if number < 1:
            raise ValueError(f"{name} must be at least 1, got {number}")
    spec = source.element_spec if isinstance(source, tf.data.Dataset) else source._feed.element_spec
    for each in tf.nest.flatten(spec):
        if 0 in each.shape:
            raise tf.errors.InvalidArgumentError(
                None, None, f"Detected a tensor in the dataset with a dimension of size 0: {each.shape}"
            )
    records = measured(lambda: flat_elements(source), epochs, count, copies)
    if prints:
        for record in records:
            print(json.dumps(record))
    return json.dumps({"epochs": records})
