"""The profile of a program: what a user of ``exe.profile()`` holds."""

import json
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.dialects.storage.whole_files import write_whole
from ipu_mlir.dialects.support.pictures import bar, strip, title
from ipu_mlir.runtime.profile import chrome_trace, json_form, summary
from ipu_mlir.runtime.profile.compilation import Compilation
from ipu_mlir.runtime.profile.execution import Execution
from ipu_mlir.runtime.profile.model import SCHEMA, VERSION, Producer, Program, SourceOp, TargetFacts


@dataclass(frozen=True)
class Profile:
    """Cycles, bytes and memory of a program: per step, per source op, and in all.

    Attributes:
        schema: the name of the schema.
        version: its version; a profile of another version has other fields.
        producer: who wrote it.
        program: what was compiled.
        target: what it was compiled for.
        compilation: what is known without running.
        execution: what running takes.
        ops: the ops of the source, in program order.
    """

    schema: str
    version: int
    producer: Producer
    program: Program
    target: TargetFacts
    compilation: Compilation
    execution: Execution
    ops: tuple[SourceOp, ...]

    @property
    def total_cycles(self) -> int:
        """Cycles of the whole execution."""
        return self.execution.cycles.total

    @property
    def num_vertices(self) -> int:
        """Vertices in the text of the program."""
        return sum(each.vertices for each in self.compilation.compute_sets)

    @property
    def num_compute_sets(self) -> int:
        """Compute sets in the text of the program."""
        return len(self.compilation.compute_sets)

    def tile_bytes(self, including_gaps: bool = True) -> IntArray:
        """The most bytes that each tile holds at a time, shape ``(num_tiles,)``."""
        tiles = self.compilation.memory.per_tile
        values, counts = zip(*(tiles.peak if including_gaps else tiles.without_gaps), strict=True)
        return np.repeat(np.array(values, dtype=np.int64), counts)

    def summary(self) -> str:
        """The profile as a text to read."""
        return summary.summary(self)

    def _repr_html_(self) -> str:
        """For notebooks: cycles by kind, the memory of each tile, and the text of the summary to unfold."""
        full = self.target.bytes_per_tile
        fullest = int(self.tile_bytes().max(initial=0))
        return (
            title(f"{self.program.entry} on {self.target.name}: {self.total_cycles:,} cycles")
            + bar(summary.cycles_by_kind(self))
            + title(f"memory of each tile; the fullest holds {fullest:,} of {full:,} B")
            + strip(self.tile_bytes().tolist(), full)
            + f"<details><summary>summary</summary><pre>{escape(self.summary())}</pre></details>"
        )

    def to_json(self) -> dict[str, Any]:
        """As JSON values, of the schema in ``profile.schema.json``."""
        return json_form.to_json(self)

    @staticmethod
    def from_json(value: Any) -> "Profile":
        """The profile of JSON values.

        Raises:
            ProfileFormatError: they are no profile of this version.
        """
        found = (value.get("schema"), value.get("version")) if isinstance(value, dict) else (None, None)
        if found != (SCHEMA, VERSION):
            raise json_form.ProfileFormatError(
                f"this is schema {found[0]!r} in version {found[1]!r}, expected {SCHEMA!r} in version {VERSION}; "
                "write the profile anew with this version"
            )
        return json_form.from_json(Profile, value)

    def chrome_trace(self) -> dict[str, Any]:
        """The execution as trace events, for ``chrome://tracing`` or Perfetto."""
        return chrome_trace.chrome_trace(self)

    def save(self, path: str | Path) -> None:
        """Write the JSON to ``path``.

        Raises:
            IpuError: the file cannot be written; one that was there is as it was.
        """
        write_whole(path, (json.dumps(self.to_json(), separators=(",", ":")) + "\n").encode())

    def __repr__(self) -> str:
        return f"<Profile of {self.program.entry} on {self.target.name}: {self.total_cycles:,} cycles>"
