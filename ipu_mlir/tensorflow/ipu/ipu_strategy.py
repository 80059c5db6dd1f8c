"""The distribution strategy of one system with IPUs (guide 3.1)."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.distribute.one_device_strategy import OneDeviceExtended
from tensorflow.python.framework.func_graph import FuncGraph
from tensorflow.python.types import core
from tensorflow.python.util import nest

from ipu_mlir.tensorflow.collectives import all_reduce
from ipu_mlir.tensorflow.devices import SYSTEM, Device, ordinal_of, replicas_of
from ipu_mlir.tensorflow.eager import ops_on_host
from ipu_mlir.tensorflow.feeds import Feed, feed_of
from ipu_mlir.tensorflow.graph_mode import add_nested_to_graph
from ipu_mlir.tensorflow.host_functions import add_to_function, refuse_gradients, take_over_functions
from ipu_mlir.tensorflow.keras.steps import steps_stay_on_host, take_over
from ipu_mlir.tensorflow.placement import on_device, take_over_devices
from ipu_mlir.tensorflow.program import Programs
from ipu_mlir.tensorflow.variables import is_tracing, own_handle, resident


class _Extended(OneDeviceExtended):
    """Variables that are made in the scope live on the device from the beginning."""

    def _create_variable(self, next_creator: Any, **kwargs: Any) -> Any:
        with ops_on_host():  # initial values are those of TensorFlow
            variable = super()._create_variable(next_creator, **kwargs)
        if isinstance(own_handle(variable), core.Value):  # that of a graph belongs to its sessions
            resident(variable, is_new=True)
        return variable

    def _default_device_scope(self) -> Any:
        """What TensorFlow enters with the scope: ops of eager mode run on the device in it."""
        return _EagerScope(self._container_strategy().ordinal)

    @property
    def _num_replicas_in_sync(self) -> int:
        return replicas_of(self._container_strategy().device)

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any) -> Any:
        return self._replica_ctx_all_reduce(reduce_op, value)

    def _batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any, options: Any) -> Any:
        return [self._replica_ctx_all_reduce(reduce_op, value) for value, _ in value_destination_pairs]

    def _replica_ctx_all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """What replicas have, combined over them; outside of programs there is one value already."""
        reduces = self._container_strategy().reduces_over_replicas
        if not reduces or not is_tracing() or self._num_replicas_in_sync == 1:
            return value
        op = "mean" if reduce_op == tf.distribute.ReduceOp.MEAN else "add"
        return tf.nest.map_structure(lambda each: all_reduce(tf.convert_to_tensor(each), op), value)


class _EagerScope:
    """``on_device`` that may be entered again."""

    def __init__(self, ordinal: int) -> None:
        self._ordinal = ordinal
        self._inside: list[Any] = []

    def __enter__(self) -> None:
        self._inside.append(on_device(f"/device:IPU:{self._ordinal}", is_strict=False))
        self._inside[-1].__enter__()

    def __exit__(self, *given: Any) -> None:
        self._inside.pop().__exit__(*given)


class IPUStrategy(tf.distribute.OneDeviceStrategy):
    """Variables, models, iterators and queues that are made in its scope belong to the IPU.

        strategy = ipu.ipu_strategy.IPUStrategy()
        with strategy.scope():
            result = strategy.run(function, args=(x, y))

    Variables live on the device between runs, and are read and assigned from Python as any others. Other ops that are
    called in the scope run on the device one by one, those that cannot run there on the host.

    Attributes:
        ordinal: the number of its device.
        streams_datasets: whether ``iter(dataset)`` in the scope streams elements to the device.
        runs_keras: whether models of Keras that are made in the scope run on the device.
        reduces_over_replicas: whether what TensorFlow reduces is combined over replicas.
    """

    reduces_over_replicas = True

    def __init__(
        self,
        ipu_device: str = "/device:IPU:0",
        cpu_device: str = "/device:CPU:0",
        enable_dataset_iterators: bool = True,
        enable_keras_extensions: bool = True,
    ) -> None:
        """Make a strategy.

        Args:
            ipu_device: the device that functions run on.
            cpu_device: the host, on which everything else runs.
            enable_dataset_iterators: whether ``iter(dataset)`` in the scope streams elements to the device.
            enable_keras_extensions: whether models of Keras that are made in the scope run on the device.
        """
        self.ordinal = ordinal_of(ipu_device)
        super(tf.distribute.OneDeviceStrategy, self).__init__(_Extended(self, cpu_device))
        take_over_devices()
        take_over_functions()
        self._programs = Programs()
        self.streams_datasets = enable_dataset_iterators
        if enable_dataset_iterators:
            _stream_datasets()
        self.runs_keras = enable_keras_extensions
        if enable_keras_extensions:
            take_over(IPUStrategy)  # pyright: ignore[reportArgumentType] - a base class of TensorFlow has no types

    @property
    def device(self) -> Device:
        """The device that functions run on, as it is configured now."""
        return SYSTEM.device(self.ordinal)

    def run(
        self,
        fn: Any,
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        options: Any = None,
    ) -> Any:
        """The results of ``fn``, run on the device.

        Args:
            fn: a ``tf.function`` with ``jit_compile=True``.
            args: tensors are its inputs; everything else is part of the program.
            kwargs: arguments by name.
            options: without effect, as of TensorFlow's own.

        In a function that TensorFlow traces for the host, and in graphs, an operation runs the program.

        Raises:
            ValueError: ``fn`` is a plain Python function, a concrete one, or is not compiled.
            CompileError: TensorFlow cannot compile it, or we cannot; with the line of the user.
        """
        if is_tracing() and not tf.distribute.in_cross_replica_context():
            return fn(*args, **(kwargs or {}))
        if is_tracing() or steps_stay_on_host():
            return super().run(fn, args, kwargs or {}, options)
        if isinstance(fn, tf.types.experimental.ConcreteFunction):
            raise ValueError(
                f"strategy.run takes a tf.function, and {_name(fn)} is a graph that TensorFlow has made of one by "
                "get_concrete_function; give it the function itself"
            )
        if getattr(fn, "_jit_compile", None) is not True:
            raise ValueError(
                f"strategy.run takes a function with @tf.function(jit_compile=True), got {fn!r}; decorate it so"
            )
        given: Any = tf.nest.map_structure(_streamed, (tuple(args), dict(kwargs or {})))
        bound = inspect.signature(fn.python_function).bind(*given[0], **given[1])  # by place or by name: one program
        bound.apply_defaults()
        arguments = _as_signed(bound.args, fn.input_signature)
        if not tf.executing_eagerly():
            nested, name = (arguments, bound.kwargs), _name(fn)
            if not isinstance(tf.compat.v1.get_default_graph(), FuncGraph):
                return add_nested_to_graph(lambda given: self.trace(fn, *given), nested, self.device, name)
            return add_to_function(
                lambda given: self._run(fn, *given), lambda given: self.trace(fn, *given), nested, name
            )
        return self._run(fn, arguments, bound.kwargs)

    def reduce(self, reduce_op: Any, value: Any, axis: Any) -> Any:
        """As of TensorFlow's own, which would reduce along ``axis`` by a function that it runs on the device."""
        if axis is not None and not is_tracing():
            is_mean = (
                tf.distribute.ReduceOp(getattr(reduce_op, "value", reduce_op).upper()) == tf.distribute.ReduceOp.MEAN
            )
            along = functools.partial(tf.reduce_mean if is_mean else tf.reduce_sum, axis=axis)
            value, axis = tf.nest.map_structure(along, value), None
        return super().reduce(reduce_op, value, axis)

    def _run(self, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        with ops_on_host():
            program, tensors = self._programs.find(fn, args, kwargs, self.device, self.trace)
            results = program(tensors)
        refuse_gradients(_name(fn), [*tensors, *program.variables], results)
        return results

    def experimental_run_v2(self, *args: Any, **kwargs: Any) -> Any:
        """The former name of ``run``."""
        return self.run(*args, **kwargs)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """``dataset``: all of it goes to the one device, whatever ``options`` say."""
        return dataset

    def trace(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Call ``function`` as a replica does: optimizers of Keras ask in which context they are."""
        return self.extended.call_for_each_replica(function, args=args, kwargs=kwargs)


def _as_signed(args: Sequence[Any], signature: Sequence[Any] | None) -> tuple[Any, ...]:
    """Arguments in which arrays, numbers and lists are tensors, where the signature of the function asks for some."""

    def tensor(spec: Any, given: Any) -> Any:
        plain = isinstance(spec, tf.TensorSpec) and not tf.is_tensor(given)
        return tf.convert_to_tensor(given, spec.dtype) if plain else given

    each = zip(signature or (), args, strict=False)  # the rest has defaults
    signed = [nest.map_structure_up_to(spec, tensor, spec, given) for spec, given in each]
    return *signed, *args[len(signed) :]


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _streamed(leaf: Any) -> Any:
    return feed_of(leaf) if isinstance(leaf, tf.data.Iterator) else leaf


@functools.cache
def _stream_datasets() -> None:
    """Let ``iter(dataset)`` in the scope of such a strategy be a queue of the device."""
    theirs = tf.data.Dataset.__iter__

    @functools.wraps(theirs)
    def iterate(self: Any) -> Any:
        strategy = tf.distribute.get_strategy()
        streams = isinstance(strategy, IPUStrategy) and strategy.streams_datasets and tf.executing_eagerly()
        return Feed(self) if streams else theirs(self)

    tf.data.Dataset.__iter__ = iterate


IPUStrategyV1 = IPUStrategy
