"""What is known of a program without running it, as plain values of the profile (``model``)."""

from dataclasses import dataclass
from typing import Literal

Rle = tuple[tuple[int, int], ...]
"""A number for every tile, run-length encoded: ``((value, how many tiles in a row), ...)``."""

StepKind = Literal["compute", "exchange", "host_exchange", "sync", "control"]
NodeKind = Literal["sequence", "repeat", "while", "if", "switch", "call", "step"]
Category = Literal["argument", "constant", "result", "temporary"]
ProblemKind = Literal["tiles", "one_tile", "code", "host_streams", "remote"]


@dataclass(frozen=True)
class Problem:
    """One reason why the program does not fit.

    Attributes:
        kind: what is too small.
        tile: the worst tile, null where no tile is concerned.
        step: the step at which it happens, null if it is always so.
        over_bytes: bytes too many.
        message: the reason in one sentence.
        largest: ids of the largest variables there.
        try_: (in JSON ``try``) what to change, one sentence each.
    """

    kind: ProblemKind
    tile: int | None
    step: int | None
    over_bytes: int
    message: str
    largest: tuple[int, ...]
    try_: tuple[str, ...]


@dataclass(frozen=True)
class MemoryPerTile:
    """Bytes that each tile holds.

    Attributes:
        peak: at its worst moment, with gaps: code, what lives always, and temporaries.
        always_live: through the whole program.
        without_gaps: as ``peak``, without what lies unused between variables.
    """

    peak: Rle
    always_live: Rle
    without_gaps: Rle


@dataclass(frozen=True)
class MemoryCategories:
    """What each tile's ``peak`` is made of; the categories add up to it.

    Attributes:
        vertex_code: code of vertices.
        vertex_state: state of vertices.
        exchange_code: instructions that steer exchanges.
        control_code: instructions of the control program.
        arguments: arguments of the program.
        constants: constants of the program.
        results: results of the program.
        temporaries: values that live for a while, at this tile's peak.
        scratch: what vertices need besides while they run, at this tile's peak.
        gaps: bytes between variables that nobody uses.
    """

    vertex_code: Rle
    vertex_state: Rle
    exchange_code: Rle
    control_code: Rle
    arguments: Rle
    constants: Rle
    results: Rle
    temporaries: Rle
    scratch: Rle
    gaps: Rle


@dataclass(frozen=True)
class Memory:
    """Memory of all tiles.

    Attributes:
        limit: bytes that a tile has.
        worst_tile: the tile with the highest peak.
        worst_bytes: its peak.
        total_bytes: the peaks of all tiles together.
        per_tile: the peaks.
        categories: what they are made of.
        worst_bytes_as_written: the highest peak if supersteps ran in the order of the program, left out if they do.
    """

    limit: int
    worst_tile: int
    worst_bytes: int
    total_bytes: int
    per_tile: MemoryPerTile
    categories: MemoryCategories
    worst_bytes_as_written: int | None = None


@dataclass(frozen=True)
class Variable:
    """One allocation.

    Attributes:
        id: its number.
        name: the argument, the constant, or the op that fills it and its place.
        category: what it is.
        type: shape and element type.
        bytes_total: bytes on all tiles together.
        bytes_worst_tile: bytes on the tile that holds most of it.
        tiles: the first tile, the last tile, and how many tiles hold some of it.
        bytes_per_tile: bytes on each tile, as an index into ``tile_bytes`` of the compilation.
        first_step: the step in which it comes to life, null if it lives always.
        last_step: the last step that uses it, null if it lives always.
        location: its place in the source, null if unknown.
    """

    id: int
    name: str
    category: Category
    type: str
    bytes_total: int
    bytes_worst_tile: int
    tiles: tuple[int, ...]
    bytes_per_tile: int
    first_step: int | None
    last_step: int | None
    location: str | None


@dataclass(frozen=True)
class Step:
    """One step in the text of the program, however often it runs, and what lives while it runs.

    Attributes:
        id: its number, in program order.
        kind: what the machine does.
        name: what it is called.
        location: its place in the source, null if unknown.
        op: the id of the source op that it belongs to, null if to none.
        live_bytes_worst: bytes on the tile that holds most, what lives always included.
        live_bytes_total: bytes on all tiles together.
        worst_tile: the tile that holds most.
    """

    id: int
    kind: StepKind
    name: str
    location: str | None
    op: int | None
    live_bytes_worst: int
    live_bytes_total: int
    worst_tile: int


@dataclass(frozen=True)
class ProgramNode:
    """A node of the program tree.

    Attributes:
        kind: a step, a block, or control flow.
        name: what it is called.
        location: its place in the source, null if unknown.
        count: how often it ran, null if nobody knows.
        step: the id of the step, null for other kinds.
        children: what is inside, in program order; empty for a step.
    """

    kind: NodeKind
    name: str
    location: str | None
    count: int | None
    step: int | None
    children: tuple["ProgramNode", ...]


@dataclass(frozen=True)
class Family:
    """Vertices that run the same code, one on a tile.

    Attributes:
        codelet: the code.
        op: the id of the source op that it belongs to.
        vertices: how many.
        tiles: on how many tiles.
        cycles_max: cycles of the slowest vertex.
        cycles_mean: the mean over all vertices.
        cycles_total: the sum over all vertices.
        flops: floating-point operations of all vertices.
        code_bytes: code on each tile.
        state_bytes: state of all vertices.
        scratch_bytes: of the vertex that needs most of it while it runs.
    """

    codelet: str
    op: int | None
    vertices: int
    tiles: int
    cycles_max: int
    cycles_mean: float
    cycles_total: int
    flops: int
    code_bytes: int
    state_bytes: int
    scratch_bytes: int


@dataclass(frozen=True)
class ComputeSet:
    """The vertices of a compute step.

    Attributes:
        id: its number, in program order.
        step: the id of its step.
        vertices: vertices of all families.
        tiles: tiles that run some.
        families: what runs.
    """

    id: int
    step: int
    vertices: int
    tiles: int
    families: tuple[Family, ...]


@dataclass(frozen=True)
class Compilation:
    """What is known without running.

    Attributes:
        fits: whether the program fits the target.
        problems: why not.
        memory: bytes per tile.
        variables: what lies in memory.
        tile_bytes: bytes on each tile, each list once, however many variables have it.
        steps: the steps in program order.
        program_tree: the steps in their control flow.
        compute_sets: the vertices of compute steps.
    """

    fits: bool
    problems: tuple[Problem, ...]
    memory: Memory
    variables: tuple[Variable, ...]
    tile_bytes: tuple[Rle, ...]
    steps: tuple[Step, ...]
    program_tree: ProgramNode
    compute_sets: tuple[ComputeSet, ...]
