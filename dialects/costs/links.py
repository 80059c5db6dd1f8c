"""Cycles of what goes over a link at so many bytes per second: to the host, to streaming memory, to another IPU."""

from math import ceil

from ipu_mlir.dialects.machine.machine import Machine


def cycles_at(byte_count: int, bytes_per_second: float, machine: Machine) -> int:
    """Cycles of the machine's clock that ``byte_count`` bytes take.

    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> cycles_at(16_000, 16e9, IPU2)
    1325
    """
    return ceil(byte_count * machine.clock_hz / bytes_per_second) if byte_count else 0


def host_write_cycles(bytes_per_ipu: int, machine: Machine) -> int:
    """Cycles in which the host hands that many bytes to each IPU."""
    return cycles_at(bytes_per_ipu, machine.host_write_bytes_per_second, machine)


def host_read_cycles(bytes_per_ipu: int, machine: Machine) -> int:
    """Cycles in which the host takes that many bytes from each IPU."""
    return cycles_at(bytes_per_ipu, machine.host_read_bytes_per_second, machine)


def streaming_cycles(bytes_per_ipu: int, machine: Machine) -> int:
    """Cycles in which each IPU copies that many bytes from or to its streaming memory."""
    return cycles_at(bytes_per_ipu, machine.streaming_bytes_per_second, machine)


def ipu_link_cycles(bytes_per_ipu: int, machine: Machine) -> int:
    """Cycles in which an IPU takes that many bytes from others."""
    return cycles_at(bytes_per_ipu, machine.ipu_link_bytes_per_second, machine)
