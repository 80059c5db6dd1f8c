"""The outcome of compiling with a setting, and the settings that no other one beats."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from ipu_mlir.runtime.profile.profile import Profile

Setting = TypeVar("Setting")


@dataclass(frozen=True)
class Outcome(Generic[Setting]):
    """The program compiled with one setting. Cycles are without the transfers of the host.

    Attributes:
        setting: what it was compiled with.
        cycles: of one run; ``compute``, ``exchange`` (links between IPUs included) and ``sync`` add up to them.
        seconds: the same at the clock of the chip.
        tile_bytes: of the tile that needs most; ``tile``: that tile.
        fits: whether that is no more than a tile has.
        unknown_counts: places of control flow that was taken to run once.
        frontier: whether no other setting has both fewer cycles and fewer bytes.
    """

    setting: Setting
    cycles: int
    compute: int
    exchange: int
    sync: int
    seconds: float
    tile_bytes: int
    tile: int
    fits: bool
    unknown_counts: tuple[str, ...]
    frontier: bool = False


def outcome_of(setting: Setting, profile: Profile) -> Outcome[Setting]:
    """The figures of a profile that a sweep compares."""
    cycles, memory = profile.execution.cycles, profile.compilation.memory
    total = cycles.total - cycles.host
    return Outcome(
        setting=setting,
        cycles=total,
        compute=cycles.compute,
        exchange=cycles.exchange + cycles.inter_ipu,
        sync=cycles.sync,
        seconds=total / profile.target.clock_hz,
        tile_bytes=memory.worst_bytes,
        tile=memory.worst_tile,
        fits=profile.compilation.fits,
        unknown_counts=profile.execution.unknown_counts,
    )


def with_frontier(outcomes: Iterable[Outcome[Setting]]) -> list[Outcome[Setting]]:
    """``outcomes``, those marked that no other one beats; equals do not beat each other."""
    fewest_bytes: dict[int, int] = {}  # by cycles
    outcomes = list(outcomes)
    for each in outcomes:
        fewest_bytes[each.cycles] = min(each.tile_bytes, fewest_bytes.get(each.cycles, each.tile_bytes))
    best: dict[int, int] = {}
    least = None
    for cycles in sorted(fewest_bytes):
        if least is None or fewest_bytes[cycles] < least:
            best[cycles] = least = fewest_bytes[cycles]
    return [replace(each, frontier=best.get(each.cycles) == each.tile_bytes) for each in outcomes]


def fastest_that_fits(outcomes: Iterable[Outcome[Setting]]) -> Outcome[Setting] | None:
    """The setting that takes the least time among those that fit, and among these the fewest bytes."""
    return min((each for each in outcomes if each.fits), key=lambda each: (each.seconds, each.tile_bytes), default=None)
