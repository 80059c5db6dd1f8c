"""General utilities (guide 21.6)."""

from enum import Enum
from operator import index
from typing import Any

from ipu_mlir.tensorflow.devices import SYSTEM, flags, is_synthetic, ordinal_of


class SyntheticDataCategory(Enum):
    """Kinds of data that may be made up on the device, so that nothing is moved."""

    Infeed = 1
    Outfeed = 2
    Seed = 3
    HostEmbedding = 4
    Parameters = 5


def get_num_of_ipus_in_device(ipu_device: str, device: str = "cpu") -> int:
    """The number of IPUs of a configured device.

    Args:
        ipu_device: such as ``/device:IPU:0``.
        device: of the host; there is one.

    Raises:
        ValueError: there is no such device.
    """
    return SYSTEM.device(ordinal_of(ipu_device)).target.ipus


def running_on_ipu_model() -> bool:
    """True if ``TF_POPLAR_FLAGS`` asks for the model. Without it programs run on the simulator all the same."""
    return "use_ipu_model" in flags()


def use_synthetic_data_for(synthetic_data_category: Any) -> bool:
    """True if ``TF_POPLAR_FLAGS`` asks for synthetic data of this category.

    Raises:
        TypeError: it is no ``SyntheticDataCategory``.
    """
    if not isinstance(synthetic_data_category, SyntheticDataCategory):
        raise TypeError(f"expected a SyntheticDataCategory, got {synthetic_data_category!r}")
    return is_synthetic(synthetic_data_category.name.lower())


def move_variable_initialization_to_cpu(graph: Any = None) -> None:
    """Let variables of a graph begin on the host; without effect, as they do so in any case."""


def reset_ipu_seed(
    seed: int, device: str = "/device:IPU:0", cpu_device: str = "cpu", experimental_identical_replicas: bool = False
) -> None:
    """Let random numbers without seeds of their own, and stochastic rounding, begin anew.

    Args:
        seed: of which the same programs draw the same numbers afterwards.
        device: of the programs; the seed is one for all.
        cpu_device: without effect.
        experimental_identical_replicas: all replicas draw the same numbers; otherwise each its own.

    Raises:
        TypeError: ``seed`` is no integer.
        ValueError: ``device`` is not the name of an IPU.
    """
    from tensorflow.python.eager import context

    from ipu_mlir.tensorflow.random_state import begin_rounding_anew, state

    ordinal_of(device)
    low = index(seed) & 0x7FFFFFFF
    begin_rounding_anew(low)
    with context.eager_mode():  # at once, where a graph is being made too
        state().assign([low, 0, int(not experimental_identical_replicas)])


def export_dataset_to_file(
    dataset_or_infeed: Any, output_filename: str, num_elements: int, feed_name: str = "", apply_options: bool = True
) -> None:
    """Write elements as they are in memory, one after another.

    Args:
        dataset_or_infeed: a dataset, or an ``IPUInfeedQueue``.
        output_filename: elements of several tensors go to as many files, ``name.0.bin``, ``name.1.bin``, ...
        num_elements: how many; fewer where there are fewer.
        feed_name: without effect: the files hold nothing but the data.
        apply_options: without effect: options of a dataset hold in any case.
    """
    from ipu_mlir.tensorflow.host_data import flat_elements, write_tensors

    rows = [leaves for leaves, _ in zip(flat_elements(dataset_or_infeed), range(num_elements), strict=False)]
    write_tensors(output_filename, list(zip(*rows, strict=True)))


def export_inputs_to_file(inputs: Any, output_filename: str, feed_dict: dict[Any, Any]) -> None:
    """Write the values that placeholders of a graph are fed, as they are in memory.

    Args:
        output_filename: several inputs go to as many files, ``name.0.bin``, ``name.1.bin``, ...

    Raises:
        ValueError: one is not fed.
    """
    from ipu_mlir.tensorflow.host_data import write_tensors

    for each in inputs:
        if each not in feed_dict:
            raise ValueError(f"feed_dict has no value of {each.name}; give it one, or leave it out of inputs")
    write_tensors(output_filename, [(feed_dict[each],) for each in inputs])
