"""``torch.compile`` with our backend: results, gradients and breaks of graphs are those of PyTorch."""

import copy

import pytest

import ipu_mlir as ipu

torch = pytest.importorskip("torch")
OPTIONS = {"target": ipu.Target(tiles_per_ipu=16)}


def model():
    torch.manual_seed(0)
    layers = [torch.nn.Linear(8, 6), torch.nn.BatchNorm1d(6), torch.nn.GELU(), torch.nn.Linear(6, 4)]
    return torch.nn.Sequential(*layers)


def train(network, call, x, y) -> list[float]:
    optimizer, losses = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9), []
    for _ in range(3):
        loss = torch.nn.functional.cross_entropy(call(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_training_changes_weights_and_statistics_as_pytorch_does():
    ours = model()
    theirs = copy.deepcopy(ours)
    x, y = torch.randn(5, 8), torch.randint(0, 4, (5,))
    compiled = torch.compile(ours, backend="ipu", options=OPTIONS)
    assert train(ours, compiled, x, y) == pytest.approx(train(theirs, theirs, x, y), rel=1e-5)
    for one, other in zip(ours.state_dict().values(), theirs.state_dict().values(), strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)
    ours.eval(), theirs.eval()
    with torch.no_grad():
        for rows in (5, 7):  # for other sizes it is compiled again
            torch.testing.assert_close(compiled(x[:1].expand(rows, 8)), theirs(x[:1].expand(rows, 8)))


def _aliases(x):
    y = x * 2
    return y, y[0], y.view(-1), y.t(), y[:, ::2], y.expand(2, 3, 4), (y > 0).t(), y.t() * 1, y.diagonal()


def test_results_have_the_strides_of_pytorch_and_share_memory_as_there():
    x = torch.arange(12.0).reshape(3, 4)
    ours, theirs = torch.compile(_aliases, backend=ipu.torch.backend, options=OPTIONS)(x), _aliases(x)
    for results in (ours, theirs):
        results[1].add_(100)
    for one, other in zip(ours, theirs, strict=True):
        assert torch.equal(one, other) and one.stride() == other.stride()


def _lists(x, y, two):
    both = torch._foreach_mul([x, y], two)
    norms = torch._foreach_norm(both)
    torch._foreach_addcdiv_(both, [x, y], [y + 1, x + 1], [0.5, 2.0])
    return *both, *norms, x.clone().add_(y, alpha=two), *torch._foreach_pow(2.0, [x, y])


def test_gradients_of_gradients_are_refused_as_by_other_backends():
    x = torch.ones(3, requires_grad=True)
    y = torch.compile(lambda x: (x**3).sum(), backend=ipu.torch.backend, options=OPTIONS)(x)
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    with pytest.raises(RuntimeError, match="does not currently support double backward"):
        slope.norm().backward()


def test_ops_on_lists_and_factors_that_are_tensors():
    given = torch.rand(3), torch.rand(3), torch.tensor(2.0)
    ours = torch.compile(_lists, backend=ipu.torch.backend, options=OPTIONS)(*given)
    torch.testing.assert_close(ours, _lists(*given))


def test_what_no_graph_can_say_breaks_it_and_is_counted():
    def function(x):
        y = torch.relu(x) * 2
        print("between")
        return y.sum(), 3

    compiled = torch.compile(function, backend=ipu.torch.backend, options=OPTIONS)
    before = sum(ipu.torch.graph_breaks().values())
    total, three = compiled(torch.ones(3))
    assert total == 6 and three == 3
    assert sum(ipu.torch.graph_breaks().values()) == before + 1
    assert any("print" in line or "builtin" in line for line in ipu.torch.graph_breaks())


def test_what_cannot_be_compiled_is_an_error_of_ours():
    compiled = torch.compile(torch.special.airy_ai, backend=ipu.torch.backend, options=OPTIONS)
    with pytest.raises(ipu.CompileError, match=r"1 op that cannot be imported: aten\.special_airy_ai"):
        compiled(torch.ones(4))
    with pytest.raises(Exception, match="option 'tragte'; those of this backend are: target"):
        torch.compile(torch.relu, backend=ipu.torch.backend, options={"tragte": 1})(torch.ones(3))


def test_dropout_draws_from_the_seed_of_pytorch():
    layers = torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.Dropout(0.5))

    def twice(seed: int):
        torch.manual_seed(seed)
        compiled = torch.compile(copy.deepcopy(layers), backend=ipu.torch.backend, options=OPTIONS)
        weight = compiled.get_parameter("0.weight")
        results = []
        for _ in range(2):
            weight.grad = None
            result = compiled(torch.ones(1, 4))
            result.sum().backward()
            kept = result.detach()[0] != 0
            assert torch.equal(weight.grad, torch.where(kept, 2.0, 0.0)[:, None].expand(64, 4))
            results.append(kept)
        return results

    first, second = twice(1)
    assert not torch.equal(first, second) and 16 < first.sum() < 48
    assert all(map(torch.equal, twice(1), (first, second)))
    assert not torch.equal(twice(2)[0], first)


def test_a_report_says_what_ran_and_what_stayed_on_the_host(caplog):
    before = ipu.torch.report()
    compiled = torch.compile(lambda x: torch.tanh(x) * 3, backend=ipu.torch.backend, options=OPTIONS)
    for rows in (2, 2, 2):
        compiled(torch.ones(rows))
    report = ipu.torch.report()
    found = [report.graphs - before.graphs, report.programs - before.programs, report.runs - before.runs]
    assert found == [1, 1, 3] and report.frames_on_host == before.frames_on_host
    torch._dynamo.reset()  # which takes nothing from the log
    lstm, x = torch.nn.LSTM(3, 2), torch.ones(4, 3)
    with torch.no_grad(), caplog.at_level("WARNING", "ipu_mlir.torch"):
        for _ in range(2):
            torch.compile(lstm, backend=ipu.torch.backend, options=OPTIONS)(x)
    after = ipu.torch.report()
    assert after.runs == report.runs and after.frames_on_host > report.frames_on_host
    assert any("LSTM" in reason for reason in after.graph_breaks) and "LSTM" in str(after)
    (line,) = [line for line in caplog.messages if "leaves a program for Python: Attempted to wrap RNN" in line]
    assert "set torch._dynamo.config.allow_rnn = True, and it runs on the device" in line


@pytest.mark.parametrize("kind", [torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN])
@torch._dynamo.config.patch(allow_rnn=True)
def test_recurrent_layers_run_where_torch_compile_may_trace_them(kind):
    torch._dynamo.reset()
    layer, x = kind(3, 2), torch.randn(4, 3, requires_grad=True)
    before = ipu.torch.report()
    ours = torch.compile(layer, backend=ipu.torch.backend, options=OPTIONS)(x)[0]
    (ours_gradient,) = torch.autograd.grad(ours.sum(), x)
    theirs = layer(x)[0]
    (gradient,) = torch.autograd.grad(theirs.sum(), x)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(ours_gradient, gradient)
    after = ipu.torch.report()
    assert after.frames_on_host == before.frames_on_host and after.runs == before.runs + 2
