"""Stages of several functions that run on IPUs of their own at the same time."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ipu_mlir.tensorflow.pipelines.stages import autographed
from ipu_mlir.tensorflow.placement import on_shard


def joined(stages: Sequence[Any], mapping: Any) -> tuple[list[Callable[..., Any]], Any]:
    """Stages that are functions, and the IPU of each; of a stage that is a list of functions, that of the first.

    Raises:
        TypeError: a stage is no function, or ``stages`` no list.
        ValueError: lists of functions in lists, or another number of IPUs.
    """
    if not isinstance(stages, list | tuple):
        raise TypeError(f"computational_stages must be a list or a tuple of functions, got {stages!r}")
    if not any(isinstance(stage, list | tuple) for stage in stages):
        _check(stages)
        return list(stages), mapping
    if mapping is None:
        numbers = iter(range(len(list(_flat(stages)))))
        mapping = [
            [next(numbers) for _ in each] if isinstance(each, list | tuple) else next(numbers) for each in stages
        ]
    if not isinstance(mapping, list | tuple):
        raise TypeError(f"device_mapping must be a list or a tuple with an IPU for each stage, got {mapping!r}")
    if len(mapping) != len(stages):
        raise ValueError(f"Each stage must be mapped to an IPU: {len(mapping)} mappings != {len(stages)} stages")
    found, first = [], []
    for stage, devices in zip(stages, mapping, strict=True):
        if not isinstance(stage, list | tuple):
            _check([stage])
            found.append(stage)
            first.append(devices)
            continue
        _check(stage)
        if not isinstance(devices, list | tuple) or len(devices) != len(stage) or not stage:
            raise ValueError(
                f"a stage of {len(stage)} functions runs on as many IPUs, device_mapping has {devices!r} for it"
            )
        found.append(_together(list(stage), list(devices)))
        first.append(devices[0])
    return found, first


def _together(functions: list[Callable[..., Any]], devices: list[int]) -> Callable[..., Any]:
    own = [autographed(each) for each in functions]

    @functools.wraps(functions[0])
    def stage(*args: Any, **kwargs: Any) -> list[Any]:
        found: list[Any] = []
        for function, device in zip(own, devices, strict=True):
            with on_shard(device):
                given = function(*args, **kwargs)
            found += [] if given is None else list(given) if isinstance(given, list | tuple) else [given]
        return found

    stage.__name__ = "_".join(getattr(each, "__name__", "stage") for each in functions)
    return stage


def _flat(stages: Sequence[Any]) -> Any:
    for stage in stages:
        yield from stage if isinstance(stage, list | tuple) else [stage]


def _check(functions: Sequence[Any]) -> None:
    for each in functions:
        if isinstance(each, list | tuple):
            raise ValueError(f"a stage is a function, or a list of functions; got a list in a list: {each!r}")
        if not callable(each):
            raise TypeError(f"a stage of a pipeline is a function, got {each!r}")
