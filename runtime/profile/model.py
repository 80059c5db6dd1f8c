"""The profile as plain values: who, what, for which machine, and the ops of the source.

The other fields are in ``compilation`` and ``execution``. The JSON has the names and the nesting of these classes, and
their docstrings say what every field is. Sizes are in bytes and times in cycles of the target's clock, unless a name
says otherwise.
"""

from dataclasses import dataclass

SCHEMA, VERSION = "ipu-mlir.profile", 4


@dataclass(frozen=True)
class Producer:
    """Who wrote the profile.

    Attributes:
        name: the project.
        version: its version.
    """

    name: str
    version: str


@dataclass(frozen=True)
class SourceLine:
    """A line of the source that a location names.

    Attributes:
        file: the file without its folder, as locations name it.
        line: its number, from 1.
        text: the line, without the white space around it.
    """

    file: str
    line: int
    text: str


@dataclass(frozen=True)
class Program:
    """What was compiled.

    Attributes:
        entry: the function that runs.
        source: the file it comes from, null if it comes from none.
        lines: the lines that steps come from, as far as they are of that file or of Python code that was loaded.
    """

    entry: str
    source: str | None
    lines: tuple[SourceLine, ...]


@dataclass(frozen=True)
class PeakFlops:
    """The most floating-point operations per second of all IPUs, with the units for sums of products.

    Attributes:
        f8: in 8-bit floats; as f16 where the units do not take them.
        f16: in 16-bit floats.
        f32: in 32-bit floats.
    """

    f8: float
    f16: float
    f32: float


@dataclass(frozen=True)
class TargetFacts:
    """What the program was compiled for.

    Attributes:
        name: the kind of chip, or a name of the user's own.
        ipus: IPUs of a replica.
        replicas: how many run the program at once; all else of the profile is of one of them.
        tiles_per_ipu: tiles of each IPU.
        num_tiles: tiles of all IPUs.
        bytes_per_tile: memory of a tile.
        clock_hz: cycles per second.
        exchange_bytes_per_cycle: bytes that a tile sends, and at the same time receives, per cycle.
        sync_cycles: of a sync of the tiles of one IPU.
        emulated: whether a program that does not fit is profiled all the same.
        peak_flops: the most operations per second.
    """

    name: str
    ipus: int
    replicas: int
    tiles_per_ipu: int
    num_tiles: int
    bytes_per_tile: int
    clock_hz: float
    exchange_bytes_per_cycle: float
    sync_cycles: int
    emulated: bool
    peak_flops: PeakFlops


@dataclass(frozen=True)
class SourceOp:
    """An op of the source, with all steps that were made from it.

    Attributes:
        id: its number, in program order.
        name: the op.
        location: its place in the source or its name scope, null if unknown.
        cycles: of its vertices, and of the exchanges that bring what they read; without syncs.
        compute_cycles: of its vertices alone, on the tile that is slowest in each step.
        exchange_cycles: of its exchanges alone, links between IPUs included.
        flops: floating-point operations of all executions.
        bytes: operands and results on all tiles, of the step where they are most.
        steps: ids of its steps.
        executions: how often the step ran that ran most often.
        share: of the cycles of the whole execution.
        share_of_peak: operations per second of its own compute cycles by the peak; null where it has none.
    """

    id: int
    name: str
    location: str | None
    cycles: int
    compute_cycles: int
    exchange_cycles: int
    flops: int
    bytes: int
    steps: tuple[int, ...]
    executions: int
    share: float
    share_of_peak: float | None
