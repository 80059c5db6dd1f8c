"""Steps of training as one program: losses, parameters and the optimizer's state are those of PyTorch."""

import copy

import pytest

import ipu_mlir as ipu

torch = pytest.importorskip("torch")
import ipu_mlir.torch as ipu_torch  # noqa: E402

nn, functional = torch.nn, torch.nn.functional
TARGET = ipu.Target(tiles_per_ipu=16)

OPTIMIZERS = {
    "momentum": lambda parameters: torch.optim.SGD(parameters, 0.1, momentum=0.9, nesterov=True, weight_decay=1e-3),
    "AdamW": lambda parameters: torch.optim.AdamW(parameters, 1e-2, amsgrad=True),
    "RMSprop": lambda parameters: torch.optim.RMSprop(parameters, 1e-2, momentum=0.9),
    "SGD": lambda parameters: torch.optim.SGD(parameters, 0.1),
    "Adagrad": lambda parameters: torch.optim.Adagrad(parameters, 1e-2),
    "NAdam": lambda parameters: torch.optim.NAdam(parameters, 1e-2),
    "RAdam": lambda parameters: torch.optim.RAdam(parameters, 1e-2),
    "Adamax": lambda parameters: torch.optim.Adamax(parameters, 1e-2),
    "Adadelta": lambda parameters: torch.optim.Adadelta(parameters, 1.0),
    "ASGD": lambda parameters: torch.optim.ASGD(parameters, 0.1),
    "Rprop": lambda parameters: torch.optim.Rprop(parameters, 1e-2),
    "Adafactor": lambda parameters: torch.optim.Adafactor(parameters, 1e-2, weight_decay=0.1),
}
QUICK = ("momentum", "Adafactor")


def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16, bias=False), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3))


def loss_of(model, x, y):
    return functional.cross_entropy(model(x), y)


def in_pytorch(model, optimizer, x, y, before=None):
    optimizer.zero_grad()
    loss = loss_of(model, x, y)
    loss.backward()
    if before is not None:
        before([each for group in optimizer.param_groups for each in group["params"]])
    optimizer.step()
    return loss.detach()


def batches(count: int):
    generator = torch.Generator().manual_seed(1)
    for _ in range(count):
        yield torch.randn(12, 8, generator=generator), torch.randint(0, 3, (12,), generator=generator)


def both(make, before=None):
    """A step on the device and one of PyTorch, with what they train."""
    ours, theirs = model(), model()
    optimizers = make(ours.parameters()), make(theirs.parameters())
    step = ipu_torch.training_step(ours, loss_of, optimizers[0], before=before, target=TARGET)
    return step, lambda x, y: in_pytorch(theirs, optimizers[1], x, y, before), (ours, theirs), optimizers


def assert_same_state(models, optimizers) -> None:
    torch.testing.assert_close(*(dict(each.state_dict()) for each in models), atol=2e-6, rtol=1e-4)
    states = [each.state_dict()["state"] for each in optimizers]
    assert states[0].keys() >= states[1].keys()
    for place, parts in states[1].items():
        for name, part in parts.items():
            torch.testing.assert_close(states[0][place][name], part, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in OPTIMIZERS]
)
def test_steps_with_a_schedule_are_those_of_pytorch(name: str):
    step, plain, models, optimizers = both(OPTIMIZERS[name])
    schedules = [torch.optim.lr_scheduler.StepLR(each, 2, 0.5) for each in optimizers]
    for x, y in batches(5):
        torch.testing.assert_close(step(x, y), plain(x, y), atol=1e-5, rtol=1e-5)
        for each in schedules:
            each.step()
    step.synchronize()
    assert_same_state(models, optimizers)


@pytest.mark.slow
def test_a_step_is_compiled_once_for_batches_of_one_size_and_goes_on_where_it_was_for_another():
    step, plain, models, optimizers = both(OPTIMIZERS["SGD"], lambda each: nn.utils.clip_grad_norm_(each, 0.1))
    (x, y), *_ = batches(1)
    found = [step(x, y)]
    program = step.executable
    found.append(step(x, y))
    assert step.executable is program
    found.append(step(x[:6], y[:6]))
    torch.testing.assert_close(found, [plain(x, y), plain(x, y), plain(x[:6], y[:6])], atol=1e-5, rtol=1e-5)
    assert step.executable is not program
    step.synchronize()
    assert_same_state(models, optimizers)


def test_places_name_layers_of_both_directions_and_the_optimizer():
    step, *_ = both(OPTIMIZERS["SGD"])
    (x, y), *_ = batches(1)
    step(x, y)
    assert step.executable is not None
    text = step.executable.module("l1").operation.get_asm(enable_debug_info=True)
    for name in ("0/matmul", "2/where", "3/matmul", "SGD/"):  # where: the gradient of a ReLU
        assert f'"{name}' in text


@pytest.mark.slow
def test_parameters_stay_on_the_device():
    step, *_ = both(OPTIMIZERS["SGD"])
    (x, y), *_ = batches(1)
    begin = [each.clone() for each in step._model.parameters()]
    step(x, y)
    assert step.executable is not None
    assert [each.shape for each in step.executable.argument_specs] == [(12, 8), (12,)]
    assert all(torch.equal(*pair) for pair in zip(begin, step._model.parameters(), strict=True))
    step.synchronize()
    assert not any(torch.equal(*pair) for pair in zip(begin, step._model.parameters(), strict=True))


@pytest.mark.slow
def test_what_else_the_loss_function_gives_comes_along():
    ours = model()
    step = ipu_torch.training_step(
        ours, lambda model, x: ((out := model(x)).square().mean(), {"out": out, "n": 3}),
        torch.optim.SGD(ours.parameters(), 0.1), target=TARGET,
    )  # fmt: skip
    (x, _), *_ = batches(1)
    loss, rest = step(x)
    torch.testing.assert_close(rest["out"].square().mean(), loss)
    assert rest["n"] == 3


class Counting(torch.optim.Optimizer):
    """Keeps a number of Python among its state."""

    def __init__(self, parameters) -> None:
        super().__init__(parameters, {"lr": 0.1})

    def step(self, closure=None):
        for group in self.param_groups:
            for each in group["params"]:
                self.state[each]["count"] = self.state[each].get("count", 0) + 1
                each.sub_(each.grad * group["lr"] / self.state[each]["count"])


def test_state_that_is_no_tensor_is_refused():
    ours = model()
    step = ipu_torch.training_step(ours, loss_of, Counting(ours.parameters()), target=TARGET)
    with pytest.raises(ipu.CompileError, match="Counting keeps state that is no tensor"):
        step(*next(batches(1)))


@pytest.mark.slow
def test_dampening_is_refused_before_the_first_step_and_taken_after_it():
    make = lambda parameters: torch.optim.SGD(parameters, 0.1, momentum=0.9, dampening=0.5)  # noqa: E731
    step, plain, models, optimizers = both(make)
    (x, y), (u, v) = batches(2)
    with pytest.raises(ipu.CompileError, match=r"run that with optimizer.step\(\)"):
        step(x, y)
    torch.testing.assert_close(in_pytorch(models[0], optimizers[0], x, y), plain(x, y))
    torch.testing.assert_close(step(u, v), plain(u, v))
    step.synchronize()
    assert_same_state(models, optimizers)


def test_shared_and_frozen_layers_and_a_loss_that_is_computed_again():
    torch.manual_seed(0)
    twice, frozen = nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False).requires_grad_(False)
    ours = nn.Sequential(twice, frozen, twice)
    theirs = copy.deepcopy(ours)

    def loss(model, x):
        return torch.utils.checkpoint.checkpoint(model, x, use_reentrant=False).square().mean()

    optimizers = [torch.optim.SGD(each.parameters(), 0.5, weight_decay=0.1) for each in (ours, theirs)]
    step = ipu_torch.training_step(ours, loss, optimizers[0], target=TARGET)
    for x in torch.eye(3).chunk(3):
        optimizers[1].zero_grad()
        expected = loss(theirs, x)
        expected.backward()
        optimizers[1].step()
        torch.testing.assert_close(step(x), expected.detach())
    step.synchronize()
    torch.testing.assert_close(dict(ours.state_dict()), dict(theirs.state_dict()))
    assert ours[0].weight is ours[2].weight is twice.weight and isinstance(twice.weight, nn.Parameter)


def test_what_follows_from_the_count_of_steps_is_computed_once():
    step, plain, *_ = both(OPTIMIZERS["AdamW"])
    for batch in batches(2):
        torch.testing.assert_close(step(*batch), plain(*batch), rtol=1e-5, atol=1e-6)
    assert step.executable is not None
    assert step.executable.mlir("l1").count("math.powf") == 2, "of both rates, for all parameters"


class _Partly(nn.Module):
    """A model that leaves a layer out."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.used, self.unused = nn.Linear(8, 3), nn.Linear(8, 3)

    def forward(self, x):
        return self.used(x)


def test_parameters_without_a_gradient_count_no_steps():
    models = _Partly(), _Partly()
    optimizers = [torch.optim.AdamW(each.parameters(), 0.01) for each in models]
    step = ipu_torch.training_step(models[0], loss_of, optimizers[0], target=TARGET)
    for batch in batches(2):
        torch.testing.assert_close(step(*batch), in_pytorch(models[1], optimizers[1], *batch), rtol=1e-5, atol=1e-6)
    step.synchronize()
    assert all(torch.equal(*pair) for pair in zip(*(each.unused.parameters() for each in models), strict=True))
    counts = [optimizers[0].state[each]["step"].item() for each in models[0].parameters()]
    assert counts == [2, 2, 0, 0]


def test_a_count_that_was_written_is_that_of_its_parameter_alone():
    step, plain, models, optimizers = both(OPTIMIZERS["AdamW"])
    for number, batch in enumerate(batches(4)):
        torch.testing.assert_close(step(*batch), plain(*batch), rtol=1e-5, atol=1e-6)
        if number == 1:
            step.synchronize()
            for model, optimizer in zip(models, optimizers, strict=True):
                optimizer.state[list(model.parameters())[-1]]["step"].fill_(40.0)
    step.synchronize()
    assert_same_state(models, optimizers)


def test_a_gradient_within_the_loss():
    layer = nn.Linear(2, 1, bias=False)

    def loss(model, x):
        x = x.detach().requires_grad_()
        (slope,) = torch.autograd.grad(model(x).sum(), x, create_graph=True)
        return slope.square().sum()

    before = layer.weight.detach().clone()
    step = ipu_torch.training_step(layer, loss, torch.optim.SGD(layer.parameters(), 0.25), target=TARGET)
    torch.testing.assert_close(step(torch.ones(1, 2)), before.square().sum())
    step.synchronize()
    torch.testing.assert_close(layer.weight.detach(), before / 2)
    layer.load_state_dict({"weight": before})  # the next step goes on from there
    torch.testing.assert_close(step(torch.ones(1, 2)), before.square().sum())
    torch.testing.assert_close(step(torch.ones(3, 2)), 3 * (before / 2).square().sum())


def test_what_is_no_model_or_optimizer_is_refused():
    layer = nn.Linear(2, 1)
    with pytest.raises(ipu.CompileError, match=r"takes a model of torch\.nn, got int"):
        ipu_torch.training_step(3, loss_of, torch.optim.SGD(layer.parameters(), 0.1))
    with pytest.raises(ipu.CompileError, match=r"takes an optimizer of torch\.optim, got float"):
        ipu_torch.training_step(layer, loss_of, 0.1)


def test_an_optimizer_that_computes_the_loss_itself_is_refused():
    net = model()
    with pytest.raises(ipu.CompileError, match="LBFGS computes the loss as often as its values say"):
        ipu_torch.training_step(net, loss_of, torch.optim.LBFGS(net.parameters()))


def test_parameters_of_another_model_are_refused():
    with pytest.raises(ipu.CompileError, match=r"give it model\.parameters"):
        ipu_torch.training_step(model(), loss_of, torch.optim.SGD(copy.deepcopy(model()).parameters(), 0.1))


@pytest.mark.slow
def test_masks_are_drawn_anew_in_each_step():
    ours = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.5))
    step = ipu_torch.training_step(
        ours, lambda model, x: ((out := model(x)).square().mean(), out), torch.optim.SGD(ours.parameters(), 0.0),
        target=TARGET,
    )  # fmt: skip
    (x, _), *_ = batches(1)
    (_, one), (_, other) = step(x), step(x)
    assert 0.3 < float((one == 0).float().mean()) < 0.7
    assert not torch.equal(one == 0, other == 0)
