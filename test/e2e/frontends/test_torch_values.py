"""Programs of PyTorch that ask for values: refused with their line, or known."""

import runpy

import pytest

import ipu_mlir as ipu

torch = pytest.importorskip("torch")
from support.torch_results import TARGET, check  # noqa: E402

nn = torch.nn


class Branching(nn.Module):
    def forward(self, x):
        return x + 1 if x.sum() > 0 else x


@pytest.mark.parametrize("source", [Branching(), Branching().forward], ids=("module", "function"))
def test_what_asks_for_values_is_refused_with_its_line(source):
    with pytest.raises(ipu.CompileError, match=r"test_torch_values\.py:\d+, in 'return x \+ 1 if .*; choose"):
        ipu.compile(source, args=[torch.ones(3)], target=TARGET)


def test_checks_of_values_are_left_out():
    class Padded(nn.Module):
        def forward(self, x, lengths):
            torch._check(lengths.max().item() <= x.shape[1])
            return x * (torch.arange(x.shape[1]) < lengths[:, None])

    check(Padded(), torch.ones(2, 4), torch.tensor([1, 3]))


def test_values_of_buffers_are_known():
    class Padded(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("stride", torch.tensor(3))
            self.register_buffer("ready", torch.tensor([0], dtype=torch.uint8), persistent=False)

        def forward(self, x):
            missing = (x.shape[-1] / self.stride).ceil().long() * self.stride - x.shape[-1]
            x = nn.functional.pad(x, (0, int(missing))) if missing > 0 else x
            return x if self.ready.item() else x * 2

    module, x = Padded(), torch.ones(2, 7)
    check(module, x)
    check(lambda x: module(x), x)


_CHECKED = """
import torch

def checked(x):
    assert torch.all(x >= 0).item(), "negative"
    assert x.max().item() < 5 and not x.isnan().any()
    assert all(each >= 0 for each in x.reshape(-1)) and 0 <= x.sum().item() <= 100
    if len(x) > 9 or (x < 0).any():
        raise ValueError(f"{x}")
    if not bool((x >= 0).all()):
        print.warn(x)
    if x.isfinite().all():
        x = x * 2
    else:
        raise ValueError
    return x

def in_loss(x):
    return torch.func.grad(lambda x: checked(x).sum())(x)

def of_rows(x):
    return torch.vmap(checked)(x)

class Checked(torch.nn.Module):
    def forward(self, x):
        return checked(x)
"""


@pytest.mark.parametrize("name", ["checked", "in_loss", "of_rows", "Checked"])
def test_lines_that_only_check_values_find_nothing_wrong(name, tmp_path):
    (tmp_path / "program.py").write_text(_CHECKED)  # pytest writes other asserts into a test
    source, x = runpy.run_path(str(tmp_path / "program.py"))[name], torch.tensor([[1.0, 0.0], [2.0, 3.0]])
    source = source() if name == "Checked" else source
    expected = torch.full_like(x, 2) if name == "in_loss" else x * 2
    assert torch.equal(ipu.compile(source, args=[x], target=TARGET)(x), expected)


def test_an_error_without_words_is_shown_with_its_line(tmp_path):
    (tmp_path / "program.py").write_text("def program(x):\n    assert (x > 0).all().item() is True\n    return x\n")
    program = runpy.run_path(str(tmp_path / "program.py"))["program"]
    with pytest.raises(ipu.CompileError, match=r"AssertionError at .*program\.py:2, in 'assert .* is True'"):
        ipu.compile(program, args=[torch.ones(3)], target=TARGET)


def test_numbers_of_tensors_that_are_written_out_are_known():
    def f(x):
        steps = torch.tensor([[1, 0], [2, -1]])
        return [torch.roll(x, [int(each) for each in step], (0, 1)) for step in steps]

    check(f, torch.randn(3, 4))


def _of_own_masks(x):
    mask = torch.ones(x.shape[0], dtype=torch.int64)
    if (mask < 0).any():
        return x
    mask[1] = 0
    kept, values = mask > 0, torch.unique(mask)
    assert x[kept].shape == (3, 3) and x.T[:, kept].shape == (3, 3) and len(values) == 2
    chosen = [x[each] for each in mask.nonzero()[:, 0]]
    counted = torch.bincount(mask) + torch.bincount(mask, minlength=2)
    return x[: int(mask.sum())] * x[kept], x.T[:, kept], torch.stack(chosen), values, counted


def test_values_of_what_a_program_makes_of_no_argument_are_known():
    x = torch.arange(12.0).reshape(4, 3)
    check(_of_own_masks, x)
    check(lambda x: torch.func.grad(lambda x: _of_own_masks(x)[0].square().sum())(x), x)

    class Masked(nn.Module):
        def forward(self, x):
            return _of_own_masks(x)

    check(Masked(), x)


def test_values_are_not_known_once_an_argument_is_written_to_their_tensor():
    def written(x):
        mask = torch.zeros(4)
        mask[1:].copy_(x)
        return x if mask.sum() > 0 else -x

    drawn = lambda x: x if torch.rand(3).sum() > 1 else -x  # noqa: E731
    for each in (written, drawn):
        with pytest.raises(ipu.CompileError, match="asks for values"):
            ipu.compile(each, args=[torch.ones(3)], target=TARGET)


def test_numbers_of_tensors_are_computed_with():
    def f(x, counts):
        few, many = counts.tolist()
        torch._check(many <= 4)
        scaled = x.half() * x.half().sum().item() + few, counts.int() * counts.sum().item(), x.double().sum().item() * x
        return *scaled, x[:, few - 1], torch.where(x > 0, x.mean().item(), x), x.clamp(min=x.mean().item())

    args = torch.arange(-3.0, 9.0).reshape(4, 3), torch.tensor([2, 3])
    check(f, *args)

    class Module(nn.Module):
        def forward(self, x, counts):
            return f(x, counts)

    check(Module(), *args)
    check(lambda x: torch.func.grad(lambda x: (x / x.abs().sum().item()).square().sum())(x), args[0])


def test_numbers_of_tensors_are_numbers_in_results():
    def f(x, counts):
        return counts.tolist(), (x > 0).any().item(), 2 * counts.sum().item() + 1, torch.tensor(counts.sum().item())

    x, counts = torch.arange(6.0), torch.tensor([2, 3])
    found = ipu.compile(f, args=[x, counts], target=TARGET)(x, counts)
    assert found == f(x, counts) == ([2, 3], True, 11, torch.tensor(5))
    assert [type(each) for each in found[1:]] == [bool, int, torch.Tensor]


@pytest.mark.parametrize("line", ("float(x.sum())", "range(x.long().sum().item())", "f'{x.sum().item():.2f}'"))
def test_numbers_that_python_itself_needs_are_refused(line):
    with pytest.raises(ipu.CompileError, match=r"asks for values of tensors at .*|unsupported format string"):
        ipu.compile(eval(f"lambda x: [x, {line}]"), args=[torch.ones(3)], target=TARGET)
