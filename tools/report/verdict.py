"""The verdict of a profile, in sentences: fit, time, what takes the time, balance."""

from dataclasses import dataclass
from typing import Literal

from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.runtime.profile.profile import Profile
from ipu_mlir.runtime.profile.target_facts import PEAK_TYPES
from ipu_mlir.tools.report.runs import mean, tiles_above
from ipu_mlir.tools.report.units import bytes_text, large_text, percent, seconds_text

Fit = Literal["fits", "nearly full", "does not fit"]

KINDS = {
    "compute": "compute",
    "exchange": "exchange between tiles",
    "inter_ipu": "exchange between IPUs",
    "sync": "synchronisation",
    "host": "waiting for the host",
}
"""The kinds of cycles of a profile, and what to call them in a sentence."""

NEARLY_FULL = 0.9
"""Share of a tile's memory from which little is left for a larger batch or a longer sequence."""

_MUCH_HOST = 0.1
"""Share of all cycles from which it is worth saying what the program takes without the host."""


@dataclass(frozen=True)
class Verdict:
    """``fit`` in a word, and a sentence for each question."""

    fit: Fit
    memory: str
    time: str
    dominant: str
    balance: str


def verdict_of(profile: Profile) -> Verdict:
    """The verdict on one profile."""
    return Verdict(fit_of(profile), _memory(profile), _time(profile), _dominant(profile), _balance(profile))


def fit_of(profile: Profile) -> Fit:
    """The verdict on whether the program fits, from the compiler's own answer and the fullest tile."""
    memory = profile.compilation.memory
    if not profile.compilation.fits:
        return "does not fit"
    return "nearly full" if memory.worst_bytes > NEARLY_FULL * memory.limit else "fits"


def _memory(profile: Profile) -> str:
    as_written = profile.compilation.memory.worst_bytes_as_written
    order = "" if as_written is None else f" Steps in the order of the program would need {bytes_text(as_written)}."
    return _use(profile) + order


def _use(profile: Profile) -> str:
    memory = profile.compilation.memory
    worst, limit, tile = memory.worst_bytes, memory.limit, memory.worst_tile
    if worst > limit:
        full = tiles_above(memory.per_tile.peak, limit)
        return (
            f"It does not fit: tile {tile:,} needs {bytes_text(worst)} of its {bytes_text(limit)}, "
            f"{bytes_text(worst - limit)} too many; {full:,} of {counted(profile.target.num_tiles, 'tile')} "
            f"{'is' if full == 1 else 'are'} over the limit."
        )
    use = f"tile {tile:,}, the fullest, uses {bytes_text(worst)} of {bytes_text(limit)} ({percent(worst / limit)})"
    if not profile.compilation.fits:
        return f"It does not fit, though not for the memory of its tiles: {use}. See the problems below."
    average = percent(mean(memory.per_tile.peak) / limit)
    return f"It fits: {use}, {bytes_text(limit - worst)} are left there. The average tile is {average} full."


def _time(profile: Profile) -> str:
    execution, clock = profile.execution, profile.target.clock_hz
    cycles = execution.cycles
    text = f"It takes {large_text(cycles.total, 'cycles')}"
    if cycles.has_wide_range:
        text += (
            f" ({large_text(cycles.least, 'cycles')} to {large_text(cycles.most, 'cycles')}, by what is assumed about "
            "links, syncs and the host)"
        )
    text += f", {seconds_text(execution.seconds)} at {clock / 1e9:.4g} GHz"
    if execution.flops:
        text += f", and reaches {large_text(execution.flops_per_second, 'FLOP/s')}"
        shares = [f"{percent(share)} of the {kind} peak" for kind, share in peak_shares(profile).items()]
        text += f": {' or '.join(shares)}" if shares else ""
    if execution.unknown_counts:
        nodes = counted(len(execution.unknown_counts), "loop or branch", "loops and branches")
        text += f". How often {nodes} run is not known; each is counted once"
    return f"{text}."


def peak_shares(profile: Profile) -> dict[str, float]:
    """The shares of peak that are known and not nothing, by type."""
    found = profile.execution.share_of_peak
    shares = {kind: getattr(found, kind) for kind in PEAK_TYPES}
    return {kind: share for kind, share in shares.items() if share}


def cycle_shares(profile: Profile) -> dict[str, float]:
    """The share of all cycles of each kind, largest first."""
    cycles = profile.execution.cycles
    one_by_one = cycles.total + cycles.overlapped
    shares = {kind: getattr(cycles, kind) / max(1, one_by_one) for kind in KINDS}
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def _dominant(profile: Profile) -> str:
    if not profile.execution.cycles.total:
        return "It takes no cycles at all."
    (first, share), *others = cycle_shares(profile).items()
    verb = "takes nearly all of the time" if share > 0.9 else "dominates" if share > 0.5 else "takes most"
    rest = [f"{KINDS[kind]} {percent(part)}" for kind, part in others if part >= 0.005]
    name = KINDS[first]
    text = f"{name[0].upper()}{name[1:]} {verb}, {percent(share)} of all cycles"
    text = f"{text}; {_listed(rest)}." if rest else f"{text}."
    cycles = profile.execution.cycles
    if cycles.host < _MUCH_HOST * cycles.total:
        return text
    return f"{text} Without the host it takes {large_text(cycles.total - cycles.host, 'cycles')}."


def _balance(profile: Profile) -> str:
    balance = profile.execution.tile_balance
    if not profile.execution.cycles.compute:
        return "No tile computes."
    text = f"While the slowest tile of a step computes, the average tile is busy {percent(balance)} of the time"
    if balance >= 0.9:
        return f"{text}: the work is spread evenly."
    if balance >= 0.6:
        return f"{text}: some tiles wait for others."
    return f"{text}: most of the compute time is waiting for a few tiles."


def _listed(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
