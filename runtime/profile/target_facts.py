"""The machine, as the profile has it, and by which of its peaks the operations of a type are measured."""

from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.element_types import element_type
from ipu_mlir.runtime.profile import model


def target_facts(target: Target) -> model.TargetFacts:
    """The facts of the profile about the machine."""
    machine = machine_of(target)
    return model.TargetFacts(
        name=target.name,
        ipus=target.ipus,
        replicas=target.replicas,
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


PEAK_TYPES = {"f8": "f8E4M3FNUZ", "f16": "f16", "f32": "f32"}
"""The peaks, each with a type whose products run at it."""


def peak_type_of(dtype: str) -> str:
    """The peak for operations on MLIR's type ``dtype``; what is no float of 16 or 8 bits has that of f32.

    >>> [peak_type_of(dtype) for dtype in ("f8E5M2", "bf16", "f32", "i32")]
    ['f8', 'f16', 'f32', 'f32']
    """
    return element_type(dtype).unit or "f32"
