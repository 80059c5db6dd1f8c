"""Optimizers, compiled, take the steps that optax, PyTorch and Keras take."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir import optimizers as ours

RNG = np.random.default_rng(20261124)
STEPS = 20
SMALL = ipu.Target(tiles_per_ipu=3)
SHAPES = {"w": (4, 5), "b": (5,), "scale": ()}
CURVES = {name: RNG.uniform(0.5, 2.0, shape) for name, shape in SHAPES.items()}
TOLERANCE = {np.float64: 1e-10, np.float32: 2e-5}
SCHEDULE = ours.warm_up(4, ours.cosine(0.1, 12))


def parameters(dtype: Any) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    return {name: rng.standard_normal(shape).astype(dtype) for name, shape in SHAPES.items()}


def typed(tree: dict[str, Any], dtype: Any) -> dict[str, np.ndarray]:
    return {name: np.asarray(each, dtype) for name, each in tree.items()}


def slopes(tree: dict[str, Any], dtype: Any) -> dict[str, Any]:
    """Gradients of a bowl that differ from tensor to tensor, in any framework."""
    return {name: curve * tree[name] for name, curve in typed(CURVES, dtype).items()}


def found(optimizer: ours.Optimizer, dtype: Any, per_tile: bool = False) -> dict[str, np.ndarray]:
    """The parameters after all steps, which are one program."""
    begin = parameters(dtype)

    def train(tree: Any, state: Any) -> Any:
        def step(_: Any, both: Any) -> Any:
            return optimizer.apply(both[0], slopes(both[0], dtype), both[1])

        return ipu.fori_loop(0, STEPS, step, (tree, state))[0]

    state = optimizer.init(begin)
    exe = ipu.compile(train, args=(begin, state), target=SMALL)
    if per_tile:
        return exe._call.unflatten(exe.run_per_tile(exe._call.flatten((begin, state), {})))
    return exe(begin, state)


def assert_close(results: dict[str, np.ndarray], expected: dict[str, Any], dtype: Any) -> None:
    for name, wanted in expected.items():
        assert results[name].dtype == dtype
        np.testing.assert_allclose(results[name], wanted, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype], err_msg=name)


def by_optax(make: Callable[[Any], Any], dtype: Any) -> dict[str, np.ndarray]:
    jax, optax = pytest.importorskip("jax"), pytest.importorskip("optax")
    with jax.enable_x64(True):
        optimizer, tree = make(optax), jax.tree.map(jax.numpy.asarray, parameters(dtype))
        state = optimizer.init(tree)
        for _ in range(STEPS):
            steps, state = optimizer.update(slopes(tree, dtype), state, tree)
            tree = optax.apply_updates(tree, steps)
        return typed(tree, dtype)


def of_doubles(schedule: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A schedule of optax, which would compute in float32 from the int32 that it gets."""
    return lambda count: schedule(count.astype(np.float64))


def adafactor(optax: Any, rate: Any, smallest: int, threshold: float, *parts: Any) -> Any:
    """``optax.adafactor``, with a decay that is computed in float64."""
    return optax.chain(
        optax.scale_by_factored_rms(
            min_dim_size_to_factor=smallest,
            decay_rate_fn=lambda count, power: 1 - (count.astype(np.float64) + 1) ** -power,
        ),
        optax.clip_by_block_rms(threshold),
        optax.scale_by_learning_rate(rate, flip_sign=False),
        optax.scale_by_param_block_rms(),
        *parts,
        optax.scale(-1),
    )


IN_OPTAX = {
    "sgd": (ours.sgd(0.1), lambda o: o.sgd(0.1)),
    "momentum": (ours.sgd(0.1, 0.9), lambda o: o.sgd(0.1, 0.9)),
    "nesterov": (ours.sgd(0.1, 0.9, nesterov=True), lambda o: o.sgd(0.1, 0.9, nesterov=True)),
    "scheduled": (
        ours.sgd(SCHEDULE),
        lambda o: o.sgd(of_doubles(o.warmup_cosine_decay_schedule(0.0, 0.1, 4, 16))),
    ),
    "rmsprop": (ours.rmsprop(0.05), lambda o: o.rmsprop(0.05, 0.9, 1e-8, eps_in_sqrt=False)),
    "rmsprop, centred": (
        ours.rmsprop(0.01, momentum=0.5, centred=True),
        lambda o: o.rmsprop(0.01, 0.9, 1e-8, eps_in_sqrt=False, centered=True, momentum=0.5),
    ),
    "adam": (ours.adam(0.1), lambda o: o.adam(0.1)),
    "nadam": (ours.adam(0.1, nesterov=True), lambda o: o.nadam(0.1)),
    "adamw": (
        ours.adamw(SCHEDULE, weight_decay=0.1, where=lambda path, w: w.ndim > 1),
        lambda o: o.adamw(
            of_doubles(o.warmup_cosine_decay_schedule(0.0, 0.1, 4, 16)),
            weight_decay=0.1,
            mask={"w": True, "b": False, "scale": False},
        ),
    ),
    "lamb": (ours.lamb(0.1, weight_decay=0.1), lambda o: o.lamb(0.1, weight_decay=0.1)),
    "adafactor": (ours.adafactor(0.1, smallest_factored=4), lambda o: adafactor(o, 0.1, 4, 1.0)),
    "adafactor with everything": (
        ours.adafactor(SCHEDULE, smallest_factored=99, momentum=0.9, weight_decay=0.01, threshold=0.5),
        lambda o: adafactor(
            o,
            of_doubles(o.warmup_cosine_decay_schedule(0.0, 0.1, 4, 16)),
            99,
            0.5,
            o.ema(0.9, debias=False),
            o.add_decayed_weights(0.01),
        ),
    ),
    "adafactor of a float32": (
        ours.adafactor(0.1, smallest_factored=4, threshold=None, scaled_by_parameter=False),
        lambda o: o.adafactor(0.1, 4, clipping_threshold=None, multiply_by_parameter_scale=False),
    ),
    "clipped": (
        ours.chain(ours.clip(0.7), ours.sgd(0.1)),
        lambda o: o.chain(o.clip(0.7), o.sgd(0.1)),
    ),
    "clipped by norm": (
        ours.chain(ours.clip_by_global_norm(0.5), ours.adam(0.1)),
        lambda o: o.chain(o.clip_by_global_norm(0.5), o.adam(0.1)),
    ),
    "decayed": (
        ours.chain(ours.weight_decay(0.1), ours.sgd(0.1, 0.9)),
        lambda o: o.chain(o.add_decayed_weights(0.1), o.sgd(0.1, 0.9)),
    ),
}


SCHEDULES = {
    "steps": (ours.steps(0.1, {5: 0.5, 9: 0.1}), lambda o: o.piecewise_constant_schedule(0.1, {5: 0.5, 9: 0.1})),
    "exponential": (ours.exponential(0.1, 5, 0.3), lambda o: o.exponential_decay(0.1, 5, 0.3)),
    "staircase": (
        ours.exponential(0.1, 5, 0.3, staircase=True, last=0.005),
        lambda o: o.exponential_decay(0.1, 5, 0.3, staircase=True, end_value=0.005),
    ),
    "polynomial": (ours.polynomial(0.1, 0.01, 15, 2.0), lambda o: o.polynomial_schedule(0.1, 0.01, 2.0, 15)),
    "cosine": (ours.cosine(0.1, 15, 0.01), lambda o: o.cosine_decay_schedule(0.1, 15, 0.1)),
    "warm-up": (
        ours.warm_up(5, ours.exponential(0.1, 5, 0.3), first=0.02),
        lambda o: o.warmup_exponential_decay_schedule(0.02, 0.1, 5, 5, 0.3),
    ),
    "join": (
        ours.join([ours.constant(0.1), ours.polynomial(0.2, 0.1, 4)], [8]),
        lambda o: o.join_schedules([o.constant_schedule(0.1), o.linear_schedule(0.2, 0.1, 4)], [8]),
    ),
}


OFTEN = {"momentum", "adamw", "clipped by norm", "adafactor of a float32"}
PAIRS = [
    *((name, np.float64) for name in IN_OPTAX if not name.endswith("float32")),
    *(pytest.param(name, np.float32, marks=[] if name in OFTEN else [pytest.mark.slow]) for name in IN_OPTAX),
]


@pytest.mark.parametrize(("name", "dtype"), PAIRS)
def test_steps_of_optax(name: str, dtype: Any) -> None:
    optimizer, theirs = IN_OPTAX[name]
    assert_close(found(optimizer, dtype), by_optax(theirs, dtype), dtype)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_nothing_is_computed_in_float64_that_is_not_given_so(dtype: Any) -> None:
    """The machine has no float64: a NumPy scalar among the constants would cost a hundred times as much."""
    begin = parameters(dtype)
    every = {name: each for name, (each, _) in IN_OPTAX.items()}
    every |= {"loss scale": ours.dynamic_loss_scale(ours.adam(np.float64(0.1)))}
    every |= {name: ours.sgd(rate) for name, (rate, _) in SCHEDULES.items()}
    for name, optimizer in every.items():
        text = str(ipu.function(optimizer.apply).trace(begin, begin, optimizer.init(begin)))
        assert "f64" not in text, name


IN_TORCH = {
    "nesterov": (
        ours.chain(ours.weight_decay(0.01), ours.sgd(0.05, 0.8, nesterov=True)),
        lambda t, p: t.SGD(p, 0.05, 0.8, weight_decay=0.01, nesterov=True),
    ),
    "rmsprop": (
        ours.rmsprop(0.02, 0.95, 1e-7, momentum=0.3, centred=True),
        lambda t, p: t.RMSprop(p, 0.02, 0.95, 1e-7, momentum=0.3, centered=True),
    ),
    "adam": (ours.adam(0.05, (0.8, 0.99)), lambda t, p: t.Adam(p, 0.05, (0.8, 0.99))),
    "adamw": (ours.adamw(0.05, weight_decay=0.01), lambda t, p: t.AdamW(p, 0.05, weight_decay=0.01)),
}


@pytest.mark.parametrize("name", IN_TORCH)
def test_steps_of_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    optimizer, make = IN_TORCH[name]
    begin = parameters(np.float64)
    tensors = {name: torch.tensor(each, requires_grad=True) for name, each in begin.items()}
    theirs = make(torch.optim, list(tensors.values()))
    for _ in range(STEPS):
        for tensor, curve in zip(tensors.values(), CURVES.values(), strict=True):
            tensor.grad = torch.tensor(curve) * tensor.detach()
        theirs.step()
    assert_close(found(optimizer, np.float64), {k: v.detach().numpy() for k, v in tensors.items()}, np.float64)


IN_KERAS = {
    "nesterov": (ours.sgd(0.05, 0.8, nesterov=True), lambda k: k.SGD(0.05, 0.8, nesterov=True)),
    "adam": (ours.adam(0.05), lambda k: k.Adam(0.05, epsilon=1e-8)),
    "adamw": (ours.adamw(0.05, weight_decay=0.01), lambda k: k.AdamW(0.05, weight_decay=0.01, epsilon=1e-8)),
    "lamb": (ours.lamb(0.05), lambda k: k.Lamb(0.05, epsilon=1e-6)),
    "cosine": (ours.sgd(ours.cosine(0.1, 30, 0.01)), lambda k: k.SGD(k.schedules.CosineDecay(0.1, 30, 0.1))),
    "clipped": (
        ours.chain(ours.clip_by_global_norm(0.5), ours.sgd(0.1, 0.9)),
        lambda k: k.SGD(0.1, 0.9, global_clipnorm=0.5),
    ),
}


@pytest.mark.parametrize("name", IN_KERAS)
def test_steps_of_keras(name: str) -> None:
    keras = pytest.importorskip("keras")
    optimizer, make = IN_KERAS[name]
    begin = parameters(np.float32)
    variables = {name: keras.Variable(each) for name, each in begin.items()}
    theirs = make(keras.optimizers)
    theirs.build(list(variables.values()))
    for _ in range(STEPS):
        values = {name: keras.ops.convert_to_numpy(each.value) for name, each in variables.items()}
        found_slopes = [keras.ops.convert_to_tensor(each) for each in slopes(values, np.float32).values()]
        theirs.apply(found_slopes, list(variables.values()))
    wanted = {name: keras.ops.convert_to_numpy(each.value) for name, each in variables.items()}
    assert_close(found(optimizer, np.float32), wanted, np.float32)


@pytest.mark.parametrize("name", ["scheduled", "adamw", "adafactor"])
def test_the_per_tile_executor_takes_the_same_steps(name: str) -> None:
    optimizer, _ = IN_OPTAX[name]
    assert_close(found(optimizer, np.float64, per_tile=True), found(optimizer, np.float64), np.float64)


def test_the_loss_scale_of_torch_grows_and_shrinks_alike() -> None:
    """Two of the steps overflow: they are left out, and the scale is halved."""
    torch = pytest.importorskip("torch")
    optimizer = ours.dynamic_loss_scale(ours.sgd(0.1, 0.9), 64.0, every=3)
    factors = np.ones(STEPS, np.float32)
    factors[[5, 6, 15]] = np.inf, np.nan, -np.inf

    def train(w: Any, state: Any, factors: Any) -> Any:
        def step(both: Any, factor: Any) -> Any:
            w, state = both
            slope = ipu.grad(lambda w: optimizer.scaled((w * w).sum() * factor, state))(w)
            w, state = optimizer.apply(w, slope, state)
            return (w, state), state["scale"]

        (w, _), scales = ipu.scan(step, (w, state), factors)
        return w, scales

    begin = np.float32([1, -2, 3])
    w, scales = ipu.function(train, target=SMALL)(begin, optimizer.init(begin), factors)
    tensor = torch.tensor(begin, requires_grad=True)
    theirs, scaler = torch.optim.SGD([tensor], 0.1, 0.9), torch.amp.GradScaler("cpu", 64.0, growth_interval=3)
    for factor, scale in zip(factors, scales, strict=True):
        theirs.zero_grad()
        scaler.scale((tensor * tensor).sum() * float(factor)).backward()
        scaler.step(theirs)
        scaler.update()
        assert scale == scaler.get_scale()
    np.testing.assert_allclose(w, tensor.detach().numpy(), rtol=1e-5)


def test_schedules_of_optax() -> None:
    jax, optax = pytest.importorskip("jax"), pytest.importorskip("optax")
    counts = np.arange(STEPS, dtype=np.float64)
    compiled = ipu.function(lambda count: {name: rate(count) + 0 * count for name, (rate, _) in SCHEDULES.items()})
    rates = compiled(counts)
    with jax.enable_x64(True):
        for name, (rate, theirs) in SCHEDULES.items():
            wanted = [float(theirs(optax)(int(count))) for count in counts]
            np.testing.assert_allclose(rates[name], wanted, rtol=1e-12, err_msg=name)
            np.testing.assert_allclose([rate(float(count)) for count in counts], wanted, rtol=1e-12, err_msg=name)
