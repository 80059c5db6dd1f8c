"""The IPUs that a process has: which devices are configured, and what programs on them are compiled for."""

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.passes.programs.merge_remote_buffers import Merged
from ipu_mlir.tensorflow.engine_options import report_folder, say_if_unknown_flag

MOST_LISTED = 16
"""IPUs of the system whose listing ``select_ipus`` counts in."""

LISTING: tuple[tuple[int, ...], ...] = tuple(
    tuple(range(first, first + size)) for size in (1, 2, 4, 8, 16) for first in range(0, MOST_LISTED, size)
)
"""Groups of IPUs by the number that they have in the listing: singles, pairs, fours, eights, all."""

REMOTE_MERGING: dict[str, Merged] = {"NO_MERGING": "none", "MERGE": "all", "IF_BENEFICIAL": "beneficial"}
"""By name of a ``MergeRemoteBuffersBehaviour``, the option of ``ipu-merge-remote-buffers``."""

_NAME = re.compile(r"(?i)(?:.*/)?(?:device:)?ipu:(\d+)")


@dataclass(frozen=True)
class Device:
    """One ``/device:IPU:n``.

    Attributes:
        target: the machine that programs on it are compiled for, with all of its IPUs.
        members: which IPUs of the system it has.
        partition: options of ``ipu-partition``, by name.
        sums: options of ``ipu-widen-sums``, by name.
        merging: options of ``ipu-merge-collectives``, by name.
        remote_merging: which variables in remote memory ``ipu-merge-remote-buffers`` merges.
        outlining: whether layers that are alike are one function.
        recomputing: whether values of the forward part of a gradient may be computed again, outside of pipelines.
        float_modes: options of ``ipu-set-float-modes``, by name.
        io_proportion: the share of the memory of I/O tiles that data of the host may take.
        connection: when the process attaches to it, by the name of the ``DeviceConnectionType``.
        executables: the folder for what was compiled, empty for none; None for none even if the environment names one.
        reports: the folder for reports of what was compiled and of what ran, empty for none.
    """

    target: Target = field(default_factory=Target)
    members: tuple[int, ...] = (0,)
    partition: tuple[tuple[str, Any], ...] = ()
    sums: tuple[tuple[str, Any], ...] = ()
    merging: tuple[tuple[str, int], ...] = ()
    remote_merging: Merged = "beneficial"
    outlining: bool = True
    recomputing: bool = False
    float_modes: tuple[tuple[str, Any], ...] = ()
    io_proportion: float = 0.9
    connection: str = "ALWAYS"
    executables: str | None = ""
    reports: str = ""


_IPUS_OF_REPLICA: ContextVar[int] = ContextVar("IPUs of a replica", default=1)


@contextmanager
def replica_of(ipus: int) -> Iterator[None]:
    """A block for programs that need so many IPUs: the device has as many replicas fewer."""
    before = _IPUS_OF_REPLICA.set(ipus)
    try:
        yield
    finally:
        _IPUS_OF_REPLICA.reset(before)


def replicas_of(device: Device) -> int:
    """The replicas of programs on ``device``."""
    return device.target.ipus // _IPUS_OF_REPLICA.get()


class System:
    """What is configured: devices by their ordinal, each with the ``IPUConfig`` that it comes from."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._devices: tuple[Device, ...] = ()
        self._config: Any = None

    @property
    def config(self) -> Any:
        """The configuration of the system; None where there is none."""
        return self._config

    def configure(self, devices: tuple[Device, ...], config: Any) -> None:
        """Let the system have ``devices``."""
        with self._lock:
            self._devices, self._config = devices, config

    def device(self, ordinal: int = 0) -> Device:
        """The device of that number; a system that nobody has configured has one of one IPU.

        Raises:
            ValueError: there is no such device.
        """
        devices = self._devices or (Device(reports=report_folder({})),)
        if not 0 <= ordinal < len(devices):
            raise ValueError(
                f"there is no /device:IPU:{ordinal}: the system is configured with {len(devices)}; give "
                "auto_select_ipus a number of IPUs for each device"
            )
        return devices[ordinal]

    def __len__(self) -> int:
        return len(self._devices)


SYSTEM = System()
"""That of this process."""


CURRENT: ContextVar[int | None] = ContextVar("ipu device", default=None)
ENTERED: ContextVar[list[int] | None] = ContextVar("ipu devices entered", default=None)
"""Where somebody wants to know it: the ordinals of devices whose scopes were entered."""
"""The number of the device that a block of Python is for; None where it is for the host."""


def ordinal_of(device: str) -> int:
    """The number of a device from its name.

    >>> ordinal_of("/device:IPU:1"), ordinal_of("/job:localhost/replica:0/task:0/device:IPU:0"), ordinal_of("IPU:2")
    (1, 0, 2)

    Raises:
        ValueError: it is not the name of an IPU.
    """
    found = _NAME.fullmatch(device) if isinstance(device, str) else None
    if found is None:
        raise ValueError(f"{device!r} is not the name of an IPU device; expected one such as '/device:IPU:0'")
    return int(found.group(1))


def is_ipu(device: str) -> bool:
    """True if ``device`` is the name of an IPU."""
    return isinstance(device, str) and _NAME.fullmatch(device) is not None


def flags() -> dict[str, str]:
    """The options in the environment variable ``TF_POPLAR_FLAGS``, those without a value as ``true``."""
    given = (each.removeprefix("--").partition("=") for each in os.environ.get("TF_POPLAR_FLAGS", "").split())
    found = {name.replace("-", "_"): value or "true" for name, _, value in given}
    for name in found:
        say_if_unknown_flag(name)
    return found


def is_synthetic(category: str) -> bool:
    """True if ``TF_POPLAR_FLAGS`` asks for synthetic data of a category, such as ``infeed``."""
    given = flags()
    named = given.get("synthetic_data_categories", "").strip("{}'\"").lower().split(",")
    return "use_synthetic_data" in given or category in [each.strip() for each in named]
