"""The machine that a program is compiled for."""

import math
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any

from ipu_mlir.dialects.machine.figures import FIGURES, MAY_BE_ABSENT, chip_named
from ipu_mlir.dialects.support.errors import Settings, TargetError
from ipu_mlir.dialects.support.pictures import table, title

SELECTION_ORDERS = ("auto", "zigzag", "snake", "hoof")
MOST_TILES, MOST_IPUS = 1_000_000_000, 4096
"""Of the costs, some take memory for each tile, others for each pair of IPUs. Pods have up to 1,024 IPUs."""
_MOST = 1 << 53
"""Beyond it, bytes and cycles are no longer exact where floats count them."""


class _OfChip:
    """Stands for the figure of the chip until a target is made."""

    def __repr__(self) -> str:
        return "<that of the chip>"


OF_CHIP: Any = _OfChip()


@dataclass(frozen=True)
class Target:
    """One or more IPUs of one kind; tile ids count on over the IPUs: ``0 .. num_tiles - 1``.

    A program may run on several ``replicas`` of them at once. Everything else here is of one replica: its IPUs, its
    tiles, its memory.

    ``name`` is a chip: ``ipu1`` (or ``mk1``: GC2), ``ipu2`` (``mk2``: GC200) or ``ipu21`` (``bow``). Every figure that
    is not given is that of the chip; ``ipu_mlir.dialects.machine.figures`` has their values, units and sources.

    Raises:
        TargetError: there is no such chip, or a figure is no number that a machine can have.

    >>> Target.named("bow", ipus=2).num_tiles, Target.named("bow").clock_hz
    (2944, 1850000000.0)
    >>> Target(tiles_per_ipu=16).num_tiles
    16
    """

    name: str = "ipu2"
    ipus: int = 1
    tiles_per_ipu: int = OF_CHIP
    bytes_per_tile: int = OF_CHIP
    clock_hz: float = OF_CHIP
    workers: int = OF_CHIP  # threads that share a tile's issue slots
    f32_vector_width: int = OF_CHIP
    f16_vector_width: int = OF_CHIP
    exchange_bytes_per_cycle: int = OF_CHIP  # received by one tile
    sync_cycles: int = OF_CHIP  # of all tiles of one IPU
    selection_order: str = "auto"  # which IPU of the machine each shard is: auto, zigzag, snake or hoof
    replicas: int = 1  # of these IPUs, that run the program at the same time on data of their own
    io_tiles: int = 0  # of an IPU, its last ones: kept free of the program, for data on the way in and out
    emulated: bool = False  # no real machine: a program that does not fit its memory is compiled all the same
    external_sync_cycles: int = OF_CHIP  # of the IPUs of one device
    start_cycles: int = OF_CHIP  # of a vertex
    tiles_per_shared_bus: int = OF_CHIP
    amp_units: int = OF_CHIP
    amp_weight_bytes_per_unit: int = OF_CHIP
    amp_takes_f8: bool = OF_CHIP
    amp_f16_cycles: int = OF_CHIP
    amp_f32_cycles: int = OF_CHIP
    coefficient_load_bytes_per_cycle: int = OF_CHIP
    ipu_link_bytes_per_second: float = OF_CHIP
    neighbour_bytes_per_second: float = OF_CHIP
    hop_cycles: int = OF_CHIP
    ipus_per_machine: int = OF_CHIP
    ipus_per_pod: int = OF_CHIP
    host_bytes_per_second: float = OF_CHIP
    host_write_bytes_per_second: float = OF_CHIP
    host_read_bytes_per_second: float = OF_CHIP
    streaming_bytes_per_second: float = OF_CHIP
    streaming_bytes: int = OF_CHIP
    gateway_bytes_per_second: float = OF_CHIP

    @classmethod
    def named(cls, name: str, ipus: int = 1, **figures: Any) -> "Target":
        """``ipus`` chips of the kind that is called ``name``, with these ``figures`` in the place of its own.

        Raises:
            TargetError: as of the class.

        >>> Target.named("mk1", ipus=4).num_tiles
        4864
        """
        return cls(name, ipus, **figures)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", chip_named(self.name))
        for field, figure in FIGURES.items():
            if getattr(self, field) is OF_CHIP:
                object.__setattr__(self, field, figure.of(self.name))
            _check_figure(field, getattr(self, field))
        _check_count("ipus", self.ipus, 1)
        _check_count("replicas", self.replicas, 1)
        _check_count("io_tiles", self.io_tiles, -_MOST)
        if self.ipus > MOST_IPUS:
            raise TargetError(
                f"a target has at most {MOST_IPUS:,} IPUs, got {self.ipus:,}; copies of a program on more are replicas",
                settings=(Settings(ipus=MOST_IPUS), Settings(replicas=None)),
            )
        if self.num_tiles > MOST_TILES:
            raise TargetError(f"a target has at most {MOST_TILES:,} tiles, got {self.num_tiles:,}")
        if self.selection_order not in SELECTION_ORDERS:
            raise TargetError(
                f"a target needs selection_order as one of {', '.join(SELECTION_ORDERS)}, got {self.selection_order!r}"
            )
        if not 0 <= self.io_tiles < self.tiles_per_ipu:
            raise TargetError(
                f"a target needs io_tiles between 0 and {self.tiles_per_ipu - 1}, so that one of its "
                f"{self.tiles_per_ipu} tiles is left for the program; got {self.io_tiles}"
            )

    def _repr_html_(self) -> str:
        """For notebooks: how many tiles there are, and all figures."""
        figures = ((field.name, getattr(self, field.name)) for field in fields(self) if field.name != "name")
        rows = [(name, f"{value:,}" if type(value) in (int, float) else str(value)) for name, value in figures]
        return title(f"{self.name}: {self.num_tiles:,} tiles") + table(("figure", "value"), rows)

    @property
    def num_compute_tiles(self) -> int:
        """Tiles that ops and tensors of the program may lie on: all but the I/O tiles.

        >>> Target(io_tiles=32).num_compute_tiles
        1440
        """
        return self.ipus * (self.tiles_per_ipu - self.io_tiles)

    @property
    def num_tiles(self) -> int:
        """Tiles of all IPUs together."""
        return self.ipus * self.tiles_per_ipu


def _check_figure(name: str, value: object) -> None:
    figure = FIGURES[name]
    if figure.kind is bool:
        if not isinstance(value, bool):
            raise TargetError(f"a target needs {name} as True or False, got {value!r}")
    elif figure.is_count:
        _check_count(name, value, int(figure.least))
    else:
        may_be_zero = name in MAY_BE_ABSENT
        number = float(value) if isinstance(value, Real) else math.nan
        if not math.isfinite(number) or not (number >= 0 if may_be_zero else number > 0):
            least = "of at least 0" if may_be_zero else "above 0"
            raise TargetError(f"a target needs {name} as a number {least}, in {figure.unit}, got {value!r}")


def _check_count(field: str, value: object, least: int) -> None:
    if not isinstance(value, Integral):
        raise TargetError(f"a target needs {field} as a whole number, got {value!r}")
    name, number = Settings({field: None}), int(value)
    if number < least:
        raise TargetError(f"a target needs {name} >= {least}, got {number}", settings=(name,))
    if number >= _MOST:
        raise TargetError(f"a target needs {name} < {_MOST:,}, got {number:,}", settings=(name,))
