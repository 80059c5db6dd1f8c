"""Configuration of devices, compiler and runtime (guide 21.7)."""

import json
import sys
from copy import deepcopy
from dataclasses import replace
from enum import Enum
from typing import Any, List, Tuple, Union  # noqa: UP035 - as the guide writes the types of options

from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.tensorflow.devices import LISTING, REMOTE_MERGING, SYSTEM, Device, flags
from ipu_mlir.tensorflow.engine_options import report_folder, say_without_effect_on_collectives
from ipu_mlir.tensorflow.guide.option_tree import AttributeMetadata, Category, Group, Option
from ipu_mlir.tensorflow.library_options import library_options

__all__ = [
    "AttributeMetadata",
    "DeviceConnectionType",
    "ExecutionProfileType",
    "IPUConfig",
    "MergeRemoteBuffersBehaviour",
    "SchedulingAlgorithm",
    "SelectionOrder",
    "StochasticRoundingBehaviour",
    "configure_ipu_system",
    "get_ipu_config",
    "reset_ipu_configuration",
]

_IPUS = Union[int, List[int], Tuple[int, ...]]  # noqa: UP006, UP007


class DeviceConnectionType(Enum):
    """When the process attaches to a device."""

    ALWAYS = 0
    ON_DEMAND = 1
    NEVER = 2
    PRE_COMPILE = 3


class ExecutionProfileType(Enum):
    """How fine an execution profile is."""

    NO_PROFILE = 0
    DEVICE_PROFILE = 1
    IPU_PROFILE = 2
    TILE_PROFILE = 3


class MergeRemoteBuffersBehaviour(Enum):
    """Whether remote buffers of one form become one."""

    NO_MERGING = 0
    MERGE = 1
    IF_BENEFICIAL = 2


class SchedulingAlgorithm(Enum):
    """In which order operations run."""

    CHOOSE_BEST = 0
    CLUSTERING = 1
    POST_ORDER = 2
    LOOK_AHEAD = 3
    SHORTEST_PATH = 4


class SelectionOrder(Enum):
    """Which IPU of a device a shard gets."""

    AUTO = 0
    ZIGZAG = 1
    SNAKE = 2
    HOOF = 3


class StochasticRoundingBehaviour(Enum):
    """Where stochastic rounding is on."""

    OFF = 0
    ON = 1
    REPLICA_IDENTICAL_ONLY = 2


class _Libraries(Category):
    poplar_options = Option(dict, {})


class _DeviceConnection(Category):
    type = Option(DeviceConnectionType, DeviceConnectionType.ALWAYS)
    version = Option(str, "")
    enable_remote_buffers = Option(bool, False)


class _MultiReplicaDistribution(Category):
    process_index = Option(int, 0)
    process_count = Option(int, 0)


class _Experimental(Category):
    always_rearrange_copies_on_the_host = Option(bool, False)
    enable_remote_buffer_embedding = Option(bool, False)
    enable_prng_stability = Option(bool, False)
    multi_replica_distribution = Group(_MultiReplicaDistribution)


class _FloatingPointBehaviour(Category):
    inv = Option(bool, False)
    div0 = Option(bool, False)
    oflo = Option(bool, False)
    esr = Option(StochasticRoundingBehaviour, StochasticRoundingBehaviour.OFF)
    nanoo = Option(bool, False)
    set_all = Option(bool, False)


class _IOTiles(Category):
    num_io_tiles = Option(int, 0)
    place_ops_on_io_tiles = Option(bool, False)
    available_memory_proportion = Option(float, 0.9)


class _IPUModel(Category):
    compile_ipu_code = Option(bool, True)
    tiles_per_ipu = Option(int, 0)
    version = Option(str, "ipu2")


class _Matmuls(Category):
    clear_pass_type = Option(bool, False)
    poplar_options = Option(dict, {})


class _NormsExperimental(Category):
    distributed_batch_norm_replica_group_size = Option(int, 1)


class _Norms(Category):
    use_stable_statistics = Option(bool, False)
    experimental = Group(_NormsExperimental)


class _Math(Category):
    fast = Option(bool, False)
    dot_strength = Option(bool, True)


class _Optimizations(Category):
    math = Group(_Math)
    prefetch_data_streams = Option(bool, True)
    combine_embedding_lookups = Option(bool, False)
    combine_matmuls = Option(bool, False)
    enable_graph_outlining = Option(bool, True)
    merge_infeed_io_copies = Option(bool, True)
    maximum_cross_replica_sum_buffer_size = Option(int, 0)
    maximum_reduce_scatter_buffer_size = Option(int, 0)
    maximum_inter_ipu_copies_buffer_size = Option(int, 0)
    maximum_send_recv_cluster_size = Option(int, 0)
    maximum_reduce_many_buffer_size = Option(int, 0)
    maximum_all_gather_buffer_size = Option(int, 0)
    minimum_remote_tensor_size = Option(int, 128)
    merge_remote_buffers = Option(MergeRemoteBuffersBehaviour, MergeRemoteBuffersBehaviour.IF_BENEFICIAL)
    enable_gather_simplifier = Option(bool, True)
    triangular_solve_expander_block_size = Option(int, 0)
    cholesky_block_size = Option(int, 0)
    enable_fast_math = Option(bool, False, moved_to="math.fast")
    enable_dynamic_slice_replacement = Option(bool, True)


class _Scheduling(Category):
    algorithm = Option(SchedulingAlgorithm, SchedulingAlgorithm.CHOOSE_BEST)
    maximum_scheduler_lookahead_depth = Option(int, 5)
    maximum_scheduler_search_space_size = Option(int, 64)


class IPUConfig(Category):
    """All options, in categories. Nothing takes effect before ``configure_ipu_system``."""

    allow_recompute = Option(bool, False)
    selection_order = Option(SelectionOrder, SelectionOrder.AUTO)
    serialization_output_folder = Option(str, "")
    compilation_poplar_options = Option(dict, {})
    gcl_poplar_options = Option(dict, {})
    auto_select_ipus = Option(_IPUS, [])
    select_ipus = Option(_IPUS, [])
    convolutions = Group(_Libraries)
    device_connection = Group(_DeviceConnection)
    slices = Group(_Libraries)
    experimental = Group(_Experimental)
    floating_point_behaviour = Group(_FloatingPointBehaviour)
    io_tiles = Group(_IOTiles)
    ipu_model = Group(_IPUModel)
    matmuls = Group(_Matmuls)
    norms = Group(_Norms)
    optimizations = Group(_Optimizations)
    pooling = Group(_Libraries)
    scheduling = Group(_Scheduling)

    def __init__(self) -> None:
        """All options with their defaults."""
        super().__init__()

    def configure_ipu_system(self, device: str = "cpu") -> None:
        """Let the devices of this process be as this configuration says."""
        configure_ipu_system(self, device)

    def to_dict(self) -> dict[str, Any]:
        """The options, nested as the categories are."""
        return self._as_dict()

    def from_dict(self, dct: dict[str, Any]) -> None:
        """Set the options that ``dct`` has."""
        self._take(dct)

    def to_json(self) -> str:
        """The options as JSON, members of enums by their names."""
        return json.dumps(self.to_dict(), default=lambda value: value.name)

    def from_json(self, json_cfg: str) -> None:
        """Set the options that a text of ``to_json`` has."""
        self._take(json.loads(json_cfg))


def configure_ipu_system(config: IPUConfig, device: str = "cpu", reset_configuration: bool = True) -> None:
    """Let the devices of this process be as ``config`` says; later changes of ``config`` change nothing.

    Args:
        device: of the host, from which devices are configured; there is one.
        reset_configuration: whether a configuration that is there already may go.

    Raises:
        TypeError: ``config`` is no ``IPUConfig``.
        ValueError: options that contradict each other.
        RuntimeError: there is another configuration, and it may not go.
    """
    if not isinstance(config, IPUConfig):
        raise TypeError(f"configure_ipu_system takes an IPUConfig, got {type(config).__name__}")
    devices = _devices(config)
    if len(SYSTEM) and not reset_configuration and SYSTEM.config.to_dict() != config.to_dict():
        raise RuntimeError("the IPU system is configured already; give reset_configuration=True to configure it anew")
    SYSTEM.configure(devices, deepcopy(config))
    if "tensorflow" in sys.modules:
        from ipu_mlir.tensorflow.placement import take_over_devices

        take_over_devices()


def get_ipu_config(session: Any = None) -> list[IPUConfig]:
    """The configuration of each device, as copies.

    Args:
        session: of graph mode; its devices are those of the process.

    Raises:
        RuntimeError: nothing is configured.
    """
    if not len(SYSTEM):
        raise RuntimeError("no IPU system is configured; call configure_ipu_system first")
    return [deepcopy(SYSTEM.config) for _ in range(len(SYSTEM))]


def reset_ipu_configuration() -> None:
    """Forget the configuration; programs run on one IPU then."""
    SYSTEM.configure((), None)


def _devices(config: IPUConfig) -> tuple[Device, ...]:
    """The devices that ``config`` asks for.

    Raises:
        ValueError: its options contradict each other.
    """
    members = _members_of_devices(config)
    _refuse_contradictions(config)
    connection = config.device_connection.type
    is_offline = connection in (DeviceConnectionType.PRE_COMPILE, DeviceConnectionType.NEVER)
    kind = config.device_connection.version if is_offline else config.ipu_model.version
    target = Target.named(kind)
    if config.ipu_model.tiles_per_ipu:
        target = replace(target, tiles_per_ipu=config.ipu_model.tiles_per_ipu)
    groups = ("convolutions", "matmuls", "pooling", "slices")
    for name in config.gcl_poplar_options:
        say_without_effect_on_collectives(name)
    library = library_options({name: getattr(config, name).poplar_options for name in groups})
    one = Device(
        replace(target, io_tiles=config.io_tiles.num_io_tiles),
        partition=library.partition,
        sums=library.sums,
        merging=_merging_options(config),
        float_modes=_float_modes(config),
        remote_merging=REMOTE_MERGING[config.optimizations.merge_remote_buffers.name],
        outlining=config.optimizations.enable_graph_outlining,
        recomputing=config.allow_recompute,
        io_proportion=config.io_tiles.available_memory_proportion,
        connection=connection.name,
        executables=config.serialization_output_folder,
        reports=report_folder(config.compilation_poplar_options),
    )
    return tuple(replace(one, target=replace(one.target, ipus=len(ipus)), members=ipus) for ipus in members)


def _members_of_devices(config: IPUConfig) -> list[tuple[int, ...]]:
    """For each device the IPUs of the system that it has."""
    auto, selected = (_listed(each) for each in (config.auto_select_ipus, config.select_ipus))
    if auto and selected:
        raise ValueError(
            f"both auto_select_ipus={auto} and select_ipus={selected} are given; give the numbers of IPUs, or the "
            "numbers of the listing"
        )
    if len(set(selected)) != len(selected):
        raise ValueError(f"select_ipus={selected} names a group of IPUs twice; each device needs one of its own")
    for number in selected:
        if not 0 <= number < len(LISTING):
            raise ValueError(f"select_ipus={selected}: the listing has numbers from 0 to {len(LISTING) - 1}")
    if selected and "use_ipu_model" in flags():
        raise ValueError("select_ipus names IPUs of a machine, and the IPU model has none; use auto_select_ipus")
    if selected:
        return [LISTING[number] for number in selected]
    if any(count < 1 for count in auto):
        raise ValueError(f"auto_select_ipus={auto}: a device has at least 1 IPU")
    firsts = [sum(auto[:place]) for place in range(len(auto))]
    return [tuple(range(first, first + count)) for first, count in zip(firsts, auto, strict=True)] or [(0,)]


def _listed(value: Any) -> list[int]:
    return [value] if isinstance(value, int) else list(value)


def _refuse_contradictions(config: IPUConfig) -> None:
    connection, kind = config.device_connection, config.device_connection.type
    if kind in (DeviceConnectionType.PRE_COMPILE, DeviceConnectionType.NEVER):
        if not connection.version:
            raise ValueError(f"device_connection.type {kind.name} needs device_connection.version: ipu1, ipu2 or ipu21")
    elif connection.version:
        raise ValueError(
            f"device_connection.version is for the types PRE_COMPILE and NEVER; with {kind.name} leave it empty"
        )
    if not config.ipu_model.version:
        raise ValueError("ipu_model.version is empty; expected ipu1, ipu2 or ipu21")
    processes = config.experimental.multi_replica_distribution
    if processes.process_count and not 0 <= processes.process_index < processes.process_count:
        raise ValueError(
            f"experimental.multi_replica_distribution.process_index is {processes.process_index}, expected a number "
            f"from 0 to {processes.process_count - 1}"
        )
    size = "norms.experimental.distributed_batch_norm_replica_group_size"
    group = config.norms.experimental.distributed_batch_norm_replica_group_size
    if group < 1:
        raise ValueError(f"{size} must be at least 1, got {group}")
    tiles = config.io_tiles
    if group > 1 and tiles.num_io_tiles:
        raise ValueError(f"{size} works without I/O tiles only")
    if tiles.place_ops_on_io_tiles and not tiles.num_io_tiles:
        raise ValueError("Cannot place ops on I/O tiles when io_tiles.num_io_tiles == 0")
    if not 0 < tiles.available_memory_proportion <= 1:
        raise ValueError(
            f"io_tiles.available_memory_proportion is {tiles.available_memory_proportion}, expected a number above 0 "
            "and at most 1"
        )


_MERGED = {
    "maximum_cross_replica_sum_buffer_size": "all_reduce_bytes",
    "maximum_reduce_scatter_buffer_size": "reduce_scatter_bytes",
    "maximum_all_gather_buffer_size": "all_gather_bytes",
    "maximum_inter_ipu_copies_buffer_size": "inter_ipu_bytes",
}


def _merging_options(config: IPUConfig) -> tuple[tuple[str, int], ...]:
    """Options of ``ipu-merge-collectives``.

    Raises:
        ValueError: a number of bytes is below 0.
    """
    found = []
    for name, option in _MERGED.items():
        value = getattr(config.optimizations, name)
        if value < 0:
            raise ValueError(f"optimizations.{name} is a number of bytes from 0 on, got {value}")
        found += [(option, value)] if value else []
    return tuple(found)


_ROUNDING = {"OFF": "nearest", "ON": "stochastic", "REPLICA_IDENTICAL_ONLY": "identical"}


def _float_modes(config: IPUConfig) -> tuple[tuple[str, Any], ...]:
    """Options of ``ipu-set-float-modes``: none where no option of floats is set, which costs nothing."""
    asked = config.floating_point_behaviour
    exceptions = tuple(name for name in ("inv", "div0", "oflo") if getattr(asked, name) or asked.set_all)
    rounding = "stochastic" if asked.set_all else _ROUNDING[asked.esr.name]
    gives_nan = asked.nanoo or asked.set_all
    if not exceptions and rounding == "nearest" and not gives_nan:
        return ()
    overflow = "nan" if gives_nan else "clip"
    return (("rounding", rounding), ("overflow", overflow), ("exceptions", exceptions))
