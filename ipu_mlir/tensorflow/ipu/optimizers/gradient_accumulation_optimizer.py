"""Gradients that gather over several batches before they are applied once."""

from typing import Any

import tensorflow as tf
from tensorflow.python.ops.control_flow_v2_func_graphs import (
    WhileBodyFuncGraph,
)  # what says that a function is that of a loop

from ipu_mlir.tensorflow.gradient_accumulation import GradientAccumulationReductionMethod, accumulator_type
from ipu_mlir.tensorflow.ipu.loops import know_rounds_of_python_loops, rounds_of_loop
from ipu_mlir.tensorflow.ipu.optimizers.cross_replica_optimizer import CrossReplicaOptimizer
from ipu_mlir.tensorflow.ipu.optimizers.ipu_optimizer import IpuOptimizer, pairs_of
from ipu_mlir.tensorflow.variables import offload

tf1 = tf.compat.v1


class GradientAccumulationOptimizerV2(IpuOptimizer):
    """Applies what the gradients of some batches make together, once; variables rest in between."""

    def __init__(
        self,
        opt: tf1.train.Optimizer,
        num_mini_batches: int,
        offload_weight_update_variables: bool | None = None,
        replicated_optimizer_state_sharding: bool | None = False,
        dtype: Any = None,
        reduction_method: Any = GradientAccumulationReductionMethod.SUM,
        name: str = "GradientAccumulationOptimizerV2",
    ) -> None:
        """Wrap ``opt``.

        Args:
            num_mini_batches: how many batches make an update.
            offload_weight_update_variables: whether the variables of ``opt`` are in remote memory between updates; not,
                if it is None.
            replicated_optimizer_state_sharding: whether each replica keeps a part of them there; None for what
                ``offload_weight_update_variables`` says.
            dtype: in which gradients gather; a type, what gives one for a variable, or None for that of each variable.
            reduction_method: what an update is made of.

        Raises:
            ValueError: the number is below 1, or there is no such method.
        """
        super().__init__(opt, name)
        know_rounds_of_python_loops()
        if not hasattr(num_mini_batches, "__index__") or int(num_mini_batches) < 1:
            raise ValueError(f"num_mini_batches must be a positive whole number, got {num_mini_batches!r}")
        self._count, self._dtype = int(num_mini_batches), dtype
        self._method = GradientAccumulationReductionMethod(reduction_method)
        is_cut = replicated_optimizer_state_sharding
        self._is_cut = bool(offload_weight_update_variables if is_cut is None else is_cut)
        self._is_offloaded = offload_weight_update_variables is True or (
            offload_weight_update_variables is None and self._is_cut
        )

    def apply_gradients(self, grads_and_vars: Any, global_step: Any = None, name: str | None = None) -> Any:
        """An operation that gathers the gradients, and after so many batches changes the variables.

        Raises:
            ValueError: there is no gradient, or what is given are no pairs.
            FailedPreconditionError: it stands in no loop, or in one whose rounds are no multiple of the batches.
        """
        self._check_loop()
        pairs = [(tf.convert_to_tensor(each), own) for each, own in pairs_of(grads_and_vars) if each is not None]
        if not pairs:
            raise ValueError(f"{self._name}: no gradients are given for any variable")
        with tf.init_scope():
            sums = [self._accumulator(own) for _, own in pairs]
            rounds = self._counted("round", pairs[0][1], (), tf.int32)
        number = tf.identity(rounds.read_value())
        gathered = [
            total.assign(self._gathered(total.read_value(), tf.cast(each, total.dtype), number), read_value=False)
            for total, (each, _) in zip(sums, pairs, strict=True)
        ]
        variables = [own for _, own in pairs]

        def update() -> tf.Tensor:
            totals = [each.read_value() for each in sums]
            pairs_of_update = list(zip(totals, variables, strict=True))
            done = [IpuOptimizer.apply_gradients(self, pairs_of_update, global_step)]
            with tf.control_dependencies(totals):
                done += [each.assign(tf.zeros_like(each), read_value=False) for each in sums]
            with tf.control_dependencies(done):
                return tf.constant(0)

        with tf.control_dependencies(gathered):
            following = tf.cond(number >= self._count - 1, update, lambda: number + 1)
            with tf.init_scope():  # the graph in which its variables are
                for each in self._opt.variables() if self._is_offloaded else ():
                    offload(each, self._is_cut)
            return rounds.assign(following, read_value=False, name=name)

    def _accumulator(self, variable: Any) -> Any:
        kind = accumulator_type(self._dtype, variable)
        return self._counted("accumulator", variable, variable.shape, kind)

    def _counted(self, name: str, variable: Any, shape: Any, kind: tf.DType) -> Any:
        """A variable of that name that goes with ``variable``, and begins with zeros."""
        return self._get_or_make_slot_with_initializer(
            variable, tf1.zeros_initializer(), tf.TensorShape(shape), kind, name, self._name
        )

    def _gathered(self, total: tf.Tensor, gradient: tf.Tensor, number: tf.Tensor) -> tf.Tensor:
        if self._method is GradientAccumulationReductionMethod.SUM:
            return total + gradient
        if self._method is GradientAccumulationReductionMethod.MEAN:
            return total + gradient * tf.constant(1 / self._count, gradient.dtype)
        before, with_it = tf.cast(number, tf.float32), tf.cast(number + 1, tf.float32)
        old, new = (tf.cast(each, gradient.dtype) for each in (before / with_it, 1 / with_it))
        return total * old + gradient * new

    def _check_loop(self) -> None:
        graph: Any = tf1.get_default_graph()
        while graph is not None and not isinstance(graph, WhileBodyFuncGraph):
            graph = getattr(graph, "outer_graph", None)
        if graph is None:
            raise tf.errors.FailedPreconditionError(
                None,
                None,
                f"Detected a gradient accumulation operation with {self._count} number of mini batches outside of a "
                "loop: let ipu.loops.repeat run it",
            )
        rounds = rounds_of_loop()
        if rounds is not None and rounds % self._count:
            below = rounds // self._count * self._count
            raise tf.errors.FailedPreconditionError(
                None,
                None,
                f"Detected a gradient accumulation operation with {self._count} number of mini batches inside a loop "
                f"with {rounds} iterations. The number of iterations must be a multiple of the mini batches: "
                f"{f'{below} or ' if below else ''}{below + self._count}",
            )


class CrossReplicaGradientAccumulationOptimizerV2(GradientAccumulationOptimizerV2):
    """As ``GradientAccumulationOptimizerV2``, with the mean over all replicas at each update."""

    def __init__(
        self,
        opt: tf1.train.Optimizer,
        num_mini_batches: int,
        offload_weight_update_variables: bool | None = None,
        replicated_optimizer_state_sharding: bool | None = False,
        dtype: Any = None,
        reduction_method: Any = GradientAccumulationReductionMethod.SUM,
        name: str = "CrossReplicaGradientAccumulationOptimizerV2",
    ) -> None:
        """Wrap ``opt``; all else is as of ``GradientAccumulationOptimizerV2``."""
        super().__init__(
            CrossReplicaOptimizer(opt),
            num_mini_batches,
            offload_weight_update_variables,
            replicated_optimizer_state_sharding,
            dtype,
            reduction_method,
            name,
        )


class GradientAccumulationOptimizer(GradientAccumulationOptimizerV2):
    """Applies the sum of the gradients of some batches once, by plain descent or with momentum."""

    def __init__(
        self,
        opt: tf1.train.Optimizer,
        num_mini_batches: int,
        verify_usage: bool = True,
        name: str = "GradientAccumulationOptimizer",
    ) -> None:
        """Wrap ``opt``.

        Args:
            num_mini_batches: how many batches make an update.
            verify_usage: whether other optimizers are refused.

        Raises:
            ValueError: the number is below 1, or the optimizer is another one.
        """
        _check_kind(opt, verify_usage)
        super().__init__(opt, num_mini_batches, name=name)


class CrossReplicaGradientAccumulationOptimizer(CrossReplicaGradientAccumulationOptimizerV2):
    """As ``GradientAccumulationOptimizer``, with the mean over all replicas at each update."""

    def __init__(
        self,
        opt: tf1.train.Optimizer,
        num_mini_batches: int,
        verify_usage: bool = True,
        name: str = "CrossReplicaGradientAccumulationOptimizer",
    ) -> None:
        """Wrap ``opt``; all else is as of ``GradientAccumulationOptimizer``."""
        _check_kind(opt, verify_usage)
        super().__init__(opt, num_mini_batches, name=name)


def _check_kind(opt: Any, verify_usage: bool) -> None:
    inner = opt
    while isinstance(inner, IpuOptimizer):
        inner = inner._opt
    if verify_usage and type(inner) not in (tf1.train.GradientDescentOptimizer, tf1.train.MomentumOptimizer):
        raise ValueError(
            "only GradientDescentOptimizer and MomentumOptimizer gather gradients this way, got "
            f"{type(inner).__name__}; use GradientAccumulationOptimizerV2, or verify_usage=False"
        )
