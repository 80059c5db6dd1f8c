"""Programs of PyTorch: their results are those of PyTorch, in its structures and tensors."""

import pytest

import ipu_mlir as ipu

torch = pytest.importorskip("torch")
from support.torch_results import TARGET, assert_same, check  # noqa: E402
from torch._higher_order_ops.while_loop import while_loop  # noqa: E402

nn = torch.nn


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1, groups=2)
        self.norm, self.pool = nn.BatchNorm2d(8), nn.MaxPool2d(2)
        self.head = nn.Linear(8 * 16, 5)

    def forward(self, x):
        x = torch.relu(self.norm(self.a(x)))
        return self.head(self.pool(x + self.b(x)).flatten(1))


MODELS = {
    "mlp": (nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4)), (3, 8)),
    "convolutions": (Block(), (2, 3, 8, 8)),
    "encoder": (nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True), (2, 5, 16)),
    "lstm": (nn.LSTM(4, 6, batch_first=True), (2, 5, 4)),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_module_gives_the_results_of_pytorch(name: str):
    torch.manual_seed(0)
    model, shape = MODELS[name]
    check(model.eval(), torch.randn(shape))


class Tables(nn.Module):
    """Weights of several types, one of them a view with other steps, one alone, one that stands twice."""

    def __init__(self) -> None:
        super().__init__()
        for kind in (torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int16, torch.bool):
            self.register_buffer(f"of_{kind}".replace(".", "_"), torch.randint(-9, 9, (4, 3)).to(kind).T)
        self.alone = nn.Parameter(torch.tensor([2.5]))
        self.again = self.alone

    def forward(self, x):
        return [x * (self.alone + self.again), *(table.flip(0) for table in self.buffers())]


def test_weights_of_every_type_are_constants_by_their_bytes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.Tensor, "tolist", None, raising=False)  # Python numbers of them take many seconds
    check(Tables(), torch.randn(2, 3))


def test_a_function_takes_and_gives_nested_tensors():
    def f(params, scale, *, flag=True):
        product = params["a"] @ params["b"] * scale
        return {"product": product if flag else -product, "kept": [3, params["a"].bool()]}

    check(f, {"a": torch.randn(3, 4), "b": torch.randn(4, 2)}, 1.5, flag=False)
    check(f, {"a": torch.randn(3, 4, dtype=torch.bfloat16), "b": torch.randn(4, 2, dtype=torch.bfloat16)}, 1.5)


def test_an_exported_program():
    model = nn.Linear(4, 3)
    x = torch.randn(2, 4)
    exe = ipu.compile(torch.export.export(model, (x,)), target=TARGET)
    assert_same(exe(x), model(x).detach())


class _Repeats(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv1d(2, 2, 3, padding=1), nn.BatchNorm1d(2), nn.ReLU())

    def forward(self, x, times: int = 2):
        for _ in range(times):
            x = x + self.layers(x)
        return {"sum": x.sum(-1), "best": x.argmax(1)}


@pytest.mark.parametrize(
    "scripted", [torch.jit.script, lambda model: torch.jit.trace(model.layers, torch.ones(1, 2, 6))]
)
def test_a_module_of_torchscript(scripted):
    model, x = scripted(_Repeats().eval()), torch.randn(1, 2, 6)
    assert_same(ipu.compile(model, args=[x], target=TARGET)(x), model(x))
    assert_same(ipu.compile(lambda x: model(x), args=[x], target=TARGET)(x), model(x))
    outer = nn.Sequential(model)
    assert_same(ipu.compile(outer, args=[x], target=TARGET)(x), outer(x))


def test_an_exported_program_with_open_sizes():
    model = nn.Sequential(nn.Linear(4, 3), nn.Softmax(-1))
    batch = torch.export.Dim("batch", min=2, max=64)
    exported = torch.export.export(model, (torch.randn(4, 4),), dynamic_shapes=({0: batch},))
    exe = ipu.compile(exported, target=TARGET)
    for size in (3, 7):
        x = torch.randn(size, 4)
        assert_same(exe(x), model(x).detach())


def test_sorts_scans_and_scatters():
    def f(x, rows, values):
        return x.cumsum(1), tuple(x.sort(0)), x.index_add(0, rows, values), x.scatter(0, rows[:, None], 7.0)

    check(f, torch.randn(5, 4), torch.tensor([0, 3, 3]), torch.randn(3, 4))


def test_functions_that_look_at_values_before_they_compute():
    window = torch.hann_window(12)

    def f(x):
        spectrum = torch.stft(x, 16, 4, 12, window=window, return_complex=True, normalized=True)
        back = torch.istft(spectrum, 16, 4, 12, window=window, normalized=True, length=30)
        both_sides = torch.istft(torch.complex(x.reshape(8, 4), x.reshape(8, 4).flip(0)), 8, onesided=False)
        return (
            back,
            both_sides,
            torch.histogram(x, 5, range=(-1.0, 1.0), density=True),
            torch.histogram(x, 3, range=(-2.0, 2.0)),
            torch.corrcoef(x.reshape(4, 8).half()),
        )

    x = torch.randn(32, generator=torch.manual_seed(0))
    torch.testing.assert_close(ipu.compile(f, args=[torch.zeros(32)], target=TARGET)(x), tuple(map(_plain, f(x))))


def _plain(each):
    return each if isinstance(each, torch.Tensor) else tuple(each)


def test_a_training_step_on_integer_labels():
    torch.manual_seed(1)
    model = nn.Sequential(nn.Embedding(7, 6), nn.Flatten(), nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 3))
    params = {name: each.detach() for name, each in model.named_parameters()}

    def loss(params, tokens, labels):
        return nn.functional.cross_entropy(torch.func.functional_call(model, params, (tokens,)), labels)

    def step(params, tokens, labels):
        grads, value = torch.func.grad_and_value(loss)(params, tokens, labels)
        return {name: each - 0.1 * grads[name] for name, each in params.items()}, value

    tokens, labels = torch.tensor([[1, 2], [0, 6], [2, 2]]), torch.tensor([0, 2, 1])
    exe = ipu.compile(step, args=(params, tokens, labels), target=TARGET)
    ours = theirs = params
    for _ in range(3):
        ours, our_loss = exe(ours, tokens, labels)
        theirs, their_loss = step(theirs, tokens, labels)
        assert_same((ours, our_loss), (theirs, their_loss))


def test_arguments_of_another_structure_are_refused():
    exe = ipu.compile(lambda pair: pair[0] + pair[1], args=[(torch.ones(2), torch.ones(2))], target=TARGET)
    with pytest.raises(ipu.RunError, match="the program was compiled for"):
        exe(torch.ones(2))


class Scaled(torch.nn.Module):
    def forward(self, x, factor, mode=None):
        return x * factor if mode is None else x


@pytest.mark.parametrize("make", [Scaled, lambda: lambda x, factor, mode=None: Scaled()(x, factor, mode)])
def test_numbers_among_the_arguments_are_part_of_the_program(make):
    x = torch.arange(3.0)
    program = ipu.compile(make(), args=[x, 2, None], target=TARGET)
    torch.testing.assert_close(program(x, 2, None), 2 * x)
    with pytest.raises(ipu.RunError, match=r"argument args\[1\] is 3, the program was compiled for 2"):
        program(x, 3, None)


def test_one_tensor_for_two_arguments_is_two_arguments():
    zeros, x = torch.zeros(3), torch.tensor([1.0, 2.0, 3.0])
    for source in (lambda a, b: a - 2 * b, Difference()):
        exe = ipu.compile(source, args=[zeros, zeros], target=TARGET)
        assert_same(exe(x, x + 1), source(x, x + 1))


class Difference(nn.Module):
    def forward(self, a, b):
        return a - 2 * b


def test_comparisons_of_whole_tensors_are_bools():
    x = torch.tensor([1.0, 2.0])
    exe = ipu.compile(lambda x, y: (torch.allclose(x, y), x.equal(y), x.equal(x[:1])), args=[x, x], target=TARGET)
    assert exe(x, x) == (True, True, False)
    assert exe(x, x + 1e-7) == (True, False, False)


def test_types_that_numpy_has_not_are_refused():
    with pytest.raises(ipu.CompileError, match=r"no tensors of torch\.complex32 here; use another type"):
        ipu.compile(lambda x: x.to(torch.complex32), args=[torch.ones(3)], target=TARGET)


def test_sizes_that_depend_on_values_are_refused_by_name():
    with pytest.raises(ipu.CompileError, match=r"the program has aten.masked_select.default, whose result is as large"):
        ipu.compile(lambda x: torch.ops.aten.masked_select(x, x > 0), args=[torch.ones(3, 2)], target=TARGET)


def test_bytes_and_numbers():
    x = torch.tensor([1, -3, 100], dtype=torch.int8)
    function = lambda x: (x - 1, 1 - x, x * 3, x + 300, x - 300, torch.sub(x, 2, alpha=3))  # noqa: E731
    for ours, theirs in zip(ipu.compile(function, args=[x], target=TARGET)(x), function(x), strict=True):
        assert torch.equal(ours, theirs)


def test_what_writes_to_its_arguments_or_buffers_is_refused():
    x = torch.ones(3)
    with pytest.raises(ipu.CompileError, match="changes argument 1, which a program here cannot"):
        ipu.compile(lambda a, b: (b.add_(a), a * 2)[1], args=[x, x], target=TARGET)
    with pytest.raises(ipu.CompileError, match="changes running_mean, running_var, num_batches_tracked"):
        ipu.compile(nn.BatchNorm1d(3).train(), args=[torch.ones(2, 3)], target=TARGET)
    check(lambda a: a.clone().add_(1), x)


def test_numbers_without_a_sign_stay_so():
    x = torch.tensor([1, 200])
    check(lambda a: (a.byte(), a), x)
    check(Bytes(), x)
    a, b = torch.tensor([[[0, 200, 100]], [[255, 128, 127]]], dtype=torch.uint8)
    check(lambda a, b: (a + b, 255 - a, a > b, a > 100, torch.maximum(a, b), a.amax(1), a.argmin(1), ~a), a, b)
    check(
        lambda a, b: (a.float() / 255, (a.int() * 3).byte(), torch.cat([a, b]).flip(0), torch.where(a > b, a, b)), a, b
    )


@pytest.mark.parametrize(
    "function",
    [lambda a: a.sort()[0], lambda a: a / 2, lambda a: a % 7, lambda a: a.sum(), lambda a: a >= 150, lambda a: a + 0.5],
)
def test_numbers_without_a_sign_are_computed_with(function):
    check(function, torch.tensor([1, 200], dtype=torch.uint8))


def test_floats_become_numbers_without_a_sign():
    check(Bytes(), torch.tensor([1.0, 200.0]))


class Bytes(nn.Module):
    def forward(self, x):
        return x, x.byte()


def test_masks_and_diagonals_are_written():
    def f(x):
        y = x.clone()
        y[y > 0.2] = 2.0
        y[x[:, 0] > 0] = 1.5
        added = torch.index_put(x, (x > 0,), torch.tensor(1.0), accumulate=True)
        written = x.diagonal_scatter(torch.arange(2.0), 1), torch.stack([x, x]).diagonal_scatter(x[:2, :2], -1, 2, 1)
        return y, added, x.diagonal(-1), x.diagonal(5), torch.diag_embed(x), *written

    x = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    assert_same(ipu.compile(f, args=[x], target=TARGET)(x), f(x))


def test_numbers_between_two_are_rounded_once():
    """PyTorch computes them in float32; rounded at each step they were one in the last place off."""
    x = torch.linspace(-8, 8, 25, dtype=torch.bfloat16)
    executable = ipu.compile(lambda x, y: torch.lerp(x, y, 0.3), args=(x, x * x / 3), target=TARGET)
    assert torch.equal(executable(x, x * x / 3), torch.lerp(x, x * x / 3, 0.3))


def test_views_by_strides():
    def f(x):
        turned, ones = (x + 1).t(), torch.ones(3, 2)
        read = x.as_strided((3, 2), (6, 1), 2), x.as_strided((2, 3, 3), (6, 1, 1))
        views = turned.as_strided((24,), (1,)), x[1:].as_strided((3,), (2,)), x.as_strided((0, 2), (1, 1))
        return *read, *views, torch.as_strided_scatter(x, ones, (3, 2), (1, 6), 3)

    x = torch.randn(4, 6, generator=torch.Generator().manual_seed(0))
    assert_same(ipu.compile(f, args=[x], target=TARGET)(x), f(x))
    check(lambda x: x.as_strided((), (), 5), x)


def test_constants_without_elements():
    class Empty(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("nothing", torch.zeros(0, 2))

        def forward(self, x):
            return x + 1, self.nothing * 2, torch.cat([self.nothing, x])

    check(Empty(), torch.ones(3, 2))


def test_ops_without_a_rule_in_a_loop_are_named():
    class Strange(nn.Module):
        def forward(self, x):
            return while_loop(lambda x: x.sum() < 9, lambda x: (torch.special.airy_ai(x) + 1,), (x,))

    with pytest.raises(
        ipu.CompileError, match=r"has 1 op that cannot be imported: aten\.special_airy_ai\.default; let"
    ):
        ipu.compile(Strange(), args=[torch.ones(3)], target=TARGET)


def test_dimensions_of_scatters_are_counted_from_the_end():
    x, values, index = torch.randn(2, 4), torch.randn(2, 2), torch.tensor([[0, 2], [1, 0]])

    def function(x, values):
        largest = torch.func.grad(lambda x: x.topk(2, dim=-1).values.sin().sum())(x)
        reduced = x.scatter_reduce(-2, index % 2, values, "amax")
        return (
            x.scatter(-1, index, values),
            x.scatter(-1, index, 2.0),
            x.scatter_add(-1, index, values),
            reduced,
            largest,
        )

    args = x, values
    assert_same(ipu.compile(function, args=args, target=TARGET)(*args), function(*args), atol=1e-6)


def test_results_may_be_objects_of_any_class_that_hold_tensors():
    class Cache:
        def __init__(self, rows, name):
            self.layers, self.name, self.itself = [Layer(rows), Layer(rows.bool())], name, self

    class Layer:
        def __init__(self, rows):
            self.rows, self.size, self.dtype = rows * 2, len(rows), rows.dtype

    class Module(nn.Module):
        def forward(self, x):
            return x + 1, {"cache": Cache(x, "kept")}

    x = torch.tensor([1.0, 0.0])
    for source in (Module(), lambda x: Module()(x)):
        result, nested = ipu.compile(source, kwargs={"x": x}, target=TARGET)(x=x)
        cache = nested["cache"]
        assert type(cache) is Cache and cache.name == "kept"
        assert_same((result, *(layer.rows for layer in cache.layers)), (x + 1, x * 2, x.bool() * 2))
        assert [(type(layer), layer.size, layer.dtype) for layer in cache.layers] == [
            (Layer, 2, torch.float32),
            (Layer, 2, torch.bool),
        ]


def test_places_in_an_index_may_be_tensors():
    def f(x, t, s):
        y = x.clone()
        y[t] = 1.0
        y[:, s] = x[:, t]
        y[t, s] += x[-1, s]
        y[..., t] = torch.full((1, 1, 4, 5), 3.0)
        y[None, t, 1:3, s] = x[t, :2, 0]
        best = x[x[:, 0, 0].argmax(), :, s]
        return x[t, 1:, s], x[..., t], x[None, :, s, None], x[t - 3], x[t, [0, 1]], y, best

    class Module(nn.Module):
        def forward(self, *args):
            return f(*args)

    args = torch.randn(4, 5, 6), torch.tensor(1), torch.tensor(2, dtype=torch.int32)
    check(Module(), *args)
    check(f, *args)


def test_a_module_may_give_gradients_by_its_arguments():
    class Forces(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.energies = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))

        def forward(self, places):
            places = places.detach().requires_grad_(True)
            energy = self.energies(places).sum()
            (slope,) = torch.autograd.grad(energy, places, create_graph=True)
            (curvature,) = torch.autograd.grad(slope.sum(), places)
            return energy.detach(), -slope.detach(), curvature

    model, places = Forces(), torch.randn(5, 3)
    assert_same(ipu.compile(model, args=[places], target=TARGET)(places), model(places))


def test_nested_tensors_are_refused():
    rows = [torch.ones(2), torch.ones(3)]
    for source, arg in (
        (lambda x: torch.nested.as_nested_tensor([x[:2], x]).to_padded_tensor(0.0), torch.ones(3)),
        (lambda x: x.to_padded_tensor(0.0), torch.nested.nested_tensor(rows)),
    ):
        with pytest.raises(ipu.CompileError, match="rows have no size in common; give a padded tensor"):
            ipu.compile(source, args=[arg])
