"""A function of the host that a program calls, and brings along."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class HostFunction:
    """What a session takes for the function of that name until ``serve`` says otherwise."""

    name: str
    function: Callable[..., Any]
    kind = "function"
