"""How the optimizer of a pipeline differentiates and updates."""

from typing import Any

import keras
import tensorflow as tf

from ipu_mlir.tensorflow.pipelines.update import Training
from ipu_mlir.tensorflow.variables import own_handle

_V1 = tf.compat.v1.train.Optimizer


class OptimizerFunctionOutput:
    """What an optimizer function says: the loss, and what trains the variables by it."""

    def __init__(
        self,
        opt: Any,
        loss: tf.Tensor,
        compute_gradients_args: tuple[Any, ...] | None = None,
        compute_gradients_kwargs: dict[str, Any] | None = None,
        apply_gradients_args: tuple[Any, ...] | None = None,
        apply_gradients_kwargs: dict[str, Any] | None = None,
        **watched: Any,
    ) -> None:
        """Say how a pipeline is trained.

        Args:
            opt: an optimizer of ``tf.compat.v1.train`` or of Keras.
            loss: one float.
            compute_gradients_args, compute_gradients_kwargs: of ``opt.compute_gradients`` besides the loss.
            apply_gradients_args, apply_gradients_kwargs: of ``opt.apply_gradients`` besides the gradients.
            watched: which variables an optimizer of Keras trains: ``variables``, a list of them, or a ``tape`` that has
                watched them; all trainable ones that stages use, if neither is given.

        Raises:
            TypeError: an argument is of another type.
            ValueError: an argument is for the other kind of optimizer.
        """
        if not isinstance(opt, _V1 | keras.optimizers.Optimizer):
            raise TypeError(
                "OptimizerFunctionOutput.opt must be a TensorFlow Optimizer or Keras OptimizerV2 object, got "
                f"{type(opt).__name__}"
            )
        if not tf.is_tensor(loss):
            raise TypeError(f"OptimizerFunctionOutput.loss must be a TensorFlow Tensor object, got {loss!r}")
        if loss.shape.rank or not loss.dtype.is_floating:
            raise ValueError(f"the loss of a pipeline is one float, got {loss.dtype.name}{loss.shape}")
        is_v1 = isinstance(opt, _V1)
        for name, value, kind in (
            ("compute_gradients_args", compute_gradients_args, tuple),
            ("compute_gradients_kwargs", compute_gradients_kwargs, dict),
            ("apply_gradients_args", apply_gradients_args, tuple),
            ("apply_gradients_kwargs", apply_gradients_kwargs, dict),
        ):
            if value is not None and not isinstance(value, kind):
                raise TypeError(f"OptimizerFunctionOutput.{name} must be a {kind.__name__}, got {value!r}")
            if value is not None and not is_v1 and name.startswith("compute"):
                raise ValueError(f"OptimizerFunctionOutput.{name} may not be used with OptimizerV2 instances.")
        unknown = sorted({*watched} - {"variables", "tape"})
        if unknown:
            raise TypeError(f"OptimizerFunctionOutput got {', '.join(unknown)}; it may have variables or a tape")
        variables, tape = watched.get("variables"), watched.get("tape")
        if variables is not None and not isinstance(variables, list | tuple):
            raise TypeError(f"OptimizerFunctionOutput.variables must be a list or a tuple, got {variables!r}")
        if tape is not None and not isinstance(tape, tf.GradientTape):
            raise TypeError(f"OptimizerFunctionOutput.tape must be a GradientTape, got {tape!r}")
        for name, value in (("variables", variables), ("tape", tape)):
            if value is not None and is_v1:
                raise ValueError(f"OptimizerFunctionOutput.{name} may only be used with OptimizerV2.")
        if variables is not None and tape is not None:
            raise ValueError("OptimizerFunctionOutput takes variables or a tape, not both.")
        self.opt, self.loss = opt, loss
        self.compute_gradients_args = compute_gradients_args or ()
        self.compute_gradients_kwargs = compute_gradients_kwargs or {}
        self.apply_gradients_args = apply_gradients_args or ()
        self.apply_gradients_kwargs = apply_gradients_kwargs or {}
        self.variables, self.tape = variables, tape


def training_of(output: OptimizerFunctionOutput) -> Training:
    """How a pipeline is trained by what an optimizer function says."""
    opt, args, kwargs = output.opt, list(output.compute_gradients_args), dict(output.compute_gradients_kwargs)
    if isinstance(opt, _V1):
        wanted = args.pop(0) if args else kwargs.pop("var_list", None)
    else:
        wanted = output.variables if output.tape is None else output.tape.watched_variables()
    named = {id(own_handle(_variable(each))): each for each in wanted or ()}

    def differentiate(loss: tf.Tensor, variables: list[Any]) -> list[Any]:
        found = {id(own_handle(own)): slope for slope, own in opt.compute_gradients(loss, variables, *args, **kwargs)}
        return [found.get(id(own_handle(each))) for each in variables]

    is_cast = getattr(type(opt), "apply_gradients", None) is _V1.apply_gradients or not isinstance(opt, _V1)

    def update(pairs: list[tuple[tf.Tensor, Any]]) -> None:
        if pairs:
            slopes = [tf.cast(slope, each.dtype) if is_cast else slope for slope, each in pairs]
            variables = [named.get(id(own_handle(each)), each) for _, each in pairs]
            own = list(zip(slopes, variables, strict=True))
            opt.apply_gradients(own, *output.apply_gradients_args, **output.apply_gradients_kwargs)

    is_plain = not isinstance(opt, _V1) or (
        type(opt).compute_gradients is _V1.compute_gradients and not args and not kwargs
    )
    variables = None if wanted is None else [_variable(each) for each in wanted]
    return Training(variables, update, None if is_plain else differentiate)


def _variable(given: Any) -> Any:
    """The variable of TensorFlow that one of Keras has."""
    return given._value if isinstance(given, keras.Variable) else given
