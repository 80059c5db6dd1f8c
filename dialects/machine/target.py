"""The machine that a program is compiled for."""

from dataclasses import dataclass
from numbers import Integral, Real

from ipu_mlir.dialects.support.errors import Settings, TargetError

SELECTION_ORDERS = ("auto", "zigzag", "snake", "hoof")
MOST_TILES = 1_000_000_000
_MOST = 1 << 53
"""Beyond it, bytes and cycles are no longer exact where floats count them."""


@dataclass(frozen=True)
class Target:
    """One or more IPUs of one kind; tile ids count on over the IPUs: ``0 .. num_tiles - 1``.

    A program may run on several ``replicas`` of them at once. Everything else here is of one replica: its IPUs, its
    tiles, its memory.

    The defaults are those of the second-generation chip (GC200). Figures marked *recalled* come from public data
    sheets that were not read again.

    >>> Target(ipus=2).num_tiles
    2944
    >>> Target(name="test", tiles_per_ipu=16).num_tiles
    16
    """

    name: str = "ipu2"
    ipus: int = 1
    tiles_per_ipu: int = 1472
    bytes_per_tile: int = 638_976  # 624 KiB (recalled)
    clock_hz: float = 1.325e9
    workers: int = 6  # threads that share a tile's issue slots
    f32_vector_width: int = 2
    f16_vector_width: int = 4
    exchange_bytes_per_cycle: int = 4  # received by one tile
    sync_cycles: int = 100  # of all tiles of one IPU; assumed: between 70 and 160, not public
    selection_order: str = "auto"  # which IPU of the machine each shard is: auto, zigzag, snake or hoof
    replicas: int = 1  # of these IPUs, that run the program at the same time on data of their own
    io_tiles: int = 0  # of an IPU, its last ones: kept free of the program, for data on the way in and out
    emulated: bool = False  # no real machine: a program that does not fit its memory is compiled all the same

    def __post_init__(self) -> None:
        counts = ("ipus", "tiles_per_ipu", "bytes_per_tile", "workers", "exchange_bytes_per_cycle", "replicas")
        for field in (*counts, "sync_cycles", "io_tiles"):
            value: int = getattr(self, field)
            if not isinstance(value, Integral):
                raise TargetError(f"a target needs {field} as a whole number, got {value!r}")
            name = Settings({field: None})
            if field in counts and value < 1:
                raise TargetError(f"a target needs {name} >= 1, got {value}", settings=(name,))
            if value >= _MOST:
                raise TargetError(f"a target needs {name} < {_MOST:,}, got {value:,}", settings=(name,))
        if self.num_tiles > MOST_TILES:
            raise TargetError(f"a target has at most {MOST_TILES:,} tiles, got {self.num_tiles:,}")
        if self.selection_order not in SELECTION_ORDERS:
            raise TargetError(
                f"a target needs selection_order as one of {', '.join(SELECTION_ORDERS)}, got {self.selection_order!r}"
            )
        if not isinstance(self.clock_hz, Real) or self.clock_hz <= 0:
            raise TargetError(f"a target needs clock_hz as a number above 0, got {self.clock_hz!r}")
        if self.sync_cycles < 0:
            raise TargetError(f"a target needs sync_cycles >= 0, got {self.sync_cycles}")
        if not 0 <= self.io_tiles < self.tiles_per_ipu:
            raise TargetError(
                f"a target needs io_tiles between 0 and {self.tiles_per_ipu - 1}, so that one of its "
                f"{self.tiles_per_ipu} tiles is left for the program; got {self.io_tiles}"
            )

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
