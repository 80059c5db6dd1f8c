"""A random network on both executors, with machine code and without, against the framework that gives it."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from support.networks.draw import Layer, Network, output_shape
from support.networks.frameworks import FRAMEWORKS, Made
from support.networks.parameters import input_of, parameters_of

import ipu_mlir as ipu
from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions

TOLERANCE = 1e-4
"""Of the largest number of a result; gradients of a thousandth of the largest one of all are rounding."""
_TILES = (1, 2, 4, 7, 16, 64, 1472)
_FEW_ELEMENTS = 1 << 12


def problem(network: Network, seed: int, framework: str = "jax") -> str:
    """How a network differs from what its framework gives, or the error in which it ends; nothing if they agree.

    ``seed`` chooses the machine, the number of threads, the sizes of blocks, and whether the per-tile executor runs.
    """
    made = FRAMEWORKS[framework](network)
    numbers = parameters_of(network), input_of(network)
    expected = made.run(*numbers)
    try:
        for how, found in results(made, numbers, seed):
            if said := difference(found, expected):
                return "" if is_unstable(made.run, *numbers, expected) else f"{how}: {said}"
    except Exception as error:  # of any kind: that is what is asked
        return f"{type(error).__name__}: {' '.join(str(error).split())}"[:600]
    return ""


def results(made: Made, numbers: Sequence[Any], seed: int) -> Iterator[tuple[str, list[np.ndarray]]]:
    """Results by the ways in which a program runs."""
    rng = random.Random(seed)
    tiles = rng.choice(_TILES)
    target = ipu.Target(tiles_per_ipu=tiles, emulated=True)
    args = made.tensors(numbers)
    executable = ipu.compile(made.source, args=args, target=target, kernels="never")
    yield f"never, {tiles} tiles", made.arrays(executable(*args))
    inputs, host = made.arrays(args), executable.module("host")
    options = [TranslatorOptions.of("checked"), _with_blocks("always", rng), _with_blocks("auto", rng)]
    for each in (options[0], rng.choice(options[1:])):
        name = "checked" if each.checked else f"{each.kernels}, {each.threads} threads, {each.block_elements} elements"
        yield f"{name}, {tiles} tiles", Engine(host, executable.entry, each).run(inputs)
    if sum(each.size for each in inputs) < _FEW_ELEMENTS and rng.random() < 0.1:
        yield f"per tile, {tiles} tiles", executable.run_per_tile(inputs)


def _with_blocks(kernels: str, rng: random.Random) -> TranslatorOptions:
    """Options with which small arrays are cut into blocks, too."""
    return TranslatorOptions(
        kernels=kernels,
        threads=rng.choice((1, 2, 3, 4)),
        block_elements=rng.choice((64, 300, 1000, 4096, 524288)),
        packed_elements=rng.choice((1000, 524288)),
        block_min_gemm_rows=rng.choice((1, 8, 512)),
        block_min_elementwise_us=-1.0,
        block_min_us=-1.0,
        block_min_array=0,
        block_min_run=rng.choice((0, 8)),
        strip_elements=rng.choice((64, 4096)),
    )


def difference(found: Sequence[np.ndarray], expected: Sequence[np.ndarray], tolerance: float = TOLERANCE) -> str:
    """The first result that is off by more than the tolerance."""
    if [(each.shape, each.dtype) for each in found] != [(each.shape, each.dtype) for each in expected]:
        return f"{[each.shape for each in found]} for {[each.shape for each in expected]}"
    sizes = [float(np.max(np.abs(each), initial=0)) for each in expected]
    least = 1e-3 * max(sizes, default=0.0) or 1.0
    for place, (one, other, size) in enumerate(zip(found, expected, sizes, strict=True)):
        off = np.abs(one.astype(np.float64) - other) / max(size, least)
        if not np.max(off, initial=0) <= tolerance:
            return f"result {place} differs by {np.max(off):.3g} in {int(np.sum(~(off <= tolerance)))} of {one.size}"
    return ""


def is_unstable(run: Callable[..., list[np.ndarray]], parameters: Any, x: Any, expected: list[np.ndarray]) -> bool:
    """True if inputs a few units in the last place away give other results: a step of a function is near."""
    rng = np.random.default_rng(0)

    def near(nested: Any) -> Any:
        if isinstance(nested, list):
            return [near(each) for each in nested]
        if isinstance(nested, dict):
            return {name: near(each) for name, each in nested.items()}
        if nested.dtype.kind != "f":
            return nested
        return (nested * (1 + 4e-7 * rng.choice((-1.0, 1.0), nested.shape))).astype(nested.dtype)

    return any(difference(run(near(parameters), near(x)), expected, TOLERANCE / 4) for _ in range(3))


def smallest(network: Network, fails: Callable[[Network], bool]) -> Network:
    """A network with fewer layers, samples, channels or sides that fails as well."""
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for each in _smaller(network):
            try:
                shape = each.shape
                for layer in each.layers:
                    shape = output_shape(layer, shape)
            except (ValueError, IndexError):
                continue
            if fails(each):
                network, is_smaller = each, True
                break
    return network


def _smaller(network: Network) -> Iterator[Network]:
    layers = network.layers
    if network.gradients:
        yield replace(network, gradients=False)
    for place, layer in enumerate(layers):
        rest = layers[:place], layers[place + 1 :]
        if layer.kind != "embedding":
            yield replace(network, layers=rest[0] + rest[1])
        if layer.inside:
            yield replace(network, layers=rest[0] + layer.inside + rest[1])
        for name, value in layer.settings.items():
            for less in _less(name, value):
                yield replace(network, layers=(*rest[0], Layer(layer.kind, {**layer.settings, name: less}), *rest[1]))
    for place, size in enumerate(network.shape):
        for less in sorted({1, size // 2, size - 1} - {size, 0}):
            yield replace(network, shape=(*network.shape[:place], less, *network.shape[place + 1 :]))


def _less(name: str, value: Any) -> list[Any]:
    if value is True:
        return [False]
    if name in ("kernel", "stride", "dilation", "padding", "more") and isinstance(value, tuple):
        least = 0 if name in ("padding", "more") else 1
        return [(least, least)] if value != (least, least) else []
    return [1] if name in ("groups", "channels") and value > 1 else []
