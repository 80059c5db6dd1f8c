"""Packed sequences of PyTorch: their lengths may be arguments of the program."""

import pytest

import ipu_mlir as ipu

torch = pytest.importorskip("torch")
from support.torch_results import TARGET, assert_same, check  # noqa: E402

nn = torch.nn


class Packed(nn.Module):
    def __init__(self, kind, layers):
        super().__init__()
        self.layer = getattr(nn, kind)(4, 6, layers, batch_first=True, bidirectional=layers > 1)

    def forward(self, x, lengths, states=None):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        result, states = self.layer(packed, states)
        return nn.utils.rnn.pad_packed_sequence(result, batch_first=True, padding_value=-1.0), states


@pytest.mark.parametrize(("kind", "layers"), [("LSTM", 1), ("GRU", 1)])
def test_packed_sequences_have_lengths_that_are_arguments(kind: str, layers: int):
    torch.manual_seed(2)
    model, x, lengths = Packed(kind, layers).eval(), torch.randn(3, 5, 4), torch.tensor([3, 5, 2])
    exe = ipu.compile(model, args=[x, lengths], target=TARGET)
    for given in (lengths, torch.tensor([5, 1, 1])):
        with torch.no_grad():
            assert_same(exe(x, given), model(x, given))


@pytest.mark.slow
def test_packed_sequences_go_through_layers_in_both_directions():
    torch.manual_seed(2)
    check(Packed("LSTM", 2).eval(), torch.randn(3, 5, 4), torch.tensor([3, 5, 2]))


def test_gradients_through_packed_sequences():
    torch.manual_seed(2)
    model, x, lengths = Packed("LSTM", 1), torch.randn(3, 5, 4), torch.tensor([3, 5, 2])
    states = torch.randn(1, 3, 6), torch.randn(1, 3, 6)

    def loss(x, states):
        (result, _), ends = model(x, lengths, states)
        return result.sin().sum() + sum(each.square().sum() for each in ends)

    exe = ipu.compile(lambda *args: torch.func.grad(loss, (0, 1))(*args), args=[x, states], target=TARGET)
    given = x.requires_grad_(), tuple(each.requires_grad_() for each in states)
    x_gradient, *gradients = torch.autograd.grad(loss(*given), (x, *states))
    assert_same(exe(x, states), (x_gradient, tuple(gradients)))


def test_sequences_of_known_lengths_are_packed():
    def f(*sequences):
        packed = nn.utils.rnn.pack_sequence(sequences, enforce_sorted=False)
        return nn.utils.rnn.pad_packed_sequence(packed)[0], nn.utils.rnn.pad_packed_sequence(packed, total_length=7)

    check(f, torch.randn(2, 3), torch.randn(5, 3), torch.randn(4, 3))
