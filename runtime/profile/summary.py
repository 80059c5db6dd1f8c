"""A profile as a text to read."""

from typing import TYPE_CHECKING

from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.dialects.support.text import printable
from ipu_mlir.runtime.profile.target_facts import PEAK_TYPES

if TYPE_CHECKING:
    from ipu_mlir.runtime.profile.execution import Execution
    from ipu_mlir.runtime.profile.profile import Profile

_KINDS = (
    ("compute", "compute"),
    ("exchange", "exchange"),
    ("inter_ipu", "links between IPUs"),
    ("sync", "sync"),
    ("host", "host"),
)
_TOP_OPS = 10


def summary(profile: "Profile") -> str:
    """A text that says where the cycles go, how good the rate is, how full tiles are, and which ops take longest."""
    lines = [*_head(profile), "", *_cycles(profile), *_ipus(profile), "", *_rates(profile), "", *_top_ops(profile)]
    return "".join(f"{printable(line)}\n" for line in lines)


def _head(profile: "Profile") -> list[str]:
    target = profile.target
    ipus = counted(target.ipus, "IPU")
    lines = [
        f"{profile.program.entry} on {target.name}: {ipus} with {target.tiles_per_ipu:,} tiles at "
        f"{target.clock_hz / 1e9:.3f} GHz" + (f", one of {target.replicas:,} replicas" if target.replicas > 1 else ""),
        f"{counted(profile.num_compute_sets, 'compute set')}, {counted(profile.num_vertices, 'vertex', 'vertices')}, "
        f"{counted(len(profile.compilation.steps), 'step')}",
    ]
    if profile.execution.unknown_counts:
        lines.append(
            f"not known how often control flow runs at {', '.join(profile.execution.unknown_counts)}: taken once; "
            "profile with inputs to count"
        )
    return lines


def _cycles(profile: "Profile") -> list[str]:
    cycles = profile.execution.cycles
    total = max(1, cycles.total + cycles.overlapped)
    rows = cycles_by_kind(profile)
    lines = [f"{'cycles':<20}{'':>16}{'share':>8}"]
    lines += [f"  {name:<18}{count:>16,}{count / total:>8.1%}" for name, count in rows]
    if cycles.overlapped:
        lines.append(f"  {'at the same time':<18}{-cycles.overlapped:>16,}")
    lines.append(f"  {'total':<18}{cycles.total:>16,}{'':>8}  {_time(profile.execution.seconds)}")
    if cycles.has_wide_range:
        lines.append(f"  {cycles.least:,} to {cycles.most:,} with what is assumed about links, syncs and the host")
    return lines


def cycles_by_kind(profile: "Profile") -> list[tuple[str, int]]:
    """Cycles under the name of what they are spent on."""
    cycles = profile.execution.cycles
    return [(name, getattr(cycles, kind)) for kind, name in _KINDS if getattr(cycles, kind) or kind != "inter_ipu"]


def _ipus(profile: "Profile") -> list[str]:
    """A line for each of several IPUs."""
    ipus = profile.execution.ipus
    if len(ipus) == 1:
        return []
    names = (*(kind for kind, _ in _KINDS), "waiting")
    lines = ["", f"{'shard, IPU':<12}" + "".join(f"{name:>12}" for name in names) + f"{'fullest tile':>16}"]
    for shard, each in enumerate(ipus):
        fullest = max(profile.tile_bytes()[shard * profile.target.tiles_per_ipu :][: profile.target.tiles_per_ipu])
        cells = "".join(f"{getattr(each, name):>12,}" for name in names)
        lines.append(f"{shard:>5}, {each.ipu:<5}{cells}{f'{fullest:,} B':>16}")
    return lines


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3f} {unit}"
    return f"{seconds * 1e6:.3f} us"


def _rates(profile: "Profile") -> list[str]:
    execution, memory = profile.execution, profile.compilation.memory
    fits = "fits" if profile.compilation.fits else "DOES NOT FIT"
    lines = [
        *_flop_rates(execution),
        f"tile balance {execution.tile_balance:.1%}",
        f"{execution.bytes_exchanged:,} B exchanged between tiles",
        f"tile {memory.worst_tile} holds most: {memory.worst_bytes:,} of {memory.limit:,} B "
        f"({memory.worst_bytes / memory.limit:.1%}), {fits}",
    ]
    if memory.worst_bytes_as_written is not None:
        lines.append(f"  in an order of supersteps that saves memory; as written, {memory.worst_bytes_as_written:,} B")
    return lines + [f"  {problem.message}" for problem in profile.compilation.problems]


def _flop_rates(execution: "Execution") -> list[str]:
    """Operations per second as a whole, and without the transfers of the host, which a stream would hide."""
    device = max(1, execution.cycles.total - execution.cycles.host)
    found = []
    for text, factor in (("", 1.0), (" without the host", execution.cycles.total / device)):
        shares = ((name, getattr(execution.share_of_peak, name)) for name in PEAK_TYPES)
        of_peak = "".join(f", {share * factor:.2%} of the {name} peak" for name, share in shares if share is not None)
        found.append(f"{execution.flops_per_second * factor / 1e12:.3f} TFLOP/s{of_peak}{text}")
    return found if execution.flops and execution.cycles.host else found[:1]


def _top_ops(profile: "Profile") -> list[str]:
    ops = sorted(profile.ops, key=lambda op: -op.cycles)[:_TOP_OPS]
    lines = [f"{'share':>6}{'cycles':>14}{'exchange':>14}{'of peak':>9}  op"]
    for op in ops:
        peak = "" if op.share_of_peak is None else f"{op.share_of_peak:.1%}"
        place = f" at {op.location}" if op.location else ""
        lines.append(f"{op.share:>6.1%}{op.cycles:>14,}{op.exchange_cycles:>14,}{peak:>9}  {op.name}{place}")
    return lines
