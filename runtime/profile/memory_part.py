"""The memory of a program, as the profile has it."""

from ipu_mlir.dialects.memory.per_tile import PerTile
from ipu_mlir.dialects.memory.problems import memory_problems
from ipu_mlir.dialects.memory.report import MemoryReport
from ipu_mlir.runtime.profile import compilation
from ipu_mlir.runtime.profile.tile_lists import Distinct


def memory_part(report: MemoryReport) -> compilation.Memory:
    """Bytes per tile and what they are for."""
    return compilation.Memory(
        limit=report.limit,
        worst_tile=report.peak.worst_tile(),
        worst_bytes=report.peak.largest(),
        total_bytes=report.peak.total(),
        per_tile=compilation.MemoryPerTile(
            peak=_runs(report.peak),
            always_live=_runs(report.always_live),
            without_gaps=_runs(report.without_gaps),
        ),
        categories=compilation.MemoryCategories(**{name: _runs(each) for name, each in report.categories.items()}),
        worst_bytes_as_written=report.peak_as_written,
    )


def variables(report: MemoryReport) -> tuple[tuple[compilation.Variable, ...], tuple[compilation.Rle, ...]]:
    """The variables that lie in memory, and the bytes on each tile that their indices mean."""
    found, bytes_of_tiles = [], Distinct[compilation.Rle]()
    for each in report.variables:
        held = each.size.data
        some = held.lengths()[held.values > 0]
        starts = held.starts[held.values > 0]
        tiles = (int(starts[0]), int(starts[-1] + some[-1] - 1), int(some.sum())) if len(some) else (0, 0, 0)
        found.append(
            compilation.Variable(
                id=each.number,
                name=each.name,
                category=each.category,
                type=each.type_text,
                bytes_total=held.total(),
                bytes_worst_tile=held.largest(),
                tiles=tiles,
                bytes_per_tile=bytes_of_tiles.index_of(_runs(held)),
                first_step=each.first_step,
                last_step=each.last_step,
                location=each.location or None,
            )
        )
    return tuple(found), bytes_of_tiles.values


def problems(report: MemoryReport) -> tuple[compilation.Problem, ...]:
    """The reasons why the program does not fit."""
    return tuple(
        compilation.Problem(
            kind=each.kind,
            tile=each.tile,
            step=each.step,
            over_bytes=each.over_bytes,
            message=each.message,
            largest=tuple(variable.number for variable, _ in each.largest),
            try_=each.tries,
        )
        for each in memory_problems(report)
    )


def _runs(numbers: PerTile) -> compilation.Rle:
    return tuple(numbers.runs())
