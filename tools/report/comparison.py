"""Two profiles side by side: totals, and ops that have the same name and location."""

from collections import defaultdict
from typing import Any

from ipu_mlir.runtime.profile.profile import Profile
from ipu_mlir.tools.report.units import percent
from ipu_mlir.tools.report.verdict import KINDS

_OP_FIELDS = ("cycles", "compute_cycles", "exchange_cycles", "flops", "bytes")


def compare(this: Profile, other: Profile) -> dict[str, Any]:
    """Totals and ops of both, for the page.

    ``words`` say it in a sentence. ``totals`` are rows ``{"name", "unit", "this", "other"}``; ``ops`` are rows
    ``{"name", "location", "this", "other"}``, where a side is null if it has no such op. Several ops of one name and
    location are added up. Most changed first.
    """
    ours, theirs = _by_name(this), _by_name(other)
    rows = [
        {"name": name, "location": location, "this": ours.get((name, location)), "other": theirs.get((name, location))}
        for name, location in dict.fromkeys([*ours, *theirs])
    ]
    rows.sort(key=lambda row: -abs(_cycles(row["this"]) - _cycles(row["other"])))
    return {"words": _words(this, other), "totals": _totals(this, other), "ops": rows}


def _words(this: Profile, other: Profile) -> str:
    """``Takes 12 % fewer cycles than the other, and its fullest tile holds 3 % more.``"""
    cycles = _changed(
        this.execution.cycles.total, other.execution.cycles.total, "fewer cycles than", "more cycles than"
    )
    memory = _changed(
        this.compilation.memory.worst_bytes, other.compilation.memory.worst_bytes, "less than", "more than"
    )
    fits = {
        (True, False): " It fits, and the other does not.",
        (False, True): " It does not fit, and the other does.",
        (False, False): " Neither fits.",
    }
    text = f"It takes {cycles or 'as many cycles as'} the other"
    text += f"; its fullest tile holds {memory or 'as much as'} the other's."
    return text + fits.get((this.compilation.fits, other.compilation.fits), "")


def _changed(this: float, other: float, less: str, more: str) -> str:
    """``12 % more``; empty where nothing has changed."""
    if this == other:
        return ""
    return f"{percent(abs(this - other) / max(1, other))} {less if this < other else more}"


def _totals(this: Profile, other: Profile) -> list[dict[str, Any]]:
    def row(name: str, unit: str, *path: str) -> dict[str, Any]:
        return {"name": name, "unit": unit, "this": _value(this, path), "other": _value(other, path)}

    return [
        row("all cycles", "cycles", "execution", "cycles", "total"),
        *(row(text, "cycles", "execution", "cycles", kind) for kind, text in KINDS.items()),
        row("time", "seconds", "execution", "seconds"),
        row("operations", "flops", "execution", "flops"),
        row("operations per second", "flops_per_second", "execution", "flops_per_second"),
        row("tile balance", "share", "execution", "tile_balance"),
        row("bytes exchanged", "bytes", "execution", "bytes_exchanged"),
        row("fullest tile", "bytes", "compilation", "memory", "worst_bytes"),
        row("limit of a tile", "bytes", "compilation", "memory", "limit"),
        row("memory of all tiles", "bytes", "compilation", "memory", "total_bytes"),
    ]


def _value(profile: Profile, path: tuple[str, ...]) -> Any:
    value: Any = profile
    for key in path:
        value = getattr(value, key)
    return value


def _by_name(profile: Profile) -> dict[tuple[str, str | None], dict[str, float]]:
    """Each op's figures, by name and location."""
    sums: dict[tuple[str, str | None], dict[str, float]] = defaultdict(lambda: dict.fromkeys(_OP_FIELDS, 0))
    for op in profile.ops:
        entry = sums[op.name, op.location]
        for field in _OP_FIELDS:
            entry[field] += getattr(op, field)
    return dict(sums)


def _cycles(side: dict[str, float] | None) -> float:
    return side["cycles"] if side else 0
