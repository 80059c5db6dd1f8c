"""The programs of published points: what is compiled for each, and which of its cycles count.

A figure is of a chip; the program is written as its source describes it, and planned by the compiler.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import ipu_mlir as ipu
from benchmarks.amp_table import CHANNELS, measure
from benchmarks.end_to_end import BASE, LARGE, images_per_second, sequences_per_second
from ipu_mlir.dialects.costs.exchange import all_sync_cycles, host_write_cycles
from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.runtime.profile.profile import Profile

Config = dict[str, Any]
_F32 = np.float32
_PARTIALS = {"f16": ("f32", "native"), "f32": ("f32",)}
"""Of products. Source: the runs behind the figure have partial results of both types, and it shows the faster ones."""
_DTYPES = {"f16": np.float16, "f32": np.float32}


def _profile(function: Callable[..., Any], args: list[ipu.TensorSpec], target: ipu.Target, **options: Any) -> Profile:
    return ipu.compile(function, args=args, target=target, **options).profile()


def _device_cycles(profile: Profile) -> int:
    cycles = profile.execution.cycles
    return cycles.total - cycles.host


def matmul(config: Config) -> float:
    dtype, target = _DTYPES[config["dtype"]], ipu.Target.named(config["chip"])
    specs = [ipu.TensorSpec((config["m"], config["k"]), dtype), ipu.TensorSpec((config["k"], config["n"]), dtype)]
    return min(
        _device_cycles(_profile(lambda a, b: a @ b, specs, target, partials_type=partials))
        for partials in _PARTIALS[config["dtype"]]
    )


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


@ipu.codelet(", -> ", cycles=3, vectorised=lambda b, c: b + _F32(3) * c)
def _triad(b: Any, c: Any) -> Any:
    """By hand: an instruction of 6 cycles loads a vector of both operands, stores one and computes two elements."""
    return b + _F32(3) * c


def triad(config: Config) -> float:
    n, target = config["elements_per_tile"], ipu.Target.named(config["chip"], tiles_per_ipu=1)
    return _profile(lambda b, c: _triad(b, c), [ipu.TensorSpec((n,))] * 2, target).execution.cycles.compute


def _each_round(step: Callable[[Any], Any], spec: ipu.TensorSpec, target: ipu.Target) -> float:
    """Cycles of one of many rounds that go on from what the last one left."""
    few, many = (_device_cycles(_profile(_rounds(step, rounds), [spec], target)) for rounds in (10, 20))
    return (many - few) / 10


def _rounds(step: Callable[[Any], Any], count: int) -> Callable[[Any], Any]:
    return lambda u: ipu.fori_loop(0, count, lambda _, u: step(u), u)


def _heat_2d(u: Any) -> Any:
    middle = u[1:-1, 1:-1]
    around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    return u.at[1:-1, 1:-1].set(middle + _F32(0.1) * (around - _F32(4) * middle))


def _heat_padded(u: Any) -> Any:
    """Cold around the edge: blocks of the result lie where those of the operand do."""
    around = np.pad(u, 1)
    sides = around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:]
    return u + _F32(0.1) * (sides - _F32(4) * u)


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


def halo(config: Config) -> float:
    """What a step of a stencil exchanges, on as many blocks as the machine has tiles."""
    block, target = config["block"], ipu.Target.named(config["chip"], emulated=True)
    spec = ipu.TensorSpec((608 * block, 2 * block))
    few, many = (
        _profile(_rounds(_heat_padded, rounds), [spec], target).execution.cycles.exchange for rounds in (10, 20)
    )
    return (many - few) / 10


def _image(config: Config) -> tuple[int, int, Any]:
    """Rows, columns and element type of ``302x499 f32``."""
    size, dtype = config["image"].split()
    rows, columns = map(int, size.split("x"))
    return rows, columns, _DTYPES[dtype.replace("float", "f")]


def convolution(config: Config) -> float:
    """3 x 3 from 4 channels to 4, of what the last round left."""
    rows, columns, dtype = _image(config)
    image, kernel = ipu.TensorSpec((1, rows, columns, 4), dtype), ipu.TensorSpec((3, 3, 4, 4), dtype)
    target = ipu.Target.named(config["chip"], emulated=True)

    def rounds(count: int) -> Callable[[Any, Any], Any]:
        return lambda x, w: ipu.fori_loop(0, count, lambda _, x: ipu.nn.convolution(x, w, padding="same"), x)

    few, many = (_device_cycles(_profile(rounds(count), [image, kernel], target)) for count in (10, 20))
    return (many - few) / 10


def blur(config: Config) -> float:
    """Each channel with the weights 1 2 1 by 1 2 1, of what the last round left; the edge stays."""
    rows, columns, dtype = _image(config)
    weights = {-1: 1, 0: 2, 1: 1}

    def step(u: Any) -> Any:
        shifted = {
            (i, j): dtype(weights[i] * weights[j] / 16) * u[1 + i : rows - 1 + i, 1 + j : columns - 1 + j]
            for i in weights
            for j in weights
        }
        return u.at[1:-1, 1:-1].set(sum(list(shifted.values())[1:], shifted[-1, -1]))

    return _each_round(step, ipu.TensorSpec((rows, columns, 4), dtype), ipu.Target.named(config["chip"], emulated=True))


def matvec(config: Config) -> float:
    rows, columns = map(int, config["op"].split()[0].split("x"))
    specs = [ipu.TensorSpec((rows, columns)), ipu.TensorSpec((columns,))]
    return _device_cycles(_profile(lambda a, x: a @ x, specs, ipu.Target.named(config["chip"])))


def sync(config: Config) -> float:
    ipus = 16 if "16" in config["what"] else 1
    return all_sync_cycles(ipus, machine_of(ipu.Target.named(config["chip"])))


def host(config: Config) -> float:
    assert config["op"] == "host writes 40 MB"
    return host_write_cycles(np.array([40_000_000]), 1, machine_of(ipu.Target.named(config["chip"])))


def end_to_end(config: Config) -> float:
    """Sequences or images in a second, of 16 IPUs."""
    program = config["program"].split()[0]
    return (
        images_per_second()
        if program == "ResNet-50"
        else sequences_per_second({"BERT-Base": BASE, "BERT-Large": LARGE}[program])
    )


PROGRAMS: dict[str, Callable[[Config], float]] = {
    "popsparse_dense_f16": matmul,
    "popsparse_dense_f32": matmul,
    "gemm_best": square_matmul,
    "amp_vertex": amp_vertex,
    "vertex_add": on_one_tile,
    "vertex_scaled_add": on_one_tile,
    "stream": triad,
    "heat": heat,
    "halo": halo,
    "conv_4ch": convolution,
    "blur": blur,
    "matvec": matvec,
    "sync": sync,
    "host": host,
    "end_to_end": end_to_end,
}
"""By kind of point."""
