"""What running a program takes, as plain values of the profile (``model``)."""

from dataclasses import dataclass
from typing import Literal

from ipu_mlir.runtime.profile.compilation import Rle

Io = Literal["alone", "meets"]


@dataclass(frozen=True)
class Cycles:
    """Cycles of the whole execution; the tiles of an IPU wait for the slowest in every step.

    Attributes:
        total: the sum of the following, less what is overlapped.
        compute: vertices run.
        exchange: data moves between tiles.
        inter_ipu: data moves over the links between IPUs.
        sync: tiles wait for a sync.
        host: data moves between the host and the IPUs.
        overlapped: of these, cycles of steps of some IPUs while others are at work as well, or of I/O tiles while the
            others are; 0 for a single IPU without I/O tiles.
        least: the total if every assumed figure of the machine is the best of its range.
        most: the total if it is the worst.
    """

    total: int
    compute: int
    exchange: int
    inter_ipu: int
    sync: int
    host: int
    overlapped: int
    least: int
    most: int

    @property
    def has_wide_range(self) -> bool:
        """True if what is assumed about the machine moves the total by more than a tenth."""
        return self.most - self.least > 0.1 * self.total


@dataclass(frozen=True)
class IpuCycles:
    """What one IPU does in the whole execution; the cycles of all kinds add up to those of the execution.

    What I/O tiles do alone is not counted: meanwhile the others work, or wait.

    Attributes:
        ipu: its number in the machine; shards are counted in the order of this list.
        compute: its vertices run.
        exchange: its tiles send and receive.
        inter_ipu: it sends or receives over links.
        sync: its tiles wait for a sync.
        host: data moves between the host and the IPUs.
        waiting: it waits for other IPUs or its own I/O tiles, or has nothing to do.
    """

    ipu: int
    compute: int
    exchange: int
    inter_ipu: int
    sync: int
    host: int
    waiting: int


@dataclass(frozen=True)
class ShareOfPeak:
    """Operations per second as a share of the peak, of a type in which sums of products run; null for other types.

    Attributes:
        f8: of operations in 8-bit floats.
        f16: of operations in 16-bit floats.
        f32: of operations in 32-bit floats.
    """

    f8: float | None
    f16: float | None
    f32: float | None


@dataclass(frozen=True)
class ExecutedStep:
    """What one execution of a step takes, and how often it ran.

    Attributes:
        step: the id of the step.
        count: executions.
        compute: cycles of the slowest tile's vertices.
        exchange: cycles of the tile that sends or receives longest.
        inter_ipu: cycles of the links between IPUs.
        sync: cycles of the sync.
        host: cycles of copies from or to the host.
        balance: busy cycles, mean over all tiles by that of the slowest; 0 where no tile is busy.
        active_tiles: tiles that are busy.
        bytes_sent: bytes that leave tiles.
        bytes_received: bytes that come to tiles from others.
        bytes_received_worst: bytes that come to the tile that receives most.
        io: whether I/O tiles alone run it, while others go on, or both meet in it; left out for steps of the others.
        io_ipus: the shards whose I/O tiles that are; left out for one IPU.
        per_ipu: for each IPU cycles of its slowest tile in compute and in exchange, and of its links; left out for one.
        busy: cycles of each tile's vertices, or of what it sends and receives, as an index into ``tile_cycles`` of the
            execution; left out where no tile is busy.
        traffic: who sends to whom, as an index into ``traffic`` of the execution; left out where nobody sends, and for
            all exchanges but the few different ones that take longest.
    """

    step: int
    count: int
    compute: int
    exchange: int
    inter_ipu: int
    sync: int
    host: int
    balance: float
    active_tiles: int
    bytes_sent: int
    bytes_received: int
    bytes_received_worst: int
    io: Io | None
    io_ipus: tuple[int, ...] | None
    per_ipu: tuple[tuple[int, ...], ...] | None
    busy: int | None
    traffic: int | None

    @property
    def cycles(self) -> int:
        """Cycles of one execution."""
        return self.compute + self.exchange + self.inter_ipu + self.sync + self.host


@dataclass(frozen=True)
class Execution:
    """What running takes.

    Attributes:
        measured: whether a run has counted how often blocks run; otherwise only constant bounds are known.
        unknown_counts: places of control flow that nobody knows about; each was taken to run once.
        cycles: of the whole execution.
        seconds: at the target's clock.
        flops: floating-point operations.
        bytes_exchanged: bytes that tiles received from others.
        flops_per_second: operations by seconds.
        share_of_peak: the same as a share of the peak.
        tile_balance: busy compute cycles, mean over all tiles by ``cycles.compute``.
        ipus: what each IPU does, by shard.
        steps: what each step takes, in program order.
        tile_cycles: cycles of each tile, each list once, however many steps have it.
        group_tiles: tiles of a group in ``traffic``; no group has tiles of two IPUs.
        traffic: bytes between groups of tiles in one execution of a step, as the group that sends, the one that
            receives, and the bytes, which count once for all tiles of a group that receive them.
    """

    measured: bool
    unknown_counts: tuple[str, ...]
    cycles: Cycles
    seconds: float
    flops: int
    bytes_exchanged: int
    flops_per_second: float
    share_of_peak: ShareOfPeak
    tile_balance: float
    ipus: tuple[IpuCycles, ...]
    steps: tuple[ExecutedStep, ...]
    tile_cycles: tuple[Rle, ...]
    group_tiles: int
    traffic: tuple[tuple[tuple[int, int, int], ...], ...]
