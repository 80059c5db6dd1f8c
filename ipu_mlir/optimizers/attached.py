"""``attach``: the optimizer of a variable, whose state is a variable of its own."""

from typing import Any

from ipu_mlir.optimizers.loss_scaling import LossScaled
from ipu_mlir.optimizers.optimizer import Optimizer
from ipu_mlir.programs.variable import Variable
from ipu_mlir.tracing.errors import TraceTypeError
from ipu_mlir.tracing.trees import tree_leaves


class Attached:
    """The optimizer of a variable.

    Attributes:
        parameters: the variable.
        state: the variable of the state; None if the optimizer has none.
    """

    def __init__(self, optimizer: Optimizer, parameters: Variable, empty: Any, state: Variable | None) -> None:
        self.parameters, self.state = parameters, state
        self._optimizer, self._empty = optimizer, empty

    def assign(self, gradients: Any) -> None:
        """Assign the next parameters and the next state, in a traced function.

        Args:
            gradients: nested as the parameters.
        """
        parameters, state = self._optimizer.apply(self.parameters.value, gradients, self._now())
        self.parameters.assign(parameters)
        if self.state is not None:
            self.state.assign(state)

    def scaled(self, loss: Any) -> Any:
        """The loss times the number that its gradients have to be of.

        Raises:
            TypeError: the optimizer has no loss scale.
        """
        if not isinstance(self._optimizer, LossScaled):
            raise TraceTypeError("the optimizer has no loss scale; wrap it: dynamic_loss_scale(adam(1e-3))")
        return self._optimizer.scaled(loss, self._now())

    def _now(self) -> Any:
        return self._empty if self.state is None else self.state.value


def attach(
    optimizer: Optimizer,
    parameters: Variable,
    name: str | None = None,
    *,
    offload: bool = False,
    partition: bool = False,
) -> Attached:
    """The optimizer of a variable, with its state in another one.

    Args:
        parameters: a variable with a value to begin with.
        name: of the variable of the state; that of the parameters and ``_optimizer`` if not given.
        offload: keep the state in remote memory.
        partition: of what is offloaded each replica keeps a part only; all of them have to get the same gradients.

    Raises:
        RunError: the parameters have no value yet.
    """
    empty = optimizer.init(parameters.value)
    state = None
    if tree_leaves(empty):
        name = f"{parameters.name}_optimizer" if name is None else name
        state = Variable(empty, name, offload=offload, partition=partition)
    return Attached(optimizer, parameters, empty, state)
