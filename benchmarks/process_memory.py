"""How much memory this process has and had, where the system tells (Linux)."""

from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def resident_bytes() -> int | None:
    """Memory in use now; None where it cannot be known."""
    return _field("VmRSS")


def peak_bytes() -> int | None:
    """The most memory in use since ``forget_peak``; None where it cannot be known."""
    return _field("VmHWM")


def forget_peak() -> None:
    """Begin a new peak with what is in use now."""
    if _CLEAR.exists():
        _CLEAR.write_text("5")


def _field(name: str) -> int | None:
    if not _STATUS.exists():
        return None
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return None
