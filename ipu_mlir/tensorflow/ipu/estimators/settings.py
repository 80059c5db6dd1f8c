"""Options of a run of an estimator, and what its functions may take."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ipu_mlir.tensorflow.devices import SYSTEM
from ipu_mlir.tensorflow.ipu.config import IPUConfig
from ipu_mlir.tensorflow.ipu.estimators.ipu_run_config import IPURunConfig, RunConfig

TRAIN, EVALUATE, PREDICT = "train", "eval", "infer"
"""Modes of a model function, by the names that ``tf.estimator.ModeKeys`` has for them."""


def call_with(function: Callable[..., Any], known: Mapping[str, Any], needed: tuple[str, ...] = ()) -> Any:
    """What ``function`` gives for those of the arguments ``known`` that it has.

    Raises:
        ValueError: it has none of a name in ``needed``, or one without a default that nobody knows.
    """
    parameters = inspect.signature(function).parameters.values()
    takes_all = any(each.kind is each.VAR_KEYWORD for each in parameters)
    names = {each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)}
    asked = {each.name for each in parameters if each.name in names and each.default is each.empty}
    name = getattr(function, "__name__", type(function).__name__)
    if missing := [each for each in needed if each not in names and not takes_all]:
        raise ValueError(f"{name} has no argument {missing[0]!r}; it takes {', '.join(sorted(names)) or 'none'}")
    if unknown := sorted(asked - known.keys()):
        raise ValueError(f"{name} takes {unknown[0]!r}, and an estimator gives {', '.join(sorted(known))}")
    return function(**{each: value for each, value in known.items() if takes_all or each in names})


def run_config(config: Any) -> tuple[RunConfig, IPURunConfig]:
    """Both parts of ``config``, with their defaults where there is none.

    Raises:
        TypeError: it is no ``RunConfig`` of ``ipu_run_config``.
    """
    config = RunConfig() if config is None else config
    if not isinstance(config, RunConfig):
        raise TypeError(f"config must be an ipu_run_config.RunConfig, got {config!r}")
    return config, config.ipu_run_config or IPURunConfig()


def configure(run: IPURunConfig) -> None:
    """Let the devices be as ``run`` says.

    Raises:
        ValueError: the device has another number of IPUs than its replicas and shards.
    """
    needed = run.num_replicas * run.num_shards
    options = run.ipu_options
    if options is None:
        options = IPUConfig()
        options.auto_select_ipus = needed
    options.configure_ipu_system()
    found = SYSTEM.device(run.ordinal).target.ipus
    if found != needed:
        raise ValueError(
            f"/device:IPU:{run.ordinal} has {found} IPUs, and IPURunConfig names {run.num_replicas} replicas of "
            f"{run.num_shards} IPUs; let ipu_options.auto_select_ipus be {needed}, or change num_replicas or num_shards"
        )


def local_batch(params: Mapping[str, Any] | None, size: int | None, replicas: int) -> dict[str, Any]:
    """``params`` with the batch of one replica as ``batch_size``, if ``size`` says that of all.

    Raises:
        ValueError: ``size`` is no multiple of the replicas, or ``params`` has a ``batch_size`` of its own.
    """
    found = dict(params or {})
    if size is None:
        return found
    if "batch_size" in found:
        raise ValueError("params has a batch_size, and so has the estimator; give one of them")
    if size <= 0 or size % replicas:
        raise ValueError(f"a batch of {size} is no multiple of {replicas} replicas")
    return {**found, "batch_size": size // replicas}


def rounds(total: int, of_loop: int) -> list[int]:
    """How many iterations each loop has until ``total`` are done.

    >>> rounds(50, 20)
    [20, 20, 10]
    """
    whole, rest = divmod(total, of_loop)
    return [of_loop] * whole + [rest] * bool(rest)
