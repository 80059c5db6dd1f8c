"""Chips: the numbers of the machine that costs are computed from.

``Target`` says what a program is compiled for and is written into IR; ``Machine`` is its figures, and what follows from
them. ``figures`` has their values for the chips that there are, and where these come from.
"""

from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

from ipu_mlir.dialects.machine.figures import CHIPS, FIGURES
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.element_types import element_type


@dataclass(frozen=True)
class Machine:
    """One kind of IPU, in a system: the figures of ``FIGURES``, under their names.

    >>> IPU21.peak_flops("f16") / 1e12
    348.5696
    """

    name: str
    tiles_per_ipu: int
    bytes_per_tile: int
    clock_hz: float
    workers: int
    f32_vector_width: int
    f16_vector_width: int
    exchange_bytes_per_cycle: int
    sync_cycles: int
    start_cycles: int
    external_sync_cycles: int
    tiles_per_shared_bus: int
    amp_units: int
    amp_weight_bytes_per_unit: int
    amp_takes_f8: bool
    amp_f16_cycles: int
    amp_f32_cycles: int
    coefficient_load_bytes_per_cycle: int
    ipu_link_bytes_per_second: float
    neighbour_bytes_per_second: float
    hop_cycles: int
    ipus_per_machine: int
    ipus_per_pod: int
    host_bytes_per_second: float
    host_write_bytes_per_second: float
    host_read_bytes_per_second: float
    streaming_bytes_per_second: float
    streaming_bytes: int
    gateway_bytes_per_second: float

    def vector_width(self, dtype: str) -> int:
        """Elements of a floating-point type that one instruction takes; 1 for a type without vector instructions.

        Those narrower than f32 are computed as f16; for f8, of which 64 bits hold more, that is assumed.

        >>> [IPU2.vector_width(dtype) for dtype in ("f32", "bf16", "f8E4M3FN", "i32")]
        [2, 4, 4, 1]
        """
        unit = element_type(dtype).unit
        return self.f32_vector_width if unit == "f32" else self.f16_vector_width if unit else 1

    def amp_cycles(self, dtype: str) -> int:
        """Cycles of a worker for one field element in the AMP units."""
        return self.amp_f32_cycles if element_type(dtype).unit == "f32" else self.amp_f16_cycles

    def amp_input_channels(self, dtype: str) -> int:
        """Input channels that one pass through the AMP units sums."""
        unit = element_type(dtype).unit
        is_byte = unit == "f8" and self.amp_takes_f8
        return self.amp_weight_bytes_per_unit // (4 if unit == "f32" else 1 if is_byte else 2)

    def amp_flops_per_cycle(self, dtype: str) -> int:
        """Floating-point operations of the AMP units of one tile, a multiply-add counted as two.

        >>> IPU2.amp_flops_per_cycle("f16"), IPU2.amp_flops_per_cycle("f32"), IPU1.amp_flops_per_cycle("f16")
        (128, 32, 64)
        >>> IPU2.amp_flops_per_cycle("f8E4M3FNUZ")
        256
        """
        return 2 * self.amp_units * self.amp_input_channels(dtype) // self.amp_cycles(dtype)

    def peak_flops(self, dtype: str) -> float:
        """Floating-point operations per second of one IPU at best."""
        return self.clock_hz * self.tiles_per_ipu * self.amp_flops_per_cycle(dtype)


def _of_chip(name: str) -> Machine:
    values: dict[str, Any] = {figure: each.of(name) for figure, each in FIGURES.items()}
    return Machine(name, **values)


IPU1, IPU2, IPU21 = map(_of_chip, CHIPS)

MACHINES = {machine.name: machine for machine in (IPU1, IPU2, IPU21)}


@lru_cache(maxsize=256)
def machine_of(target: Target) -> Machine:
    """The machine of ``target``: the figures that it has.

    >>> machine_of(Target(tiles_per_ipu=16)).amp_units, machine_of(Target.named("bow")).clock_hz
    (16, 1850000000.0)
    """
    return Machine(**{field.name: getattr(target, field.name) for field in fields(Machine)})


@lru_cache(maxsize=256)
def ends_of_assumptions(target: Target) -> tuple[Target, Target]:
    """``target`` with the best, and with the worst, of the values that each assumed figure may have.

    A figure that ``target`` sets itself is no assumption.

    >>> best, worst = ends_of_assumptions(Target(sync_cycles=90))
    >>> [(each.sync_cycles, each.neighbour_bytes_per_second) for each in (best, worst)]
    [(90, 80000000000.0), (90, 48000000000.0)]
    """
    best: dict[str, Any] = {}
    worst: dict[str, Any] = {}
    for name, figure in FIGURES.items():
        ends = figure.range_of(target.name)
        if ends is not None and getattr(target, name) == figure.of(target.name):
            fewest_cycles = ends if figure.is_count else reversed(ends)
            best[name], worst[name] = map(figure.kind, fewest_cycles)
    return replace(target, **best), replace(target, **worst)
