"""Advice for a program that does not fit: only what, by the numbers, can save what is too much on the worst tile."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ipu_mlir.dialects.analysis.buffers import root_of
from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.analysis.program.tree import steps
from ipu_mlir.dialects.attributes.attributes import parts_from_attr
from ipu_mlir.dialects.machine.machine import MACHINES
from ipu_mlir.dialects.mapping.loops import ceil_div
from ipu_mlir.dialects.memory.exchange_code import ExchangeCode
from ipu_mlir.dialects.memory.report import CODE, MemoryReport, Variable
from ipu_mlir.dialects.ops.vertices import accesses
from ipu_mlir.dialects.support.element_types import ELEMENT_TYPES
from ipu_mlir.dialects.support.errors import Settings

_NOT_SHARED = ("vertex_code", "vertex_state", "control_code")
"""Categories that a tile has however many tiles there are."""

_WIDE = tuple(name for name, row in ELEMENT_TYPES.items() if row.bits >= 32 and name != "index")
_PLACES = 3
"""So many exchanges are named."""

_PROPORTIONS = (0.1, 0.03)
_TIMES = (1, 2, 4)
"""Which shares of the memory of a tile, and how many times the IPUs that may do, there are to choose from."""


@dataclass(frozen=True)
class Advice:
    """Something to try, and the settings that ``text`` names for it.

    Attributes:
        choices: settings with which a compiler can try it, the weakest first.
        compiled: whether the program was compiled with the settings, and fits.
    """

    text: str
    settings: Settings = field(default_factory=Settings)
    choices: tuple["Advice", ...] = ()
    compiled: bool = False


def advice_for_one_tile(report: MemoryReport, largest: tuple[tuple[Variable, int], ...]) -> tuple[Advice, ...]:
    """Advice for a program that fits on all tiles but one."""
    average = report.peak.total() // report.target.num_tiles
    where = f"tiles need {average:,} B on average"
    needed, op = max(_run_alone(report, report.peak.worst_tile()), default=(0, ""))
    if needed > report.limit:
        return (
            Advice(f"more parts (ipu.parts) for {op}, or a form of it that can be cut: it runs whole here; {where}"),
        )
    assert largest, "without data there is only code, which is another kind of problem"
    variable = largest[0][0]
    if variable.category in ("argument", "constant"):
        return (Advice(f"another placement of {variable.name} (ipu.map, or ipu_mlir.place), or none: {where}"),)
    return (Advice(f"more parts (ipu.parts) for {variable.name}: {where}"),)


def _run_alone(report: MemoryReport, tile: int) -> Iterator[tuple[int, str]]:
    """Bytes of all that it reads and writes, and name, of each op whose only vertex is on ``tile``."""
    for step in steps(report.tree):
        if step.kind != "compute":
            continue
        for family in step.op.regions[0].blocks[0].operations:
            parts = parts_from_attr(family.operation.attributes["parts"])
            if parts.num_parts == 1 and parts.first_tile == tile:
                place = place_of(family.operation.location)
                roots = {root_of(value) for value, _ in accesses(family)}
                size = sum(report.sizes.of(root.type).data.on(tile) for root in roots)
                yield size, f"the op at {place}" if place else "an op"


def advice_for_all_tiles(report: MemoryReport) -> tuple[Advice, ...]:
    """Advice for a program that is too large as a whole, the likeliest first."""
    tile = report.peak.worst_tile()
    over = report.peak.on(tile) - report.limit
    held = {name: each.on(tile) for name, each in report.categories.items()}
    living = report.live_on(tile)
    code = sum(held[name] for name in CODE)
    fixed = sum(held[name] for name in _NOT_SHARED)
    brought = sum(size for each, size in living if each.op is not None and each.op.name == "ipu.exchange")
    computed = held["temporaries"] + held["results"] + held["scratch"] + held["exchange_code"]
    wide = sum(
        size
        for each, size in living
        if each.category in ("argument", "constant") and each.type_text.removesuffix(">").endswith(_WIDE)
    )
    found: list[Advice] = []
    if brought >= over:
        text = f"a smaller {{}} (ipu-sweep compares): operands that are brought take {brought:,} B"
        shares = (None, *_PROPORTIONS)
        first, *others = (Settings(available_memory_proportion=share) for share in shares)
        choices = tuple(Advice(text.format(each), each) for each in others)
        found.append(Advice(text.format(first), first, choices))
    if wide // 2 >= over:
        found.append(Advice(f"16-bit types: arguments and constants of 32 bits or more take {wide:,} B here"))
    if computed >= over:
        text = "a smaller batch: results, operands on the way and the code that moves them take"
        found.append(Advice(f"{text} {computed:,} B"))
    if code >= over:
        text = "a loop (scf.for) where layers repeat, so that their code exists once: code takes"
        found.append(Advice(f"{text} {code:,} B"))
    if held["exchange_code"] >= over:
        found.append(Advice(_longer_pieces(report, tile)))
    if held["gaps"] >= over:
        found.append(Advice(f"fewer, larger buffers: {held['gaps']:,} B are lost between small ones"))
    if report.peak.total() <= report.limit * report.target.num_tiles and code <= report.limit:
        average = report.peak.total() // report.target.num_tiles
        found.append(Advice(f"another placement (ipu.map, ipu.parts): tiles need {average:,} B on average"))
    return tuple(_with_more_tiles(report, fixed + brought, found))


def _with_more_tiles(report: MemoryReport, fixed: int, found: list[Advice]) -> list[Advice]:
    """``found`` and how many tiles would do: first where the chip has them, last where it takes more chips.

    Each tile is taken to need the bytes ``fixed`` of the worst tile however many there are; tiles share the others.
    """
    target, worst = report.target, report.peak.largest()
    if fixed >= report.limit:
        return found or [Advice("a program with fewer ops: every tile has code for all of them")]
    tiles = ceil_div(target.num_tiles * (worst - fixed), report.limit - fixed)
    needed = f"at least about {tiles:,} are needed"
    chip = MACHINES[target.name].tiles_per_ipu
    if target.tiles_per_ipu < chip:
        ipus = max(target.ipus, ceil_div(tiles, chip))

        def whole_chips(count: int) -> Advice:
            settings = Settings(tiles_per_ipu=chip, **({"ipus": count} if count > target.ipus else {}))
            have = f"an {target.name} has" if count == 1 else f"{count} IPUs of the kind {target.name} have"
            return Advice(f"more tiles: {needed}, {have} {count * chip:,} ({settings})", settings)

        choices = tuple(whole_chips(ipus * times) for times in _TIMES)
        return [replace(choices[0], choices=choices), *found]
    each = target.tiles_per_ipu
    ipus = ceil_div(tiles, each)

    def chips(count: int) -> Advice:
        settings = Settings(ipus=count)
        text = f"more IPUs: at least about {tiles:,} tiles are needed, {count} IPUs have {count * each:,} ({settings})"
        return Advice(text, settings)

    choices = tuple(chips(ipus * times) for times in _TIMES)
    return [*found, replace(choices[0], choices=choices)]


def _longer_pieces(report: MemoryReport, tile: int) -> str:
    """The exchanges that take most code on ``tile``."""
    code, by_place = ExchangeCode(report.target), Counter[str]()
    for step in steps(report.tree):
        if step.kind == "exchange":
            by_place[place_of(step.op.location) or "an unknown place"] += code.of(step.op).on(tile)
    named = ", ".join(f"{size:,} B at {place}" for place, size in by_place.most_common(_PLACES))
    return f"longer blocks (ipu.parts, ipu.map) where exchanges move single elements, most of their code here: {named}"
