"""A whole sweep, and what it says in text, JSON and CSV."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.inspect.outcomes import Outcome, fastest_that_fits
from ipu_mlir.tools.report.units import bytes_text, seconds_text
from ipu_mlir.tools.sweep.settings import MACHINE_AXES, PARTIALS_TYPES, Setting, partials_text

SCHEMA, VERSION = "ipu-mlir.sweep", 1

_COLUMNS = {
    "chip": 8,
    "ipus": 6,
    "replicas": 10,
    "io_tiles": 10,
    "available_memory_proportion": 11,
    "tiles_per_ipu": 8,
    "most_partials": 9,
    "partials_type": 8,
    "cycles": 14,
    "compute": 14,
    "exchange": 14,
    "sync": 10,
    "tile_bytes": 12,
}
_HEADS = {
    "available_memory_proportion": "proportion",
    "tiles_per_ipu": "tiles",
    "most_partials": "partials",
    "partials_type": "type",
}
HOST_LEFT_OUT = "cycles are estimated and leave out what the host transfers"


@dataclass(frozen=True)
class Sweep:
    """The outcomes of all settings.

    Attributes:
        program: the file and the function.
        targets: the machine of each setting.
        outcomes: of the settings with which the program compiles, in the order of the command line.
        refused: the others, with the reason.
    """

    program: str
    targets: Mapping[Setting, Target]
    outcomes: Sequence[Outcome[Setting]]
    refused: Sequence[tuple[Setting, str]] = ()

    @property
    def title(self) -> str:
        """The program and the machine, or what of it varies."""
        if self._varied:
            return f"{self.program} by {', '.join(each.replace('_', ' ') for each in self._varied)}"
        return f"{self.program} on {counted(self._target.ipus, 'IPU')} of the kind {self._target.name}"

    @property
    def _target(self) -> Target:
        return next(iter(self.targets.values()))

    @property
    def _varied(self) -> list[str]:
        return [name for name, _ in next(iter(self.targets)).machine]

    def notes(self) -> list[str]:
        """Sentences that a reader of the numbers has to know, and which setting to take."""
        notes = [f"refused with {setting}: {reason}" for setting, reason in self.refused]
        sizes = {target.name: target.bytes_per_tile for target in self.targets.values()}
        tiles = [f"a tile{f' of {name}' if len(sizes) > 1 else ''} has {size:,} B" for name, size in sizes.items()]
        notes.append(f"{HOST_LEFT_OUT}; {', '.join(tiles)}")
        unknown = list(dict.fromkeys(place for each in self.outcomes for place in each.unknown_counts))
        if unknown:
            notes.append(f"not known how often control flow runs at {', '.join(unknown)}: taken once")
        best = fastest_that_fits(self.outcomes)
        if best is None:
            least = min(self.outcomes, key=self._bytes_too_much)
            over = self._bytes_too_much(least)
            notes.append(f"nothing fits; the nearest is {least.setting}: {over:,} B too much")
        else:
            time, size = seconds_text(best.seconds), bytes_text(best.tile_bytes)
            notes.append(f"fastest that fits: {best.setting}: {time}, {size} on the fullest tile")
        return notes

    def _bytes_too_much(self, outcome: Outcome[Setting]) -> int:
        return outcome.tile_bytes - self.targets[outcome.setting].bytes_per_tile

    def rows(self) -> list[dict[str, Any]]:
        """A flat row per setting, as in the data files."""
        rows = [
            {
                **dict(each.setting.machine),
                "available_memory_proportion": each.setting.proportion,
                "tiles_per_ipu": each.setting.tiles,
                "most_partials": each.setting.most_partials,
                "partials_type": each.setting.partials_type,
                "cycles": each.cycles,
                "compute": each.compute,
                "exchange": each.exchange,
                "sync": each.sync,
                "seconds": each.seconds,
                "tile_bytes": each.tile_bytes,
                "bytes_per_tile": self.targets[each.setting].bytes_per_tile,
                "worst_tile": each.tile,
                "fits": each.fits,
                "frontier": each.frontier,
            }
            for each in self.outcomes
        ]
        if not self._has_types():
            for row in rows:
                del row["partials_type"]
        return rows

    def _has_types(self) -> bool:
        """True if the settings differ from the default type of partial results."""
        return any(each.setting.partials_type != PARTIALS_TYPES[0] for each in self.outcomes)

    def table(self) -> str:
        """The rows as a text to read; ``*`` marks the frontier."""
        left_out = {*MACHINE_AXES, "partials_type"} - {*self._varied, *["partials_type"][: self._has_types()]}
        columns = {name: width for name, width in _COLUMNS.items() if name not in left_out}
        heads = "".join(f"{_HEADS.get(name, name.replace('_', ' ')):>{width}}" for name, width in columns.items())
        lines = [self.title, f"  {heads}{'time':>10}"]
        for row in self.rows():
            shown = {**row, "most_partials": partials_text(row["most_partials"])}
            cells = "".join(f"{_cell(shown[name]):>{width}}" for name, width in columns.items())
            fits = "" if row["fits"] else "  does not fit"
            lines.append(f"{'*' if row['frontier'] else ' '} {cells}{seconds_text(row['seconds']):>10}{fits}")
        lines.append("* no other setting has fewer cycles and fewer bytes on the fullest tile")
        return "\n".join([*lines, *self.notes()]) + "\n"

    def json(self) -> str:
        """All as JSON."""
        return json.dumps(self.plain(), indent=1) + "\n"

    def plain(self) -> dict[str, Any]:
        """All as JSON values."""
        return {
            "schema": SCHEMA,
            "version": VERSION,
            "title": self.title,
            "notes": self.notes(),
            "target": {name: getattr(self._target, name) for name in ("name", "ipus", "clock_hz")},
            "bytes_per_tile": self._target.bytes_per_tile,
            "rows": self.rows(),
        }

    def csv(self) -> str:
        """The rows, with a line of names; no limit of partials is an empty cell."""
        text = io.StringIO()
        rows = self.rows()
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()


def _cell(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}" if isinstance(value, float) else value
