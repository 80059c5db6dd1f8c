"""Options of the machine's engine, of its collectives and flags: which there are, and what has no effect here."""

import difflib
import json
import logging
import os
from collections.abc import Mapping
from functools import cache
from typing import Any

_LOG = logging.getLogger("ipu_mlir.tensorflow")

_ASKS_FOR_REPORTS = (
    "autoReport.all",
    "autoReport.outputArchive",
    "autoReport.outputDebugInfo",
    "autoReport.outputExecutionProfile",
    "autoReport.outputGraphProfile",
    "autoReport.outputLoweredVars",
    "autoReport.outputSerializedGraph",
)
"""Each of them asks for all that there is."""
_DIRECTORY = "autoReport.directory"
_REPORTS = (
    *_ASKS_FOR_REPORTS,
    _DIRECTORY,
    "autoReport.executionProfileProgramRunCount",
    "autoReport.streamAtEachRun",
)
_WITHOUT_EFFECT = {
    "debug": "programs are checked as they are compiled, and the simulator has no debug information",
    "exchange": "the compiler plans exchanges by itself",
    "opt": "the compiler optimises by itself",
    "prng": "random numbers are those of seeds alone",
    "profiler": "a profile has all that there is",
    "streamCallbacks": "queues fetch as many elements ahead as they say themselves",
    "target": "the machine is simulated",
}
"""By the group of an option, why it has no effect."""


def report_folder(options: Mapping[str, Any]) -> str:
    """Where ``autoReport`` of the engine's options, or of ``POPLAR_ENGINE_OPTIONS``, wants reports; empty for nowhere.

    Raises:
        ValueError: that variable holds no object of JSON; the engine has no such option, or it does not take that
            value.
    """
    text = os.environ.get("POPLAR_ENGINE_OPTIONS") or "{}"
    try:
        given = {**json.loads(text), **options}
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"POPLAR_ENGINE_OPTIONS is {text!r}, and options are JSON, as in "
            '{"autoReport.all": "true", "autoReport.directory": "./report"}'
        ) from error
    for name in given:
        _check_name(name)
    asked = [_is_on(name, given[name]) for name in _ASKS_FOR_REPORTS if name in given]
    return str(given.get(_DIRECTORY, ".")) if any(asked) else ""


@cache
def _check_name(name: str) -> None:
    """Say that an option has no effect, once."""
    group = name.partition(".")[0]
    if group in _WITHOUT_EFFECT:
        _LOG.warning("option %s of the engine has no effect here: %s", name, _WITHOUT_EFFECT[group])
    elif name not in _REPORTS:
        close = difflib.get_close_matches(name, _REPORTS, n=1)
        instead = f"did you mean {close[0]}?" if close else f"there are {', '.join(_REPORTS)}"
        raise ValueError(f"{name} is no option of the engine; {instead}")


def _is_on(name: str, value: Any) -> bool:
    if str(value).lower() not in ("true", "false"):
        raise ValueError(f"{name} is {value!r}, expected 'true' or 'false'")
    return str(value).lower() == "true"


@cache
def say_without_effect_on_collectives(name: str) -> None:
    """Say of an option of ``gcl_poplar_options`` that it has no effect, once."""
    _LOG.warning("gcl_poplar_options: %s has no effect here: the compiler plans collectives by itself", name)


_FLAGS = ("executable_cache_path", "synthetic_data_categories", "use_ipu_model", "use_synthetic_data")


@cache
def say_if_unknown_flag(name: str) -> None:
    """Say of a flag of ``TF_POPLAR_FLAGS`` that it has no effect, once."""
    if name not in _FLAGS:
        close = difflib.get_close_matches(name, _FLAGS, n=1)
        instead = f"did you mean --{close[0]}?" if close else f"those that have are {', '.join(_FLAGS)}"
        _LOG.warning("TF_POPLAR_FLAGS: --%s has no effect here; %s", name, instead)
