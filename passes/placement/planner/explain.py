"""A decision of the planner as text: what was considered, what it costs, what was taken."""

from collections.abc import Sequence

from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.passes.placement.planner.candidates import Candidate
from ipu_mlir.passes.placement.planner.operation import InSteps, Operation

_HEADINGS = ("compute", "brought", "combined", "total", "temporary", "resident")


def explain(operation: Operation, candidates: Sequence[Candidate], chosen: Candidate | InSteps) -> str:
    """Lines with cycles and bytes of every candidate, the cheapest first; what was taken has a ``*``."""
    loops = " x ".join(map(str, operation.extents)) or "one point"
    room = f"{operation.temporary_bytes:,} B for temporaries"
    lines = [f"{operation.location}: {operation.name} ({operation.codelet}), {loops}, {room}"]
    lines.append("  " + "".join(f"{heading:>12}" for heading in _HEADINGS) + "  parts")
    for each in sorted(candidates, key=lambda one: (one is not chosen, not one.fits, one.total)):
        numbers = (each.compute, each.brought, each.combined, each.total, each.temporary, each.resident)
        mark, note = "*" if each is chosen else " ", "" if each.fits else ", too large"
        note += f", {each.links:,} on links" if each.links else ""
        columns = "".join(f"{number:>12,}" for number in numbers)
        lines.append(f"{mark} {columns}  {_cuts(each.parts)} ({each.origin}{note})")
    if isinstance(chosen, InSteps):
        steps = -(-operation.extents[chosen.loop] // chosen.block)
        lines.append(f"* in {steps} steps over {chosen.block} iterations of loop d{chosen.loop} each")
    return "\n".join(lines)


def _cuts(parts: Parts) -> str:
    """``16 x 1 x 3 = 48 tiles``: into how many blocks each loop is cut."""
    counts = " x ".join(map(str, parts.parts_per_loop)) or "1"
    return f"{counts} = {parts.num_parts:,} tiles"
