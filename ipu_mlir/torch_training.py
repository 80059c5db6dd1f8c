"""``training_step``: gradients and an optimizer of PyTorch as one program, whose state stays on the device."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import torch
from torch.utils import _pytree as pytree

from ipu_mlir.compilation.compiler import compile_made, for_the_user
from ipu_mlir.compilation.executable import Executable
from ipu_mlir.compilation.how import How
from ipu_mlir.compilation.sources import load_module
from ipu_mlir.dialects.support.errors import CompileError, IpuError
from ipu_mlir.frontends.aten.random_numbers import draw_anew
from ipu_mlir.frontends.aten.rules import to_numpy
from ipu_mlir.frontends.from_torch import import_program
from ipu_mlir.frontends.of_torch.calls import TorchCall, bits_and_parts, call_of_the_rest, to_torch
from ipu_mlir.frontends.of_torch.constants import keep_first_arguments
from ipu_mlir.frontends.of_torch.optimizers import Named, begin, of_state, on_tensors, rates_of, settings_of, take_step
from ipu_mlir.frontends.of_torch.replacing import call_with, written_buffers
from ipu_mlir.programs.session import Session

if TYPE_CHECKING:
    from ipu_mlir.dialects.machine.target import Target


def training_step(
    model: torch.nn.Module,
    loss: Callable[..., Any],
    optimizer: torch.optim.Optimizer,
    *,
    before: Callable[[list[torch.Tensor]], Any] | None = None,
    target: "Target | None" = None,
) -> "TrainingStep":
    """A step of training that runs on the device as one program: the loss, its gradients, and the optimizer.

        step = ipu_mlir.torch.training_step(model, lambda model, x, y: cross_entropy(model(x), y), optimizer)
        for x, y in batches:
            print(step(x, y))
        step.synchronize()

    Parameters, buffers that change and the optimizer's state are variables of the device, and stay there between steps;
    ``synchronize`` copies them into ``model`` and ``optimizer``. What is loaded into these is taken by the next step.

    Args:
        loss: gets ``model`` and the arguments of a step; gives the loss, or a tuple of the loss and what else a step is
            to give.
        before: gets the parameters, which have gradients, before the optimizer's step: to limit their norm, say.
        target: the machine.
    """
    return TrainingStep(model, loss, optimizer, before, target)


class TrainingStep:
    """A step of training, compiled for the shapes of its arguments, and for the optimizer's settings, when they come
    first.

    Attributes:
        executable: of the last step; None before the first.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        loss: Callable[..., Any],
        optimizer: torch.optim.Optimizer,
        before: Callable[[list[torch.Tensor]], Any] | None,
        target: "Target | None",
    ) -> None:
        for given, kind, what in (
            (model, torch.nn.Module, "a model of torch.nn"),
            (optimizer, torch.optim.Optimizer, "an optimizer of torch.optim"),
        ):
            if not isinstance(given, kind):
                raise CompileError(f"training_step takes {what}, got {type(given).__name__}")
        closure = inspect.signature(inspect.unwrap(type(optimizer).step)).parameters.get("closure")
        if closure is not None and closure.default is inspect.Parameter.empty:
            raise CompileError(
                f"{type(optimizer).__name__} computes the loss as often as its values say; take another optimizer, or "
                "let PyTorch run it on a model that torch.compile runs here"
            )
        self._model, self._loss, self._optimizer, self._before, self._target = model, loss, optimizer, before, target
        self._compiled: _Compiled | None = None
        self._shares = type(optimizer).__module__.startswith("torch.optim")  # others may count for each parameter
        self._key = ""
        self._seen: dict[str, tuple[int, int]] = {}
        trained = {each for group in optimizer.param_groups for each in group["params"]}
        self._names = {each: name for name, each in model.named_parameters() if each in trained}
        if len(self._names) != len(trained):
            raise CompileError(
                f"the optimizer has {len(trained)} parameters, {len(trained) - len(self._names)} of which are none of "
                f"{type(model).__name__}; give it model.parameters()"
            )

    @property
    def executable(self) -> Executable | None:
        return None if self._compiled is None else self._compiled.executable

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Train on a batch; what the loss function gives."""
        leaves, spec = pytree.tree_flatten((args, kwargs))
        shapes = [(each.shape, each.dtype) if isinstance(each, torch.Tensor) else each for each in leaves]
        frozen = [name for each, name in self._names.items() if not each.requires_grad]
        key = repr((spec, shapes, settings_of(self._optimizer), self._model.training, frozen))
        self._take_what_was_written()
        if self._compiled is None or key != self._key:
            self.synchronize()
            self._compiled, self._key = self._compile(args, kwargs), key
            self._compiled.load(self._state())
            self._seen = _marks(self._state())
        vars(self._optimizer)["_opt_called"] = True  # a schedule of learning rates asks whether there was a step
        return self._compiled.run(rates_of(self._optimizer), args, kwargs)

    def synchronize(self) -> None:
        """Copy the parameters, buffers and state of the optimizer from the device into those of PyTorch."""
        if self._compiled is not None:
            self._compiled.store(self._state())
            self._seen = _marks(self._state())

    def _take_what_was_written(self) -> None:
        """Give the device what was loaded into the model or the optimizer since they were last copied."""
        if self._compiled is not None:
            state = self._state()
            marks = _marks(state)
            written = {name: each for name, each in state.items() if self._seen.get(name) != marks[name]}
            self._compiled.load(written)
            if not self._compiled.holds(written):
                kept = {name: each.clone() for name, each in written.items()}
                self._compiled.store(state)
                for name, each in kept.items():
                    state[name].copy_(each)
                self._compiled, self._shares = None, False
            self._seen = marks

    def _state(self) -> Named:
        """The tensors that a step can change, by the names of their variables."""
        found = {name: each.detach() for each, name in self._names.items()}
        found |= dict(self._model.named_buffers())
        for tensor, name in self._names.items():
            for kind, each in self._optimizer.state.get(tensor, {}).items():
                if isinstance(each, torch.Tensor):
                    found[of_state(name, kind)] = each
        return found

    def _compile(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> "_Compiled":
        begin(self._optimizer)
        shared = self._equal_counts()
        state = {name: each for name, each in self._state().items() if name not in shared}
        for name in self._unchanged_buffers(args, kwargs):
            del state[name]
        state |= rates_of(self._optimizer)
        try:
            imported = import_program(self._step(list(state), shared), (list(state.values()), args, dict(kwargs)), {})
            module: Any = imported.program
            keep_first_arguments(module, list(state))
            call = call_of_the_rest(cast(TorchCall, imported.call), len(state))
            program = compile_made(load_module(module), None, How(self._target), call)
        except IpuError as error:
            if isinstance(error.__cause__, _NotCounted):
                self._shares = False
                return self._compile(args, kwargs)
            raise for_the_user(error, self._model) from error.__cause__
        assert isinstance(program, Executable), "batches have known sizes"
        return _Compiled(program, program.session(), list(state), shared)

    def _equal_counts(self) -> dict[str, str]:
        """Numbers of the optimizer's state that are those of another parameter: the name of that one, by their names.

        What follows from them, such as Adam's correction by powers, is computed once then, not for each parameter.
        """
        found: dict[str, str] = {}
        for group in self._optimizer.param_groups if self._shares else ():
            first: dict[str, tuple[str, torch.Tensor]] = {}
            for parameter in group["params"]:
                own = self._optimizer.state.get(parameter, {}) if parameter.requires_grad else {}
                for kind, each in own.items():
                    if isinstance(each, torch.Tensor) and not each.dim():
                        name = of_state(self._names[parameter], kind)
                        other, number = first.setdefault(kind, (name, each))
                        if other != name and torch.equal(number, each):
                            found[name] = other
        return found

    def _unchanged_buffers(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[str]:
        """Those that stay as they are when the loss is computed; they are constants of the program."""
        parameters = dict(self._model.named_parameters())
        written = written_buffers(self._model, lambda each: self._result({**parameters, **each}, args, kwargs))
        return [name for name, _ in self._model.named_buffers() if name not in written]

    def _result(
        self, tensors: Named, args: Sequence[Any], kwargs: Mapping[str, Any], then: Callable[[Any], Any] = lambda x: x
    ) -> Any:
        """What the loss function gives for a model of ``tensors``, and ``then`` makes of it while they are in place."""
        whole = _WithLoss(self._model, lambda *args, **kwargs: then(self._loss(*args, **kwargs)))
        inside = {f"model.{name}": each for name, each in tensors.items()}
        return call_with(whole, inside, args, kwargs)

    def _step(self, names: Sequence[str], shared: Mapping[str, str]) -> Callable[..., Any]:
        """The step as a function of the state, which it gives anew, and of a batch."""

        def step(state: list[torch.Tensor], args: Any, kwargs: Any) -> Any:
            tensors = {name: each.clone() for name, each in zip(names, state, strict=True)}
            tensors |= {name: tensors[other].clone() for name, other in shared.items()}
            buffers = {name: tensors[name] for name, _ in self._model.named_buffers() if name in tensors}
            parameters = {name: tensors[name].detach() for name in self._names.values()}
            trainable = {
                each: parameters[name].requires_grad_() for each, name in self._names.items() if each.requires_grad
            }

            def with_gradients(result: Any) -> Any:  # what is computed again reads the model's parameters once more
                loss = result[0] if isinstance(result, tuple) else result
                return result, torch.autograd.grad(loss, list(trainable.values()), allow_unused=True)

            result, found = self._result({**parameters, **buffers}, args, kwargs, with_gradients)
            gradients = dict(zip(trainable, found, strict=True))
            if shared and any(each is None for each in found):
                raise _NotCounted("an optimizer leaves out a parameter that the loss does not depend on")
            with torch.no_grad(), on_tensors(self._optimizer, self._names, tensors) as trained:
                for own, each in zip(self._names, trained, strict=True):
                    each.grad = gradients.get(own)
                take_step(self._optimizer, trained, self._before)
            return [tensors[name] for name in names], pytree.tree_map_only(torch.Tensor, torch.Tensor.detach, result)

        step.__name__ = f"training_step_of_{type(self._model).__name__}"
        return step


@dataclass
class _Compiled:
    """A step for batches of one form, with its variables."""

    executable: Executable
    session: Session
    names: list[str]
    shared: dict[str, str]
    rates: dict[str, float] = field(default_factory=dict)

    def load(self, state: Named) -> None:
        for name in self.names:
            if name in state:
                self.session[name] = bits_and_parts(to_numpy(state[name], state[name].dtype))

    def store(self, state: Named) -> None:
        with torch.no_grad():
            for name in (*self.names, *self.shared):
                if name in state:
                    state[name].copy_(to_torch(self.session[self.shared.get(name, name)]))

    def holds(self, written: Named) -> bool:
        """True if numbers that share a variable are equal among those that were written and loaded."""
        pairs = ((written[name], other) for name, other in self.shared.items() if name in written)
        return all(float(each) == float(self.session[other]) for each, other in pairs)

    def run(self, rates: Named, args: Any, kwargs: Any) -> Any:
        for name, rate in rates.items():
            if name in self.names and self.rates.get(name) != float(rate):
                self.session[name], self.rates[name] = rate.numpy(), float(rate)
        draw_anew(self.session)
        return self.session(*args, **kwargs)


class _NotCounted(Exception):
    """Parameters have counts of their own after a step."""


class _WithLoss(torch.nn.Module):
    """A model as a module that gives the loss, so that its tensors can be replaced."""

    def __init__(self, model: torch.nn.Module, loss: Callable[..., Any]) -> None:
        super().__init__()
        self.model, self._loss = model, loss

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._loss(self.model, *args, **kwargs)


def _marks(state: Named) -> dict[str, tuple[int, int]]:
    """What changes where somebody writes to a tensor, or puts another one in its place."""
    return {name: (each.data_ptr(), each._version) for name, each in state.items()}
