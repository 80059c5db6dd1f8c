"""The machine that a program is compiled for."""

from dataclasses import dataclass

from ipu_mlir.dialects.errors import TargetError


@dataclass(frozen=True)
class Target:
    """One or more IPUs of one kind; tile ids count on over the IPUs: ``0 .. num_tiles - 1``.

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
    emulated: bool = False  # no real machine: a program that does not fit its memory is compiled all the same

    def __post_init__(self) -> None:
        for field in ("ipus", "tiles_per_ipu", "bytes_per_tile", "workers", "exchange_bytes_per_cycle"):
            value = getattr(self, field)
            if value < 1:
                raise TargetError(f"a target needs {field} >= 1, got {value}")
        if self.sync_cycles < 0:
            raise TargetError(f"a target needs sync_cycles >= 0, got {self.sync_cycles}")

    @property
    def num_tiles(self) -> int:
        """Tiles of all IPUs together."""
        return self.ipus * self.tiles_per_ipu
