"""General utilities (guide 21.6)."""

from enum import Enum
from typing import Any

from ipu_mlir.tensorflow.devices import SYSTEM, flags, ordinal_of


class SyntheticDataCategory(Enum):
    """Kinds of data that may be made up on the device, so that nothing is moved."""

    Infeed = 1
    Outfeed = 2
    Seed = 3
    HostEmbedding = 4
    Parameters = 5


def get_num_of_ipus_in_device(ipu_device: str, device: str = "cpu") -> int:
    """How many IPUs a configured device has.

    Args:
        ipu_device: such as ``/device:IPU:0``.
        device: of the host; there is one.

    Raises:
        ValueError: there is no such device.
    """
    return SYSTEM.device(ordinal_of(ipu_device)).target.ipus


def running_on_ipu_model() -> bool:
    """Whether ``TF_POPLAR_FLAGS`` asks for the model. Without it programs run on the simulator all the same."""
    return "use_ipu_model" in flags()


def use_synthetic_data_for(synthetic_data_category: Any) -> bool:
    """Whether ``TF_POPLAR_FLAGS`` asks for synthetic data of this category.

    Raises:
        TypeError: it is no ``SyntheticDataCategory``.
    """
    if not isinstance(synthetic_data_category, SyntheticDataCategory):
        raise TypeError(f"expected a SyntheticDataCategory, got {synthetic_data_category!r}")
    given = flags()
    named = given.get("synthetic_data_categories", "").strip("{}'\"").lower().split(",")
    return "use_synthetic_data" in given or synthetic_data_category.name.lower() in [each.strip() for each in named]


def move_variable_initialization_to_cpu(graph: Any = None) -> None:
    """Let variables of a graph begin on the host; without effect, as they do so in any case."""


def reset_ipu_seed(
    seed: int, device: str = "/device:IPU:0", cpu_device: str = "cpu", experimental_identical_replicas: bool = False
) -> None:
    """Let random numbers without seeds of their own begin anew.

    Args:
        seed: of which the same programs draw the same numbers afterwards.
        device: of the programs; the seed is one for all.
        cpu_device: without effect.
        experimental_identical_replicas: without effect: all replicas draw the same numbers.

    Raises:
        ValueError: ``device`` is not the name of an IPU.
    """
    from ipu_mlir.tensorflow.random_state import state

    ordinal_of(device)
    low = seed & 0x7FFFFFFF
    state().assign([low, 0])
