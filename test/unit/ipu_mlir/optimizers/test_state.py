"""Optimizers in programs: state in variables, on tiles, in remote memory and in parts; what they refuse."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir import optimizers as ours

SMALL = ipu.Target(tiles_per_ipu=3)
RNG = np.random.default_rng(5)
X, Y = RNG.standard_normal((8, 4)).astype(np.float32), RNG.standard_normal((8, 2)).astype(np.float32)
W = RNG.standard_normal((4, 2)).astype(np.float32)


def loss_of(w: Any, x: Any = X, y: Any = Y) -> Any:
    return ((x @ w["w"] + w["b"] - y) ** 2).mean()


def begin() -> dict[str, np.ndarray]:
    return {"w": W.copy(), "b": np.zeros(2, np.float32)}


def by_hand(steps: int, rate: float = 0.1) -> dict[str, np.ndarray]:
    """Adam on arrays, which are not traced."""
    optimizer, w = ours.adam(rate), begin()
    state = optimizer.init(w)
    for _ in range(steps):
        error = (X @ w["w"] + w["b"] - Y) / Y.size * 2
        w, state = optimizer.apply(w, {"w": X.T @ error, "b": error.sum(axis=0)}, state)
    return w


@pytest.mark.parametrize("offload", [False, True])
def test_a_variable_and_its_state_go_on_from_call_to_call(offload: bool) -> None:
    weights = ipu.Variable(begin(), name="weights")
    training = ours.attach(ours.adam(0.1), weights, offload=offload)

    def step() -> Any:
        loss, slopes = ipu.value_and_grad(loss_of)(weights.value)
        training.assign(slopes)
        return loss

    session = ipu.compile(step, args=(), target=SMALL).session()
    losses = [float(session()) for _ in range(4)]
    assert losses == sorted(losses, reverse=True)
    assert session["weights_optimizer"]["count"] == 4
    wanted = by_hand(4)
    for name in wanted:
        np.testing.assert_allclose(session["weights"][name], wanted[name], rtol=1e-4, atol=1e-6)


def test_each_replica_keeps_a_part_of_the_state() -> None:
    weights = ipu.Variable(begin(), name="weights")
    training = ours.attach(ours.adam(0.1), weights, "moments", offload=True, partition=True)

    def step(x: Any, y: Any) -> Any:
        loss, slopes = ipu.value_and_grad(loss_of)(weights.value, x, y)
        training.assign(ipu.tree_map(lambda slope: ipu.all_reduce(slope, "mean"), slopes))
        return loss

    spec = [ipu.per_replica(ipu.TensorSpec((4, each.shape[1]), np.float32)) for each in (X, Y)]
    exe = ipu.compile(step, args=spec, target=ipu.Target(tiles_per_ipu=3, replicas=2))
    session = exe.session()
    for _ in range(4):
        session(X.reshape(2, 4, 4), Y.reshape(2, 4, 2))
    wanted = by_hand(4)
    for name in wanted:
        np.testing.assert_allclose(session["weights"][name], wanted[name], rtol=1e-4, atol=1e-6)


def test_an_optimizer_without_state_has_no_variable() -> None:
    weights = ipu.Variable(begin(), name="weights")
    training = ours.attach(ours.sgd(0.1), weights)
    assert training.state is None

    @ipu.function(target=SMALL)
    def step() -> None:
        training.assign(ipu.grad(loss_of)(weights.value))

    step()
    assert not np.array_equal(weights.value["w"], W)


@ipu.register_dataclass
@dataclass
class Network:
    layers: Any
    seen: Any
    name: str = "net"


def test_trees_of_all_kinds_and_tensors_that_are_not_trained() -> None:
    """Integers have no gradient, and what is no tensor is left alone."""
    network = Network([(W, None), {"b": np.float32(2)}], np.int32(7))

    @ipu.function(target=SMALL)
    def step(network: Any, state: Any) -> Any:
        slopes = Network([(network.layers[0][0], None), {"b": network.layers[1]["b"]}], None)
        after, state = optimizer.apply(network, slopes, state)
        assert after.name == "net"
        return after.layers, after.seen, state["tensors"].layers

    optimizer = ours.sgd(0.5, 0.9)
    layers, seen, momenta = step(network, optimizer.init(network))
    np.testing.assert_allclose(layers[0][0], W / 2)
    assert (layers[1]["b"], seen) == (1, 7)
    np.testing.assert_allclose(momenta[0][0]["momentum"], W)


def test_a_learning_rate_may_come_with_the_call() -> None:
    @ipu.function(target=SMALL)
    def step(w: Any, rate: Any) -> Any:
        optimizer = ours.adamw(rate)
        return optimizer.apply(w, w, optimizer.init(w))[0]

    for rate in (np.float32(0.5), np.float64(0.25)):
        np.testing.assert_allclose(step(W, rate), W - rate * (np.sign(W) + 1e-4 * W), rtol=1e-5)
        assert step(W, rate).dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float16, "bfloat16"])
def test_state_of_16_bit_parameters_is_float32(dtype: Any) -> None:
    """A square of 1e-5 is nothing in float16, and 0.999 is 1 in bfloat16."""
    pytest.importorskip("ml_dtypes")
    import ml_dtypes

    dtype = np.dtype(getattr(ml_dtypes, dtype)) if isinstance(dtype, str) else np.dtype(dtype)
    optimizer = ours.chain(ours.clip_by_global_norm(10.0), ours.adam(0.5))
    w, slope = np.ones(3).astype(dtype), np.array([1e-5, -1e-5, 0]).astype(dtype)
    after, state = ipu.function(optimizer.apply, target=SMALL)(w, slope, optimizer.init(w))
    assert after.dtype == dtype and state[1]["tensors"]["square"].dtype == np.float32
    np.testing.assert_allclose(after.astype(np.float32), [0.5, 1.5, 1], atol=0.01)


def test_a_static_loss_scale_keeps_small_gradients() -> None:
    x = np.full(4, 2.0**-15, np.float16)

    def step(w: Any, state: Any, optimizer: Any) -> Any:
        slope = ipu.grad(lambda w: optimizer.scaled((w * x * np.float16(2.0**-12)).sum(), state))(w)
        return optimizer.apply(w, slope, state)[0]

    w = np.zeros(4, np.float16)
    for optimizer, moved in ((ours.static_loss_scale(ours.adam(0.5), 1.0), 0), (_scaled(), -0.5)):
        state = optimizer.init(w)
        after = ipu.function(lambda w, state: step(w, state, optimizer), target=SMALL)(w, state)  # noqa: B023
        np.testing.assert_allclose(after, moved, atol=1e-3)


def _scaled() -> ours.LossScaled:
    return ours.static_loss_scale(ours.adam(0.5, epsilon=1e-12), 2.0**14)


def test_an_attached_optimizer_scales_the_loss() -> None:
    weights = ipu.Variable(begin(), name="weights")
    training = ours.attach(ours.dynamic_loss_scale(ours.adam(0.1), 4.0, every=2), weights)

    def step() -> Any:
        training.assign(ipu.grad(lambda w: training.scaled(loss_of(w)))(weights.value))

    session = ipu.compile(step, args=(), target=SMALL).session()
    for _ in range(4):
        session()
    assert session["weights_optimizer"]["scale"] == 16
    np.testing.assert_allclose(session["weights"]["w"], by_hand(4)["w"], rtol=1e-4)
    with pytest.raises(TypeError, match="has no loss scale; wrap it: dynamic_loss_scale"):
        ours.attach(ours.sgd(0.1), weights).scaled(1.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ours.sgd("fast"), "a learning rate of 'fast'; give a number"),
        (lambda: ours.sgd(np.ones(3)), r"a learning rate of shape \(3,\); give one number"),
        (lambda: ours.sgd(float("nan")), "a learning rate of nan; give a finite number"),
        (lambda: ours.sgd(0.1, 1.0), "momentum=1.0; it is a number from 0 to less than 1"),
        (lambda: ours.sgd(0.1, nesterov=True), "nesterov=True is a form of momentum"),
        (lambda: ours.adam(0.1, (0.9, 2)), r"decays\[1\]=2; it is a number from 0"),
        (lambda: ours.clip(0), r"clip\(0\): the limit is a number above 0"),
        (lambda: ours.clip_by_global_norm(np.inf), "the limit is a number above 0"),
        (lambda: ours.cosine(0.1, 0), "cosine: count is 0; give a number above 0"),
        (lambda: ours.join([ours.constant(1)], [3]), "join of 1 schedules at the steps"),
        (lambda: ours.dynamic_loss_scale(ours.sgd(0.1), growth=1), "growth=1; give a number above 1"),
        (lambda: ours.dynamic_loss_scale(ours.sgd(0.1), backoff=1), "backoff=1; give a number below 1"),
        (lambda: apply([1.0, 2.0], {"w": W}), "gradients is a list of 2 parts, and goes with a dict of keys 'w'"),
        (lambda: apply({"w": W[:1]}, {"w": W}), r"parameters\['w'\] has shape \(4, 2\) and its gradient \(1, 2\)"),
        (lambda: apply({"w": 3}, {"w": W}), r"the gradient of parameters\['w'\] is 3; give a tensor, or None"),
        (lambda: apply({"w": W}, {"w": np.ones((4, 2), np.int32)}), r"parameters\['w'\] is of int32 and its gradient"),
        (lambda: ours.chain(ours.sgd(0.1)).apply(W, W, {}), "the state of a chain of 1 optimizers is a tuple"),
    ],
)
def test_what_is_refused(make: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        make()


def apply(gradients: Any, parameters: Any) -> Any:
    optimizer = ours.sgd(0.1)
    return optimizer.apply(parameters, gradients, optimizer.init(parameters))


def test_a_step_of_adam_costs_what_that_of_optax_costs() -> None:
    jax, optax = pytest.importorskip("jax"), pytest.importorskip("optax")
    optimizer, theirs = ours.adam(1e-3), optax.adam(1e-3)
    w = [np.ones((64, 64), np.float32), np.ones(64, np.float32)]

    def by_optax(w: Any, slopes: Any, state: Any) -> Any:
        steps, state = theirs.update(slopes, state, w)
        return optax.apply_updates(w, steps), state

    target, given = ipu.Target(tiles_per_ipu=16), jax.tree.map(jax.numpy.asarray, w)
    mine = ipu.compile(optimizer.apply, args=(w, w, optimizer.init(w)), target=target)
    other = ipu.compile(by_optax, args=(given, given, theirs.init(given)), target=target)
    one, two = (exe.profile().execution.cycles for exe in (mine, other))
    assert one.total - one.host <= 1.05 * (two.total - two.host)


def test_a_step_costs_what_that_of_jax_costs() -> None:
    """Three dense layers, cross entropy and gradient descent, without the host, which both give the same."""
    jax = pytest.importorskip("jax")
    from benchmarks.workloads.mlp_training_step import RATE, at_batch

    workload = at_batch(32)
    inputs = workload.inputs()

    def loss_of(parameters: Any, x: Any, labels: Any) -> Any:
        w1, b1, w2, b2, w3, b3 = parameters
        h = ipu.nn.relu(ipu.nn.relu(x @ w1 + b1) @ w2 + b2)
        return ipu.nn.cross_entropy(h @ w3 + b3, labels)

    def step(x: Any, labels: Any, *parameters: Any) -> Any:
        loss, slopes = ipu.value_and_grad(loss_of)(parameters, x, labels)
        return loss, *optimizer.apply(parameters, slopes, optimizer.init(parameters))[0]

    optimizer = ours.sgd(float(RATE))
    target = ipu.Target(tiles_per_ipu=64)
    mine = ipu.compile(step, args=inputs, target=target)
    theirs = ipu.compile(workload.jax_form, args=[jax.numpy.asarray(each) for each in inputs], target=target)
    one, other = (exe.profile().execution.cycles for exe in (mine, theirs))
    assert one.total - one.host <= 1.05 * (other.total - other.host)
    for found, wanted in zip(mine(*inputs), theirs(*inputs), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
