"""Options of the machine's libraries, as ``poplar_options`` has them: what they set here, or why they set nothing."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

_LOG = logging.getLogger("ipu_mlir.tensorflow")

_PROPORTIONS = {"matmuls": "matmul_memory_proportion", "convolutions": "conv_memory_proportion"}
"""Options of ``ipu-partition``."""

_TYPES = {"half": "native", "float16": "native", "float": "f32", "float32": "f32"}
"""By name of a type, the option of ``ipu-widen-sums``; sums of f32 are f32 in any case."""

_BY_ITSELF = "the planner takes the parts with the fewest cycles"
_ONE_PLAN = "a plan depends on the operation alone, forward and backward"
WITHOUT_EFFECT = {
    **dict.fromkeys(("planConstraints", "planType", "planMinimisationTarget", "optimizeForSpeed"), _BY_ITSELF),
    **dict.fromkeys(("enableMultiStageReduce", "enableFastReduce", "use128BitConvUnitLoad"), _BY_ITSELF),
    **dict.fromkeys(("pass", "fullyConnectedPass", "usedForSlice", "usedForUpdate", "operationForUpdate"), _ONE_PLAN),
    **dict.fromkeys(
        ("interTilePartialsType", "interIpuPartialsType"), "partial sums travel in the type that they have"
    ),
    **dict.fromkeys(
        ("enableConvDithering", "enableMatmulDithering", "enableDithering"),
        "small operations begin on tiles that nobody has taken lately, without being asked; large ones take all",
    ),
    "remapOutputTensor": "a result lies where it is computed",
    "gatherConvOutput": "a result lies where it is computed",
    "inputRHSIsPreArranged": "weights lie as their largest reader wants them",
    "poolUseIntrospectiveMapping": "poolings run where their input lies",
    "disableTransformations": "convolutions are planned as they are",
    "indicesDistribution": "rows are spread evenly",
    "indicesAreSorted": "lookups do not ask for an order",
}
"""Why an option of the libraries has no effect."""
APPLIED = {
    "availableMemoryProportion": "share of a tile's memory for what a convolution or a product fetches",
    "partialsType": "type of sums that are not complete; `partialType` of slices",
    "use16BitPartials": "the same: sums that are not complete are in 16 bits",
}
"""What the others do."""

WITHOUT_EFFECT_ON_MULTI_CONV = {
    **WITHOUT_EFFECT,
    **dict.fromkeys(("perConvReservedTiles", "cycleBackOff"), "convolutions that share a superstep are planned alone"),
}
"""The same of those that one operator takes."""


@dataclass(frozen=True)
class LibraryOptions:
    """Options of passes.

    Attributes:
        partition: of ``ipu-partition``, by name.
        sums: of ``ipu-widen-sums``, by name.
    """

    partition: tuple[tuple[str, Any], ...]
    sums: tuple[tuple[str, Any], ...]


def library_options(groups: Mapping[str, Mapping[str, Any]]) -> LibraryOptions:
    """What the options of ``groups``, which are convolutions, matmuls, pooling and slices, set.

    Raises:
        ValueError: no library has such an option, or it does not take that value.
    """
    partition: dict[str, Any] = {}
    sums: dict[str, Any] = {}
    for group, options in groups.items():
        for name, value in options.items():
            where = f"{group}.poplar_options: {name}"
            if name == "availableMemoryProportion":
                proportion = _proportion(where, value)
                if group in _PROPORTIONS:
                    partition[_PROPORTIONS[group]] = proportion
                else:
                    _LOG.warning("%s has no effect here: it is one for all but matmuls and convolutions", where)
            elif name in ("partialsType", "partialType", "use16BitPartials"):
                sums[group] = _partials(where, name, value)
            elif name in WITHOUT_EFFECT:
                _LOG.warning("%s has no effect here: %s", where, WITHOUT_EFFECT[name])
            else:
                raise _unknown(where, WITHOUT_EFFECT)
    return LibraryOptions(tuple(partition.items()), tuple(sums.items()))


def scopes_of(options: Mapping[str, str]) -> list[str]:
    """Scopes that say to the passes what ``options`` of one ``multi_conv`` set.

    Raises:
        ValueError: no library has such an option, or it does not take that value.
    """
    scopes = []
    for name, value in options.items():
        where = f"multi_conv: {name}"
        if name == "availableMemoryProportion":
            share = np.format_float_positional(_proportion(where, value), trim="-")
            scopes.append(f"ipu.available_memory_proportion.{share}")
        elif name in ("partialsType", "partialType", "use16BitPartials"):
            scopes.append(f"ipu.partials.{_partials(where, name, value)}")
        elif name in WITHOUT_EFFECT_ON_MULTI_CONV:
            _LOG.warning("%s has no effect here: %s", where, WITHOUT_EFFECT_ON_MULTI_CONV[name])
        else:
            raise _unknown(where, WITHOUT_EFFECT_ON_MULTI_CONV)
    return scopes


def _unknown(where: str, without_effect: Mapping[str, str]) -> ValueError:
    known = (*APPLIED, *without_effect)
    return ValueError(f"{where} is no option of the libraries; there are {', '.join(sorted(known))}")


def _proportion(where: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = 0.0
    if not 0 < number <= 1:
        raise ValueError(f"{where} is {value!r}, expected a number above 0 and at most 1")
    return number


def _partials(where: str, name: str, value: Any) -> str:
    taken = {"true": "native", "false": "f32"} if name == "use16BitPartials" else _TYPES
    found = taken.get(str(value).lower())
    if found is None:
        raise ValueError(f"{where} is {value!r}, expected one of {', '.join(taken)}")
    return found
