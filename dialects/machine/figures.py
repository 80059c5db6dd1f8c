"""The figures of chips, and of the systems that they are in: the one place that has them, each with its source.

A source is *read* in a public repository, a *data sheet*, a *third party*, *recalled* (public data sheets and papers
that were not read again), or *assumed*.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ipu_mlir.dialects.support.errors import Settings, TargetError

ALIASES = {"mk1": "ipu1", "mk2": "ipu2", "bow": "ipu21"}
"""Other names of chips."""

CHIPS = ("ipu1", "ipu2", "ipu21")
"""GC2 (Mk1), GC200 (Mk2), and Bow: the cycles of GC200 at a higher clock."""

Value = int | float | bool


@dataclass(frozen=True)
class Figure:
    """One figure of the machine.

    Attributes:
        unit: what is counted; a bandwidth is of one IPU and one direction, unless the name says otherwise.
        of_chips: by the name of a chip the value and its source. A chip that is not there has that of ``ipu2``.
        ranges: by the name of a chip the values between which one that is *assumed* lies; as of ``of_chips``.
        least: no value is lower.
        is_count: only whole numbers.
    """

    unit: str
    of_chips: Mapping[str, tuple[Value, str]]
    least: float = 1
    is_count: bool = True
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def kind(self) -> type:
        """The type of its values in IR: bool, int or float."""
        return type(self.of_chips["ipu2"][0])

    def of(self, chip: str) -> Value:
        """Its value for the chip ``chip``."""
        return self.of_chips.get(chip, self.of_chips["ipu2"])[0]

    def range_of(self, chip: str) -> tuple[float, float] | None:
        """The values between which its value for the chip ``chip`` lies; None if that is no assumption."""
        return self.ranges.get(chip, self.ranges.get("ipu2") if chip not in self.of_chips else None)

    def source(self, chip: str) -> str:
        """The source of its value for the chip ``chip``."""
        return self.of_chips.get(chip, self.of_chips["ipu2"])[1]


def _count(unit: str, mk2: tuple[int, str], mk1: tuple[int, str] | None = None, *, least: int = 1) -> Figure:
    return Figure(unit, {"ipu2": mk2, **({"ipu1": mk1} if mk1 else {})}, least)


def _rate(unit: str, mk2: tuple[float, str], mk1: tuple[float, str], **others: tuple[float, str]) -> Figure:
    return Figure(unit, {"ipu2": mk2, "ipu1": mk1, **others}, 0.0, is_count=False)


def _within(figure: Figure, low: float, high: float, **others: tuple[float, float]) -> Figure:
    """``figure``, whose value for ``ipu2`` is assumed to lie between ``low`` and ``high``."""
    return replace(figure, ranges={"ipu2": (low, high), **others})


FIGURES: dict[str, Figure] = {
    "tiles_per_ipu": _count("tiles", (1472, "read: TessellateIPU, PopLibs, libpva"), (1216, "read: ipu-hpc-cookbook")),
    "bytes_per_tile": _count(
        "B",
        (638_976, "624 KiB, recalled; 900 MB per IPU: data sheet"),
        (262_144, "256 KiB, read: ipu-hpc-cookbook"),
    ),
    "clock_hz": _rate(
        "Hz",
        (1.325e9, "third party: 1.325 to 1.35 GHz"),
        (1.6e9, "read: nominal; systems run at 1.3 GHz"),
        ipu21=(1.85e9, "read: TessellateIPU"),
    ),
    "workers": _count("threads", (6, "read: in turn, so that one of them issues one instruction in 6 cycles")),
    "f32_vector_width": _count("elements", (2, "read: PopLibs, 64 bits")),
    "f16_vector_width": _count("elements", (4, "read: PopLibs, 64 bits")),
    "exchange_bytes_per_cycle": _count("B per cycle, received by a tile", (4, "third party: 8 TB/s over 1472 tiles")),
    "sync_cycles": _within(_count("cycles", (100, "assumed: on one chip; not public"), least=0), 70, 160),
    "start_cycles": _count(
        "cycles to start a vertex",
        (44, "read: TessellateIPU, AMP vertices of 16 to 2,048 rows take 36 to 51 more than PopLibs' formula"),
        least=0,
    ),
    "external_sync_cycles": _within(
        _count("cycles", (600, "assumed: IPUs of one device; not public"), least=0), 300, 1500
    ),
    "tiles_per_shared_bus": _count(
        "tiles that receive twice as much of the same data", (2, "read: PopLibs, tilesPerSharedExchangeBus")
    ),
    "amp_units": _count("units", (16, "read: PopLibs, convolution units of a vertex"), (8, "read: PopLibs tests")),
    "amp_weight_bytes_per_unit": _count("B", (32, "read: PopLibs; 16 input channels of f16 or 8 of f32")),
    "amp_takes_f8": Figure(
        "",
        {
            "ipu2": (True, "read: PopLibs, 16 units for f8; which of its formats they take is assumed: every one"),
            "ipu1": (False, "assumed: what was read speaks of the second generation"),
        },
        0,
        is_count=False,
    ),
    "amp_f16_cycles": _count("cycles of a worker per field element", (4, "read: PopLibs, 16 input channels; 32 of f8")),
    "amp_f32_cycles": _count("cycles of a worker per field element", (8, "read: PopLibs, 8 input channels")),
    "coefficient_load_bytes_per_cycle": _count(
        "B per cycle", (16, "recalled; agrees with measured times of matmuls"), (8, "recalled")
    ),
    "ipu_link_bytes_per_second": _rate(
        "B/s",
        (160e9, "third party: 10 links, 320 GB/s in both directions"),
        (160e9, "third party: five links of 64 GB/s in both directions"),
    ),
    "neighbour_bytes_per_second": _within(
        _rate(
            "B/s, to one neighbour",
            (64e9, "assumed: four of the 10 links; data sheet: two connectors of 512 Gb/s, both directions together"),
            (96e9, "read: three links of 64 GB/s in both directions to the other IPU of a board"),
        ),
        48e9,
        80e9,
    ),
    "hop_cycles": _within(
        _count("cycles until a block is at a neighbour", (400, "assumed; not public"), least=0), 150, 1500
    ),
    "ipus_per_machine": _count("IPUs", (4, "data sheet: IPU-M2000"), (16, "read: eight boards of two")),
    "ipus_per_pod": _count(
        "IPUs that IPU-Links join; more are joined by gateways", (64, "data sheet: a rack"), (16, "one machine")
    ),
    "host_bytes_per_second": _within(
        _rate(
            "B/s, of a host for the IPUs of a rack",
            (25e9, "assumed: 2 x 100 GbE of one host"),
            (128e9, "assumed: the links of eight boards"),
        ),
        12.5e9,
        100e9,
        ipu1=(64e9, 128e9),
    ),
    "host_write_bytes_per_second": _rate(
        "B/s",
        (16e9, "third party: PCIe 4 x8 from the gateway to an IPU"),
        (24.2e9, "read: measured, 40 MB in 2.64 M cycles, over PCIe 4 x16"),
    ),
    "host_read_bytes_per_second": _rate(
        "B/s", (5.5e9, "read: measured, back to the host through the gateway"), (16e9, "third party: PCIe 3 x16")
    ),
    "streaming_bytes_per_second": replace(
        _rate(
            "B/s",
            (20e9, "recalled: memory beside the chips, of one IPU"),
            (16e9, "assumed: the memory is the host's, behind PCIe"),
        ),
        ranges={"ipu1": (8e9, 16e9)},
    ),
    "streaming_bytes": _count(
        "B", (64_000_000_000, "data sheet: 256 GB for four IPUs"), (0, "there is none beside the chip"), least=0
    ),
    "gateway_bytes_per_second": _rate(
        "B/s", (25e9, "data sheet: 2 x 100 GbE, of a machine of four IPUs"), (0.0, "there is none")
    ),
}
"""By name."""

MAY_BE_ABSENT = ("gateway_bytes_per_second",)
"""Rates that are 0 where a system has no such thing."""


def chip_named(name: object) -> str:
    """The one of ``CHIPS`` that is called ``name``, in any case.

    Raises:
        TargetError: there is no such chip.

    >>> chip_named("Bow"), chip_named("ipu2")
    ('ipu21', 'ipu2')
    """
    wanted = name.lower() if isinstance(name, str) else name
    found = ALIASES.get(wanted, wanted) if isinstance(wanted, str) else wanted
    if found not in CHIPS:
        also = {chip: alias for alias, chip in ALIASES.items()}
        known = ", ".join(f"{chip} ({also[chip]})" for chip in CHIPS)
        others = Settings(tiles_per_ipu=None)
        raise TargetError(
            f"no chip is called {name!r}; there are {known}, whose figures can be changed, as {others}",
            settings=(others,),
        )
    return str(found)
