"""What flax and equinox wrap around functions of JAX, and what JAX has traced or lowered."""

import pickle
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu

jax = pytest.importorskip("jax")
jnp = jax.numpy
SMALL = ipu.Target(tiles_per_ipu=4)
X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)


def same(got: Any, wanted: Any) -> None:
    jax.tree.map(lambda mine, theirs: np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6), got, wanted)


def test_lowered_and_traced_functions() -> None:
    def f(x: Any, unused: Any, y: Any) -> Any:
        return {"sum": x + y}

    traced = jax.jit(f).trace(X, X[0], X)
    for source in (traced, traced.lower()):
        same(ipu.compile(source, target=SMALL)(X, X[0], X), f(X, X, X))


def test_a_closed_jaxpr() -> None:
    jaxpr = jax.make_jaxpr(lambda x, y: (x + y, x * 2))(X, X)
    same(ipu.compile(jaxpr, target=SMALL)(X, X), (X + X, X * 2))


def test_machine_code_of_the_host_is_refused() -> None:
    with pytest.raises(ipu.CompileError, match="a Compiled of JAX is machine code of the host"):
        ipu.compile(jax.jit(lambda x: x + 1).lower(X).compile())


def test_lowered_on_a_mesh() -> None:
    mesh = jax.sharding.AbstractMesh((2,), ("i",))
    spec = jax.sharding.PartitionSpec("i")
    mapped = jax.shard_map(lambda x: x + jax.lax.axis_index("i"), mesh=mesh, in_specs=spec, out_specs=spec)
    lowered = jax.jit(mapped).trace(X).lower(lowering_platforms=("cpu",))
    same(ipu.compile(lowered, target=SMALL)(X), X + np.float32([[0], [1]]))


def test_gradients_of_plain_functions_take_arrays_of_numpy() -> None:
    f = jax.value_and_grad(lambda x: (x * x).sum())
    same(ipu.compile(f, args=[X], target=SMALL)(X), f(X))


def test_equinox() -> None:
    eqx = pytest.importorskip("equinox")
    model = eqx.nn.MLP(3, 2, 8, 1, key=jax.random.key(0))

    def loss(model: Any, x: Any, scale: Any) -> Any:
        return (jax.vmap(model)(x) * scale["by"]).sum()

    step = eqx.filter_jit(eqx.filter_value_and_grad(loss))
    exe = ipu.compile(step, args=[model, X, {"by": 2.0}], target=SMALL)
    (value, slopes), (wanted, theirs) = exe(model, X, {"by": 2.0}), step(model, X, {"by": 2.0})
    same(value, wanted)
    assert jax.tree.structure(slopes) == jax.tree.structure(theirs)
    same(slopes, theirs)
    moved = eqx.apply_updates(model, jax.tree.map(lambda slope: -0.1 * slope, slopes))
    same(exe(moved, X, {"by": 2.0})[0], step(moved, X, {"by": 2.0})[0])
    with pytest.raises(ipu.RunError, match=r"args\[2\]\['by'\] is 3\.0, the program was compiled for 2\.0"):
        exe(model, X, {"by": 3.0})


def test_a_module_of_equinox_is_a_function() -> None:
    eqx = pytest.importorskip("equinox")
    model = eqx.nn.Linear(3, 2, key=jax.random.key(0))
    exe = pickle.loads(pickle.dumps(ipu.compile(model, args=[X[0]], target=SMALL)))
    same(exe(X[0]), model(X[0]))


def test_modules_of_nnx_get_their_new_state() -> None:
    nnx = pytest.importorskip("flax.nnx")
    optax = pytest.importorskip("optax")

    def network() -> tuple[Any, Any]:
        model = nnx.Sequential(nnx.Linear(3, 4, rngs=nnx.Rngs(0)), nnx.BatchNorm(4, rngs=nnx.Rngs(0)))
        return model, nnx.Optimizer(model, optax.sgd(0.01, momentum=0.9), wrt=nnx.Param)

    def train(model: Any, optimizer: Any, x: Any) -> Any:
        loss, slopes = nnx.value_and_grad(lambda model: ((model(x) - 1) ** 2 * x.sum()).mean())(model)
        optimizer.update(model, slopes)
        return {"loss": loss}

    step = nnx.jit(train)
    mine, theirs = network(), network()
    x = X + np.float32([[1, 0, 0], [0, 2, 0]])
    exe = ipu.compile(step, args=[*mine, x], target=SMALL)
    for _ in range(2):
        same(exe(*mine, x), step(*theirs, x))
    for one, other in zip(mine, theirs, strict=True):
        states = (nnx.split(each)[1] for each in (one, other))
        jax.tree.map(lambda mine, theirs: np.testing.assert_allclose(mine, theirs, atol=1e-5), *states)


@pytest.mark.parametrize(
    ("static", "named"),
    [({"static_argnums": 2}, False), ({"static_argnames": "n"}, True), ({"static_argnames": "n"}, False)],
)
def test_static_arguments_of_nnx(static: dict[str, Any], named: bool) -> None:
    nnx = pytest.importorskip("flax.nnx")
    model = nnx.Linear(3, 2, rngs=nnx.Rngs(0))

    def scaled(model: Any, x: Any, n: int) -> Any:
        model.bias[...] += n
        return model(x) * n

    def given(n: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return ((model, X), {"n": n}) if named else ((model, X, n), {})

    args, kwargs = given(3)
    exe = ipu.compile(nnx.jit(scaled, **static), args=args, kwargs=kwargs, target=SMALL)
    before = np.array(model.bias[...])
    found = exe(*args, **kwargs)
    np.testing.assert_allclose(model.bias[...], before + 3)
    same(found, model(X) * 3)
    args, kwargs = given(4)
    with pytest.raises(ipu.RunError, match=r"static argument (2|n) is 4, the program was compiled for 3"):
        exe(*args, **kwargs)


def test_a_module_of_nnx_is_called_with_its_weights_of_then() -> None:
    nnx = pytest.importorskip("flax.nnx")
    model = nnx.Linear(3, 2, rngs=nnx.Rngs(0))
    exe = ipu.compile(model, args=[X], target=SMALL)
    same(exe(X), model(X))
    model.kernel[...] = model.kernel[...] * 2
    same(exe(X), model(X))


def test_a_registered_class_makes_a_function_one_of_jax():
    @partial(jax.tree_util.register_dataclass, data_fields=["x", "v"], meta_fields=["name"])
    @dataclass
    class State:
        x: jax.Array
        v: jax.Array
        name: str

    def step(state):
        return State(state.x + state.v, state.v * 0.5, state.name)

    state = State(jnp.arange(3.0), jnp.ones(3), "ball")
    for given in ({"args": [state]}, {"kwargs": {"state": state}}):
        found = ipu.compile(step, **given)(*given.get("args", ()), **given.get("kwargs", {}))
        assert found.name == "ball" and found.x.tolist() == [1.0, 2.0, 3.0] and found.v.tolist() == [0.5] * 3
