"""What wrappers of optimizers have in common."""

from typing import Any

import tensorflow as tf


class IpuOptimizer(tf.compat.v1.train.Optimizer):
    """Passes everything on to the optimizer that it wraps."""

    def __init__(self, opt: tf.compat.v1.train.Optimizer, name: str | None = None) -> None:
        """Wrap ``opt``.

        Raises:
            TypeError: it is no optimizer of ``tf.compat.v1.train``.
        """
        if not isinstance(opt, tf.compat.v1.train.Optimizer):
            raise TypeError(f"an optimizer of tf.compat.v1.train is wrapped, got {type(opt).__name__}")
        super().__init__(False, name or type(self).__name__)
        self._opt = opt

    def compute_gradients(self, loss: Any, var_list: Any = None, **kwargs: Any) -> list[Any]:
        """Pairs of gradients and variables."""
        return self._opt.compute_gradients(loss, var_list=var_list, **kwargs)

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """An operation that changes the variables.

        A wrapper gets gradients as they are; those of TensorFlow, in the types of the variables.

        Raises:
            ValueError: there is no gradient, or what is given are no pairs.
        """
        pairs = pairs_of(grads_and_vars)
        if not isinstance(self._opt, IpuOptimizer):
            pairs = [(each if each is None else tf.cast(each, own.dtype), own) for each, own in pairs]
        return self._opt.apply_gradients(pairs, global_step, name)

    def get_name(self) -> str:
        """The name of the wrapped optimizer."""
        return self._opt.get_name()

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """A variable that the wrapped optimizer has for another one, or None."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """The names of such variables."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> list[Any]:
        """The variables of the wrapped optimizer."""
        return self._opt.variables()


def pairs_of(grads_and_vars: Any) -> list[tuple[Any, Any]]:
    """Gradients and their variables.

    Raises:
        ValueError: what is given are no pairs.
    """
    pairs = list(grads_and_vars)
    if not all(isinstance(each, list | tuple) and len(each) == 2 for each in pairs):
        raise ValueError(f"grads_and_vars are pairs of a gradient and a variable, got {pairs!r}")
    return [(gradient, variable) for gradient, variable in pairs]
