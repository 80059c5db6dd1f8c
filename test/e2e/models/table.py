"""All models, and those that are known to fail."""

import importlib
import importlib.util
from functools import cache

from models.entry import Entry

_ROOMS = {
    "language": "torch",
    "vision": "torch",
    "diffusion": "torch",
    "keras_models": "tensorflow",
    "jax_models": "jax",
}
"""The frameworks without which a module of this folder has nothing."""

CHEAPEST = ("flax.nnx encoder", "equinox convolutions")
"""Those that every run of the tests tries."""

KNOWN_FAILURES: dict[tuple[str, str], tuple[str, str]] = {}
"""By name and kind: a part of the message, and the reason. One that passes is a failure of the test."""


@cache
def entries() -> dict[str, Entry]:
    """Models by name whose packages are installed."""
    found = []
    for room, framework in _ROOMS.items():
        if importlib.util.find_spec(framework):
            found += importlib.import_module(f"models.{room}").entries()
    return {each.name: each for each in found if all(map(importlib.util.find_spec, each.packages))}


PROGRAMS = [(name, kind) for name, entry in entries().items() for kind in entry.kinds]
