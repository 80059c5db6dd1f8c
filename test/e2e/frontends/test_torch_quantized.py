"""Modules that PyTorch has quantized, against themselves: one step of a scale apart at most."""

import copy
from typing import Any

import pytest

import ipu_mlir as ipu
from ipu_mlir.dialects.support.errors import CompileError

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.ao import quantization as q  # noqa: E402
from torch.ao.quantization import quantize_fx  # noqa: E402

OPTIONS: dict[str, Any] = {"target": ipu.Target(tiles_per_ipu=4)}
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


def compiled(model: Any, *args: Any) -> Any:
    return ipu.compile(model, args=list(args), **OPTIONS)


def check(model: Any, *args: Any, step: float = 1e-5) -> None:
    torch.testing.assert_close(compiled(model, *args)(*args), model(*args), atol=step, rtol=1e-5)


@pytest.mark.parametrize("kind", [torch.qint8, torch.float16])
def test_linear_layers_of_few_bits(kind: Any):
    torch.manual_seed(0)
    model = q.quantize_dynamic(nn.Sequential(nn.Linear(8, 4)).eval(), {nn.Linear}, dtype=kind)
    exe = compiled(model, torch.zeros(3, 8))
    for x in (torch.randn(3, 8), torch.rand(3, 8) + 2, -torch.rand(3, 8), torch.zeros(3, 8)):
        torch.testing.assert_close(exe(x), model(x).detach(), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("layer", "kind", "count"), [(nn.LSTM, torch.float16, 2), (nn.GRU, torch.qint8, 1)])
def test_recurrent_layers_of_few_bits(layer: Any, kind: Any, count: int):
    torch.manual_seed(0)
    options = {"num_layers": count, "bidirectional": True, "batch_first": True}
    model = q.quantize_dynamic(nn.Sequential(layer(4, 5, **options)).eval(), {layer}, dtype=kind)
    check(model, torch.randn(1, 2, 4), step=1e-4)


@pytest.mark.parametrize("cell", [nn.LSTMCell, nn.GRUCell, nn.RNNCell])
def test_cells_of_few_bits(cell: Any):
    torch.manual_seed(0)
    check(q.quantize_dynamic(nn.Sequential(cell(4, 5)), {cell}, dtype=torch.qint8), torch.randn(2, 4))


class _Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.into, self.out = q.QuantStub(), q.DeQuantStub()
        self.conv, self.norm, self.relu = nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU()
        self.next, self.add = nn.Conv2d(4, 4, 3, padding=1, groups=2), nn.quantized.FloatFunctional()
        self.pool, self.last = nn.AvgPool2d(2), nn.Linear(36, 3)

    def forward(self, x: Any) -> Any:
        x = self.relu(self.norm(self.conv(self.into(x))))
        x = self.pool(self.add.add_relu(x, self.next(x)))
        return self.out(self.last(torch.flatten(torch.cat([x]), 1)))


def observed(model: Any, x: Any) -> Any:
    """``model`` prepared to be quantized, which has seen ``x``."""
    model.qconfig = q.default_qconfig
    prepared = q.prepare(q.fuse_modules(model, [["conv", "norm", "relu"]]))
    prepared(x)
    return prepared


@pytest.mark.parametrize("by_graph", [False, True])
def test_modules_quantized_statically(by_graph: bool):
    torch.manual_seed(0)
    model, x = _Block().eval(), torch.randn(2, 2, 6, 6)
    if by_graph:
        prepared = quantize_fx.prepare_fx(copy.deepcopy(model), q.get_default_qconfig_mapping(), (x,))
        prepared(x)
        found = quantize_fx.convert_fx(prepared)
    else:
        found = q.convert(observed(model, x))
    result, expected = compiled(found, x)(x), found(x)
    scale = 8 * float((expected.max() - expected.min()) / 255)
    torch.testing.assert_close(result, expected, atol=scale, rtol=0)
    assert (result - expected).abs().mean() < scale / 8


def test_ops_of_8_bits_without_a_rule_are_refused():
    def f(x: Any) -> Any:
        return torch.ops.quantized.add_scalar(torch.quantize_per_tensor(x, 0.1, 0, torch.qint8), 1.0).dequantize()

    with pytest.raises(CompileError, match=r"quantized\.add_scalar of tensors of 8 bits has no rule"):
        compiled(f, torch.ones(3))
