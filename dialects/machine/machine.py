"""Chips: the numbers of the machine that costs are computed from.

``Target`` says what a program is compiled for and is written into IR; ``Machine`` adds the figures that follow from the
kind of chip. ``machine_of`` finds them by the target's name; a target of one's own has those of ``ipu2``.

Every figure says where it comes from: *read* in a public repository, *data sheet*, *third party*, *recalled* (public
data sheets and papers that were not read again), or *assumed*.
"""

from dataclasses import dataclass, fields, replace
from functools import lru_cache

from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.element_types import element_type
from ipu_mlir.dialects.support.errors import Settings, TargetError


@dataclass(frozen=True)
class Machine:
    """One kind of IPU, in a system. Bandwidths are of one IPU and one direction, unless the name says otherwise.

    The defaults are those of the second-generation chip (GC200).

    >>> IPU21.peak_flops("f16") / 1e12
    348.5696
    """

    name: str = "ipu2"
    tiles_per_ipu: int = 1472  # read: TessellateIPU, PopLibs, libpva
    bytes_per_tile: int = 638_976  # 624 KiB; recalled; 900 MB per IPU: data sheet
    clock_hz: float = 1.325e9  # third party: 1.325 to 1.35
    workers: int = 6  # read: threads in turn, so that one of them issues one instruction in 6 cycles
    f32_vector_width: int = 2  # read: PopLibs, 64 bits
    f16_vector_width: int = 4  # read: PopLibs, 64 bits
    exchange_bytes_per_cycle: int = 4  # third party: 8 TB/s over 1472 tiles

    tiles_per_shared_bus: int = 2  # read: PopLibs, `tilesPerSharedExchangeBus`; receive twice as much of the same data

    amp_units: int = 16  # read: PopLibs, convolution units that a vertex uses
    amp_weight_bytes_per_unit: int = 32  # read: PopLibs; 16 input channels of f16 or 8 of f32
    amp_takes_f8: bool = True  # read: PopLibs, 16 units for f8; which of its formats they take is assumed: every one
    amp_f16_cycles: int = 4  # read: PopLibs; per field element and worker, of 16 input channels, or 32 of f8
    amp_f32_cycles: int = 8  # read: PopLibs; of 8 input channels
    coefficient_load_bytes_per_cycle: int = 16  # agrees with measured times of matmuls; recalled

    sync_cycles: int = 100  # assumed: between 70 and 160 on one chip; not public
    external_sync_cycles: int = 600  # assumed: IPUs of one device; not public

    ipu_link_bytes_per_second: float = 160e9  # third party: 10 links, 320 GB/s in both directions
    host_write_bytes_per_second: float = 16e9  # third party: PCIe 4 x8 from the gateway to an IPU
    host_read_bytes_per_second: float = 5.5e9  # read: measured, back to the host through the gateway
    streaming_bytes_per_second: float = 20e9  # recalled: memory beside the chips, of one IPU
    streaming_bytes: int = 64_000_000_000  # data sheet: 256 GB for four IPUs
    gateway_bytes_per_second: float = 25e9  # data sheet: 2 x 100 GbE, of a machine of four IPUs

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


IPU1 = Machine(
    name="ipu1",
    tiles_per_ipu=1216,  # read: ipu-hpc-cookbook
    bytes_per_tile=262_144,  # 256 KiB; read: ipu-hpc-cookbook
    clock_hz=1.6e9,  # read: nominal; systems run at 1.3 GHz
    amp_units=8,  # read: PopLibs tests
    amp_takes_f8=False,  # assumed: what was read speaks of the second generation
    coefficient_load_bytes_per_cycle=8,  # recalled
    ipu_link_bytes_per_second=160e9,  # third party: five links of 64 GB/s in both directions
    host_write_bytes_per_second=16e9,  # third party: PCIe 3 x16
    host_read_bytes_per_second=16e9,  # third party: as above
    streaming_bytes_per_second=16e9,  # assumed: the memory is the host's, behind PCIe
    streaming_bytes=0,  # there is none beside the chip
    gateway_bytes_per_second=0.0,  # there is none
)
"""First generation: GC2."""

IPU2 = Machine()
"""Second generation: GC200."""

IPU21 = replace(IPU2, name="ipu21", clock_hz=1.85e9)  # clock: read in TessellateIPU; all else as GC200
"""Second generation, Bow: the cycles of GC200 at a higher clock."""

MACHINES = {machine.name: machine for machine in (IPU1, IPU2, IPU21)}


@lru_cache(maxsize=256)
def machine_of(target: Target) -> Machine:
    """The machine of ``target``: the table of its name, or of ``ipu2``, with what the target says itself.

    >>> machine_of(Target(name="small", tiles_per_ipu=16)).amp_units
    16
    """
    table = MACHINES.get(target.name, IPU2)
    own = {field.name for field in fields(Machine)}
    return replace(table, **{x.name: getattr(target, x.name) for x in fields(Target) if x.name in own})


def target_named(name: str, ipus: int = 1) -> Target:
    """``ipus`` chips of the kind that is called ``name``.

    Raises:
        TargetError: there is no such kind, or less than one chip.

    >>> target_named("ipu21", ipus=4).num_tiles
    5888
    """
    if name not in MACHINES:
        others = Settings(tiles_per_ipu=None)
        raise TargetError(
            f"no target is called '{name}'; there are {', '.join(MACHINES)}, and {others} for others",
            settings=(others,),
        )
    shared = {field.name for field in fields(Target)} & {field.name for field in fields(Machine)}
    return Target(ipus=ipus, **{field: getattr(MACHINES[name], field) for field in shared})
