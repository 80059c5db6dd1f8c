"""The programs of published points: what is compiled for each, and which of its cycles count.

A figure is of a chip; the program is written as its source describes it, and planned by the compiler.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import ipu_mlir as ipu
from benchmarks.amp_table import CHANNELS, measure
from ipu_mlir.dialects.costs.exchange import all_sync_cycles, host_write_cycles
from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.runtime.profile.profile import Profile

Config = dict[str, Any]
_F32 = np.float32
_DTYPES = {"f16": np.float16, "f32": np.float32}


def _profile(function: Callable[..., Any], args: list[ipu.TensorSpec], target: ipu.Target) -> Profile:
    return ipu.compile(function, args=args, target=target).profile()


def _device_cycles(profile: Profile) -> int:
    cycles = profile.execution.cycles
    return cycles.total - cycles.host


def matmul(config: Config) -> float:
    dtype = _DTYPES[config["dtype"]]
    left, right = ipu.TensorSpec((config["m"], config["k"]), dtype), ipu.TensorSpec((config["k"], config["n"]), dtype)
    return _device_cycles(_profile(lambda a, b: a @ b, [left, right], ipu.Target.named(config["chip"])))


def square_matmul(config: Config) -> float:
    """``matmul f32 2048^3``."""
    _, dtype, size = config["op"].split()
    side = int(size.split("^")[0])
    return matmul({"chip": config["chip"], "dtype": dtype, "m": side, "k": side, "n": side})


def amp_vertex(config: Config) -> float:
    assert f"{CHANNELS}]x[{CHANNELS}" in config["op"]
    return measure(config["N"]).cycles


def on_one_tile(config: Config) -> float:
    """The vertices of ``a + b``, or of ``a + s*b``, on one tile."""
    n = config["n"]
    scale = 1 if config["op"].startswith("add") else _F32(0.1)
    function = (lambda a, b: a + b) if scale == 1 else (lambda a, b: a + scale * b)
    target = ipu.Target.named(config["chip"], tiles_per_ipu=1)
    return _profile(function, [ipu.TensorSpec((n,))] * 2, target).execution.cycles.compute


def triad(config: Config) -> float:
    n, target = config["elements_per_tile"], ipu.Target.named(config["chip"], tiles_per_ipu=1)
    return _profile(lambda a, b: a + _F32(3) * b, [ipu.TensorSpec((n,))] * 2, target).execution.cycles.compute


def _each_round(step: Callable[[Any], Any], spec: ipu.TensorSpec, target: ipu.Target) -> float:
    """Cycles of one of many rounds that go on from what the last one left."""
    few, many = (
        _device_cycles(
            _profile(lambda u, rounds=rounds: ipu.fori_loop(0, rounds, lambda _, u: step(u), u), [spec], target)
        )
        for rounds in (10, 20)
    )
    return (many - few) / 10


def _heat_2d(u: Any) -> Any:
    middle = u[1:-1, 1:-1]
    around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    return u.at[1:-1, 1:-1].set(middle + _F32(0.1) * (around - _F32(4) * middle))


def _heat_3d(u: Any) -> Any:
    inner, middle = slice(1, -1), u[1:-1, 1:-1, 1:-1]
    around = (
        u[:-2, inner, inner]
        + u[2:, inner, inner]
        + u[inner, :-2, inner]
        + u[inner, 2:, inner]
        + u[inner, inner, :-2]
        + u[inner, inner, 2:]
    )
    return u.at[1:-1, 1:-1, 1:-1].set(middle + _F32(0.1) * (around - _F32(6) * middle))


def heat(config: Config) -> float:
    dimensions = 3 if "3D" in config["op"] else 2
    spec = ipu.TensorSpec((config["n"],) * dimensions)
    target = ipu.Target.named(config["chip"], ipus=config["ipus"], emulated=True)
    return _each_round(_heat_3d if dimensions == 3 else _heat_2d, spec, target)


def sync(config: Config) -> float:
    ipus = 16 if "16" in config["what"] else 1
    return all_sync_cycles(ipus, machine_of(ipu.Target.named(config["chip"])))


def host(config: Config) -> float:
    assert config["op"] == "host writes 40 MB"
    return host_write_cycles(np.array([40_000_000]), 1, machine_of(ipu.Target.named(config["chip"])))


PROGRAMS: dict[str, Callable[[Config], float]] = {
    "popsparse_dense_f16": matmul,
    "popsparse_dense_f32": matmul,
    "gemm_best": square_matmul,
    "amp_vertex": amp_vertex,
    "vertex_add": on_one_tile,
    "vertex_scaled_add": on_one_tile,
    "stream": triad,
    "heat": heat,
    "sync": sync,
    "host": host,
}
"""By kind of point. Those of other kinds are listed as not compared."""
