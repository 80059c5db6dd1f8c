"""Functions of JAX and modules of PyTorch in traced functions and as stages of pipelines, with gradients of theirs."""

from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu

RNG = np.random.default_rng(20261124)
SMALL = ipu.Target(tiles_per_ipu=4)
ROWS, SIZE = 3, 4


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def machine(stages: int) -> ipu.Target:
    return ipu.Target(tiles_per_ipu=4, ipus=1 << (stages - 1).bit_length())


def close(found: Any, wanted: Any) -> None:
    """To 1e-6 of the largest element."""
    wanted = np.asarray(wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6 * max(1.0, float(np.abs(wanted).max())))


SCHEDULES = ("grouped", "interleaved", "sequential")


def pipelines(often: tuple[int, str]) -> list[Any]:
    """Stages and schedules, all but one of them slow."""
    every = [(stages, schedule) for stages in (2, 3, 4) for schedule in SCHEDULES]
    return [pytest.param(*each, marks=[] if each == often else [pytest.mark.slow]) for each in every]


def micro_batches(stages: int, schedule: str) -> int:
    return {"grouped": 2 * stages, "interleaved": stages, "sequential": 2}[schedule]


@pytest.mark.parametrize(("stages", "schedule"), pipelines((2, "grouped")))
def test_a_pipeline_of_functions_of_jax(stages: int, schedule: str) -> None:
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    @jax.jit
    def first(p: Any, x: Any) -> Any:
        return {"h": jax.nn.gelu(x @ p["w"] + p["b"]), "skip": x}

    @jax.jit
    def middle(p: Any, given: Any) -> Any:
        return {"h": jnp.tanh(given["h"] @ p["w"] + p["b"]), "skip": given["skip"]}

    @jax.jit
    def last(p: Any, given: Any, labels: Any) -> Any:
        logits = given["h"] @ p["w"] + p["b"] + given["skip"]
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()

    functions = [first, *[middle] * (stages - 2), last]
    count = micro_batches(stages, schedule)
    parameters = [{"w": normal(SIZE, SIZE), "b": normal(SIZE)} for _ in range(stages)]
    x, labels = normal(count, ROWS, SIZE), RNG.integers(0, SIZE, (count, ROWS)).astype(np.int32)
    pipe = ipu.pipeline(functions, count, schedule, reduction="mean")

    @ipu.function(target=machine(stages))
    def train(parameters: Any, x: Any, labels: Any) -> Any:
        return pipe.value_and_grad(parameters, [x, *[None] * (stages - 2), labels])

    def loss_of(parameters: Any) -> Any:
        losses = []
        for row, own in zip(x, labels, strict=True):
            given = first(parameters[0], row)
            for function, each in zip(functions[1:-1], parameters[1:-1], strict=True):
                given = function(each, given)
            losses.append(last(parameters[-1], given, own))
        return jnp.stack(losses).mean(), jnp.stack(losses)

    losses, slopes = train(parameters, x, labels)
    wanted, theirs = jax.grad(loss_of, has_aux=True)(parameters)[::-1]
    close(losses, wanted)
    ipu.tree_map(close, slopes, theirs)


@pytest.mark.parametrize(("stages", "schedule"), pipelines((3, "interleaved")))
def test_a_pipeline_over_the_children_of_a_sequential(stages: int, schedule: str) -> None:
    """Two steps of momentum, as PyTorch takes them."""
    torch = pytest.importorskip("torch")
    nn = torch.nn
    torch.manual_seed(3)
    children = [nn.Sequential(nn.Linear(SIZE, SIZE), nn.GELU()) for _ in range(stages - 1)]
    net, count = nn.Sequential(*children, nn.Linear(SIZE, 2)), micro_batches(stages, schedule)
    x, y = normal(count, ROWS, SIZE), normal(count, ROWS, 2)
    pipe = ipu.pipeline(net, count, schedule, reduction="mean", loss=nn.MSELoss())
    weights = ipu.Variable(ipu.parameters_of(net), name="weights")
    training = ipu.optimizers.attach(ipu.optimizers.sgd(0.1, 0.9), weights)

    @ipu.function(target=machine(stages))
    def step(x: Any, y: Any) -> Any:
        losses, slopes = pipe.value_and_grad(weights.value, [x, *[None] * (stages - 2), y])
        training.assign(slopes)
        return losses.mean()

    theirs = torch.optim.SGD(net.parameters(), 0.1, 0.9)
    for _ in range(2):
        theirs.zero_grad()
        loss = nn.functional.mse_loss(net(torch.tensor(x)), torch.tensor(y))
        loss.backward()
        close(step(x, y), loss.detach().numpy())
        theirs.step()
    for own, child in zip(weights.value, net, strict=True):
        for name, wanted in child.named_parameters():
            close(own[name], wanted.detach().numpy())


def test_gradients_of_a_function_of_jax_for_each_example() -> None:
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    def function(x: Any, w: Any) -> Any:
        padded = jax.lax.pad(x, x[0, 0], ((1, 0, 0), (0, 2, 0)))
        return (jnp.cumprod(x, 1)[0] @ w).sum() + (padded**2 * jnp.arange(SIZE + 2)).sum()

    x, w = normal(2, ROWS, SIZE), normal(SIZE, SIZE)
    slopes = ipu.grad(ipu.imported(jax.jit(function)), (0, 1))
    found = ipu.function(lambda x, w: ipu.vmap(slopes, (0, None))(x, w), target=SMALL)(x, w)
    for own, theirs in zip(found, jax.vmap(jax.grad(function, (0, 1)), (0, None))(x, w), strict=True):
        close(own, theirs)


def test_gradients_stop_where_the_other_framework_stops_them() -> None:
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")
    x, w = normal(ROWS, SIZE), normal(SIZE, SIZE)

    def of_torch(x: Any, w: Any) -> Any:
        with torch.no_grad():
            constant = torch.tanh(x @ w)
        return ((x @ w) * constant * torch.sin(w[0]).detach()).sum()

    def of_jax(x: Any, w: Any) -> Any:
        stopped = jax.lax.stop_gradient
        return ((x @ w) * stopped(jax.numpy.tanh(x @ w)) * stopped(jax.numpy.sin(w[0]))).sum()

    wanted = jax.grad(of_jax, (0, 1))(x, w)
    for called in (ipu.imported(of_torch, "torch"), ipu.imported(jax.jit(of_jax))):
        found = ipu.function(ipu.grad(called, (0, 1)), target=SMALL)(x, w)
        for own, theirs in zip(found, wanted, strict=True):
            close(own, theirs)


def test_solutions_of_jax_have_gradients_by_the_matrix() -> None:
    jax = pytest.importorskip("jax")
    linalg, eye = jax.scipy.linalg, 3 * np.eye(SIZE, dtype=np.float32)

    def function(a: Any, b: Any) -> Any:
        symmetric = linalg.solve(a @ a.T + eye, b, assume_a="pos")
        return (jax.numpy.linalg.solve(a + eye, b) * symmetric).sum()

    a, b = normal(SIZE, SIZE), normal(SIZE, 2)
    found = ipu.function(ipu.grad(ipu.imported(jax.jit(function)), (0, 1)), target=SMALL)(a, b)
    for own, theirs in zip(found, jax.grad(function, (0, 1))(a, b), strict=True):
        np.testing.assert_allclose(own, theirs, rtol=1e-4, atol=1e-5)


def test_modules_that_draw_random_numbers_do_so_for_each_micro_batch() -> None:
    torch = pytest.importorskip("torch")

    class Dropped(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = torch.nn.Parameter(torch.ones(40))

        def forward(self, x: Any) -> Any:
            return torch.nn.functional.dropout(x * self.w, 0.25)

    net = torch.nn.Sequential(Dropped(), Dropped())
    pipe = ipu.pipeline(net, 4, recompute="inputs", loss=lambda y: (y.sum(), y))
    run = ipu.function(lambda w, x: pipe.value_and_grad(w, [x]), target=machine(2))
    (_, once), slopes = run(ipu.parameters_of(net), np.ones((4, 40), np.float32))
    (_, again), _ = run(ipu.parameters_of(net), np.ones((4, 40), np.float32))
    assert len({tuple(row) for row in (*(once != 0), *(again != 0))}) == 8
    for own in slopes:
        close(own["w"], once.sum(0))


def test_a_model_of_onnx_is_called_and_has_gradients() -> None:
    onnx = pytest.importorskip("onnx")
    helper, of = onnx.helper, onnx.numpy_helper.from_array
    w = normal(SIZE, SIZE).astype(np.float32)
    rows = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["rows", SIZE]) for name in ("x", "y", "kept")]
    nodes = [helper.make_node("MatMul", ["x", "w"], ["kept"]), helper.make_node("Tanh", ["kept"], ["y"])]
    model = helper.make_model(helper.make_graph(nodes, "layer", rows[:1], rows[1:], [of(w, "w")]))
    layer = ipu.imported(model)

    def loss(x: Any) -> Any:
        y, kept = layer(x)
        return (y * kept).sum()

    x = normal(ROWS, SIZE).astype(np.float32)
    value, slope = ipu.function(lambda x: ipu.value_and_grad(loss)(x), target=SMALL)(x)
    kept = x @ w
    np.testing.assert_allclose(value, (np.tanh(kept) * kept).sum(), rtol=1e-4)
    wanted = (np.tanh(kept) + kept * (1 - np.tanh(kept) ** 2)) @ w.T
    np.testing.assert_allclose(slope, wanted, rtol=1e-3, atol=1e-4)
    counted = helper.make_graph(
        [helper.make_node("NonZero", ["x"], ["places"])],
        "counted",
        rows[:1],
        [helper.make_tensor_value_info("places", onnx.TensorProto.INT64, [2, None])],
    )
    places = ipu.imported(helper.make_model(counted))
    with pytest.raises(
        ipu.CompileError, match="result places of the model is int64, or of a size that values say, whi"
    ):
        ipu.function(places, target=SMALL)(x)
    with pytest.raises(ipu.CompileError, match="give a jitted function of JAX, a module of PyTorch, a model of ONNX"):
        ipu.imported(3)


def test_a_tuple_of_data_is_as_many_arguments() -> None:
    """Of a module and of a loss; a function that takes one argument is given the tuple."""
    torch = pytest.importorskip("torch")
    nn = torch.nn

    class Words(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(11, 4), nn.Embedding(5, 4)

        def forward(self, words: Any, places: Any) -> Any:
            return self.words(words) + self.places(places)

    def loss(out: Any, y: Any, weight: Any) -> Any:
        return ((out - y) ** 2 * weight).mean()

    torch.manual_seed(0)
    rng, net = np.random.default_rng(0), nn.Sequential(Words(), nn.Linear(4, 4))
    words, places = (rng.integers(0, size, (2, 3, 6)).astype(np.int32) for size in (11, 5))
    y, weight = (rng.standard_normal((2, 3, 6, 4)).astype(np.float32) for _ in range(2))
    parameters, target = ipu.parameters_of(net), ipu.Target(ipus=2, tiles_per_ipu=4)
    pipe = ipu.pipeline(net, 2, "sequential", loss=loss)
    run = ipu.function(lambda *data: pipe(parameters, [data[:2], data[2:]]), target=target)
    given = [torch.tensor(each) for each in (words, places, y, weight)]
    wanted = [loss(net[1](net[0](w, p)), *rest).item() for w, p, *rest in zip(*given, strict=True)]
    np.testing.assert_allclose(run(words, places, y, weight), wanted, rtol=1e-5)
    stages = [lambda w, x, m: x * m + w, lambda w, h, pair: (h * pair[0] * pair[1]).sum()]
    nested = ipu.pipeline(stages, 2, "sequential")
    run = ipu.function(lambda *data: nested([1.0, 0.0], [data[:2], data[2:]]), target=target)
    np.testing.assert_allclose(run(y, weight, y, y), ((y * weight + 1) * y * y).sum((1, 2, 3)), rtol=1e-4)


def test_what_pipelines_of_torch_cannot_do_is_said() -> None:
    torch = pytest.importorskip("torch")
    layer = torch.nn.Linear(SIZE, SIZE)
    with pytest.raises(ipu.CompileError, match="children 0 and 2 have one parameter in common, 'weight'"):
        ipu.parameters_of(torch.nn.Sequential(layer, torch.nn.ReLU(), layer))
    with pytest.raises(ipu.CompileError, match=r"give a torch[.]nn[.]Module"):
        ipu.buffers_of(abs)


@pytest.mark.parametrize(
    ("schedule", "recompute"),
    [("grouped", "inputs"), pytest.param("sequential", "none", marks=pytest.mark.slow)],
)
def test_norms_in_stages_keep_statistics_of_all_micro_batches(schedule: str, recompute: str) -> None:
    torch = pytest.importorskip("torch")
    nn = torch.nn
    torch.manual_seed(3)
    first, second = (nn.BatchNorm1d(SIZE, momentum=share) for share in (None, 0.3))
    net = nn.Sequential(nn.Sequential(nn.Linear(SIZE, SIZE), first), second)
    x, y, loss_of = normal(4, ROWS, SIZE), normal(4, ROWS, SIZE), nn.MSELoss()
    pipe = ipu.pipeline(net, 4, schedule, recompute=recompute, loss=loss_of)
    run = ipu.function(lambda p, x, y: pipe.value_and_grad(p, [x, y]), target=machine(2))
    slopes: Any = None
    for _ in range(2):
        losses, slopes = run(ipu.parameters_of(net), x, y)
        net.zero_grad()
        wanted = [loss_of(net(torch.tensor(a)), torch.tensor(b)) for a, b in zip(x, y, strict=True)]
        sum(wanted).backward()
        close(losses, [each.item() for each in wanted])
    for own, child in zip(slopes, net, strict=True):
        for name, each in child.named_parameters():
            np.testing.assert_allclose(own[name], each.grad, rtol=1e-4, atol=1e-5)
    found = ipu.buffers_of(net)
    assert sorted(found) == sorted(name for name, _ in net.named_buffers())
    for name, each in net.named_buffers():
        close(found[name], each)
    if schedule == "grouped":
        inference = ipu.pipeline(net.eval(), 4)
        run = ipu.function(lambda p, x: inference(p, [x]), target=machine(2))
        wanted = [net(torch.tensor(each)).detach().numpy() for each in x]
        np.testing.assert_allclose(run(ipu.parameters_of(net), x), wanted, rtol=1e-5, atol=1e-5)


def test_a_pipeline_of_plain_functions_of_jax_takes_its_arrays() -> None:
    jnp = pytest.importorskip("jax.numpy")
    w, x = [jnp.asarray(normal(SIZE, SIZE)) for _ in range(2)], normal(4, ROWS, SIZE)
    pipe = ipu.pipeline([lambda w, x: jnp.tanh(x @ w), lambda w, h: jnp.mean(h @ w)], 4)
    exe = ipu.compile(lambda w, x: pipe.value_and_grad(w, [x])[0], args=[w, jnp.asarray(x)], target=machine(2))
    close(exe(w, x), [jnp.mean(jnp.tanh(each @ w[0]) @ w[1]) for each in x])


def test_a_norm_over_the_batches_of_all_replicas() -> None:
    torch = pytest.importorskip("torch")
    nn = torch.nn
    net = nn.Sequential(nn.Linear(SIZE, SIZE), nn.SyncBatchNorm(SIZE), nn.Tanh()).train()
    alone = nn.Sequential(net[0], nn.BatchNorm1d(SIZE), nn.Tanh()).train()
    called, parameters, x = ipu.imported(net), ipu.parameters_of(net), normal(2, ROWS, SIZE)

    def slopes(p: Any, x: Any) -> Any:
        return ipu.all_reduce(ipu.grad(lambda p: called(p, x).mean())(p), "mean")

    exe = ipu.compile(slopes, args=(parameters, ipu.per_replica(x[0])), target=ipu.Target(tiles_per_ipu=4, replicas=2))
    session = exe.session()
    found = session(parameters, x)
    alone(torch.tensor(x).reshape(-1, SIZE)).mean().backward()
    for own, child in zip(found[:2], alone, strict=False):
        for name, each in child.named_parameters():
            np.testing.assert_allclose(own[name], each.grad, rtol=1e-4, atol=1e-6)
    for name, each in alone[1].named_buffers():
        (kept,) = (session[own] for own in session if own.endswith(name))
        np.testing.assert_allclose(kept, each, rtol=1e-5, atol=1e-6)


def test_an_imported_function_runs_on_the_ipu_that_is_asked_for() -> None:
    torch = pytest.importorskip("torch")
    layer = torch.nn.Linear(SIZE, SIZE)
    called, x = ipu.imported(layer), normal(ROWS, SIZE)

    def run(p: Any, x: Any) -> Any:
        with ipu.shard(1):
            return called(p, x)

    found = ipu.function(run, target=machine(2))(ipu.parameters_of(layer), x)
    close(found, layer(torch.tensor(x)).detach().numpy())


def test_a_function_of_jax_keeps_its_nesting_and_may_be_called_twice() -> None:
    jax = pytest.importorskip("jax")
    function = jax.jit(lambda p, x, scale: {"y": (x @ p["w"], scale * x), "n": p["n"] + 1})
    called = ipu.imported(function)

    @ipu.function(target=SMALL)
    def run(p: Any, x: Any) -> Any:
        once = called(p, x, 2.0)
        return called(p, once["y"][0], scale=3.0), once

    p, x = {"w": normal(SIZE, SIZE), "n": np.int32(4), "unused": normal(2)}, normal(ROWS, SIZE)
    twice, once = run(p, x)
    assert once["n"] == twice["n"] == 5
    close(once["y"][1], 2 * x)
    close(twice["y"][1], 3 * (x @ p["w"]))


def test_a_plain_function_says_its_framework() -> None:
    jax = pytest.importorskip("jax")
    torch = pytest.importorskip("torch")
    x = normal(ROWS, SIZE)
    for function, framework in ((jax.numpy.cumsum, "jax"), (lambda x: torch.cumsum(x, 1), "torch")):
        called = ipu.imported(function, framework)
        found = ipu.function(lambda x: called(x), target=SMALL)(x)  # noqa: B023
        close(found, np.cumsum(x) if framework == "jax" else np.cumsum(x, 1))


def test_buffers_of_a_module_are_part_of_the_program() -> None:
    torch = pytest.importorskip("torch")
    norm = torch.nn.BatchNorm1d(SIZE).eval()
    norm.running_mean[:] = torch.arange(SIZE)
    called, x = ipu.imported(norm), normal(ROWS, SIZE)
    found = ipu.function(called, target=SMALL)(ipu.parameters_of(norm), x)
    close(found, norm(torch.tensor(x)).detach().numpy())


def test_a_profile_says_which_module_takes_the_cycles() -> None:
    torch = pytest.importorskip("torch")
    called, module = ipu.imported(torch.nn.Linear(SIZE, SIZE)), torch.nn.Linear(SIZE, SIZE)
    exe = ipu.compile(called, args=(ipu.parameters_of(module), normal(ROWS, SIZE)), target=SMALL)
    assert {str(op.location).partition(":")[0] for op in exe.profile().ops} == {"test_called_functions.py"}
    assert "Linear" in exe.profile().summary()


def test_what_is_refused() -> None:
    jax = pytest.importorskip("jax")
    torch = pytest.importorskip("torch")
    double = jax.jit(lambda x: x * 2)
    with pytest.raises(
        ipu.CompileError, match="give a jitted function of JAX, a module of PyTorch, a model of ONNX, or a function and"
    ):
        ipu.imported(np.sin)
    with pytest.raises(ipu.CompileError, match=r"imported\(.*, array\(.*give a jitted function of JAX"):
        ipu.imported(double, np.ones(2))  # type: ignore[arg-type]
    with pytest.raises(ipu.CompileError, match="give a torch"):
        ipu.parameters_of(double)
    with pytest.raises(ValueError, match="runs in a function that is compiled"):
        ipu.imported(double)(np.ones(3))
    with pytest.raises(TypeError, match="jax_enable_x64"):
        ipu.function(ipu.imported(double), target=SMALL)(np.ones(3))
    with pytest.raises(TypeError, match="is a list of functions; let it return the loss"):
        ipu.pipeline([double, [double, double]], 4, loss=double)
    with pytest.raises(TypeError, match="PyTorch cannot trace Linear"):
        ipu.function(ipu.imported(torch.nn.Linear(3, 2)), target=SMALL)({}, np.ones((2, 4), np.float32))
