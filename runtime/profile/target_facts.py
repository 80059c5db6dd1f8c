"""The machine, as the profile has it."""

from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.runtime.profile import model
from ipu_mlir.runtime.profile.peak_types import PEAK_TYPES


def target_facts(target: Target) -> model.TargetFacts:
    """What the profile says about the machine."""
    machine = machine_of(target)
    return model.TargetFacts(
        name=target.name,
        ipus=target.ipus,
        tiles_per_ipu=target.tiles_per_ipu,
        num_tiles=target.num_tiles,
        bytes_per_tile=target.bytes_per_tile,
        clock_hz=target.clock_hz,
        exchange_bytes_per_cycle=float(target.exchange_bytes_per_cycle),
        sync_cycles=target.sync_cycles,
        emulated=target.emulated,
        peak_flops=model.PeakFlops(
            **{kind: target.ipus * machine.peak_flops(dtype) for kind, dtype in PEAK_TYPES.items()}
        ),
    )
