"""Rows of tables: in the memory of the host, and on the device (guide 21.15.12)."""

import numbers
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow.tables import Table

tf1 = tf.compat.v1
_STRATEGIES = ("TOKEN", "ENCODING")
_EMBEDDINGS: "weakref.WeakValueDictionary[str, HostEmbedding]" = weakref.WeakValueDictionary()


class HostEmbeddingOptimizerSpec:
    """Descent along the gradients of what was looked up, on the host: each occurrence of a row moves it."""

    def __init__(self, learning_rate: Any, optimizer_name: str | None = None) -> None:
        """Move rows by ``learning_rate`` times the gradient; with 0 they stay as they are.

        Raises:
            TypeError: that is no number.
        """
        if not tf.is_tensor(learning_rate) and not isinstance(learning_rate, numbers.Real | np.number):
            raise TypeError(f"learning_rate is a number or a tensor of one, got {learning_rate!r}")
        self._learning_rate, self._name = learning_rate, optimizer_name

    def get_learning_rate(self) -> Any:
        """The rate."""
        return self._learning_rate

    def create_slot_variables(self, embedding_tensor: Any, name: str) -> list[Any]:
        """Further variables on the host, for subclasses; none."""
        return []

    def create_register_instruction(self, embedding_tensor: Any, slot_vars: Sequence[Any], name: str) -> Any:
        """An operation that a session runs when the table is registered."""
        return tf.no_op(f"{name}/register")

    def create_deregister_instruction(self, embedding_tensor: Any, slot_vars: Sequence[Any], name: str) -> Any:
        """An operation that a session runs when the table is registered no more."""
        return tf.no_op(f"{name}/deregister")

    def create_lookup_instruction(
        self, embedding_tensor: Any, indices: Any, slot_vars: Sequence[Any], partition_strategy: str, name: str
    ) -> Any:
        """The rows of ``indices``, whose gradients go to the table; ``name`` is that of a ``HostEmbedding``."""
        return _EMBEDDINGS[name]._rows(indices)


class HostEmbeddingSGDGAOptimizerSpec(HostEmbeddingOptimizerSpec):
    """As ``HostEmbeddingOptimizerSpec``, but updates are gathered, and several are applied together."""

    def __init__(self, learning_rate: Any, accumulation_factor: int) -> None:
        """Apply updates whenever there are ``accumulation_factor``; a step with two lookups of the table makes two.

        Raises:
            ValueError: that is no whole number from 1.
        """
        super().__init__(learning_rate)
        if int(accumulation_factor) != accumulation_factor or accumulation_factor < 1:
            raise ValueError(f"accumulation_factor is a number from 1, got {accumulation_factor!r}")
        self._factor = int(accumulation_factor)

    def get_accumulation_factor(self) -> int:
        """The number of updates that are applied together."""
        return self._factor


class HostEmbedding:
    """A table in the memory of the host, whose rows programs look up while it is registered."""

    def __init__(
        self,
        name: str,
        embedding_tensor: Any,
        partition_strategy: str = "TOKEN",
        optimizer_spec: HostEmbeddingOptimizerSpec | None = None,
    ) -> None:
        """Let programs look up rows of a tensor.

        Args:
            embedding_tensor: of two dimensions; a variable, if an optimizer is to change it.
            partition_strategy: how replicas share it where ``experimental.enable_remote_buffer_embedding`` puts it
                beside their chips: TOKEN deals out rows, ENCODING cuts each of them.
            optimizer_spec: what gradients do; without it, nothing.

        Raises:
            ValueError: there is no such strategy, the tensor has another form, or is no variable.
            TypeError: the optimizer is no spec.
        """
        if partition_strategy not in _STRATEGIES:
            raise ValueError(f"Unknown partition strategy {partition_strategy!r}; it is one of {list(_STRATEGIES)}")
        if optimizer_spec is not None and not isinstance(optimizer_spec, HostEmbeddingOptimizerSpec):
            raise TypeError(f"optimizer_spec is a HostEmbeddingOptimizerSpec or None, got {optimizer_spec!r}")
        if len(embedding_tensor.shape) != 2 or not embedding_tensor.shape.is_fully_defined():
            raise ValueError(f"a host embedding has the shape [tokens, encoding], got {embedding_tensor.shape}")
        learns = optimizer_spec is not None and not _is_zero(optimizer_spec.get_learning_rate())
        if learns and not isinstance(embedding_tensor, tf.Variable):
            raise ValueError(f"the optimizer of host embedding {name!r} changes a variable, got {embedding_tensor!r}")
        self._name, self._strategy = name, partition_strategy
        self._tensor: Any = embedding_tensor
        self._spec = optimizer_spec or HostEmbeddingOptimizerSpec(0)
        self._table = Table(name, tuple(self._tensor.shape), embedding_tensor.dtype, partition_strategy.lower())
        _EMBEDDINGS[self._table.name] = self
        with tf.device("/cpu:0"):
            self._slots = self._spec.create_slot_variables(embedding_tensor, name)
            self._begin = self._spec.create_register_instruction(embedding_tensor, self._slots, name)
            self._end = self._spec.create_deregister_instruction(embedding_tensor, self._slots, name)
            # what an optimizer asks gradients of, so that those of rows are computed; it stays 0
            self._reached = _variable(f"{name}/reached", 0.0) if learns else None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Not to be called.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError("a HostEmbedding is no layer: call its lookup")

    def get_embedding_tensor(self) -> Any:
        """The table on the host: as it was registered, until it is registered no more."""
        return self._tensor

    def lookup(self, indices: Any, clip_indices: bool = True) -> Any:
        """The rows of ``indices``, in a program: of their shape, with that of a row behind it.

        Args:
            clip_indices: whether a number that is no row stands for the first or the last one; it is an error
                otherwise.

        Raises:
            RuntimeError: outside of a program.
            TypeError: indices are no integers.
        """
        indices = tf.convert_to_tensor(indices)
        if not indices.dtype.is_integer:
            raise TypeError(f"indices of host embedding {self._name!r} are integers, got {indices.dtype.name}")
        if clip_indices:
            indices = tf.clip_by_value(indices, 0, self._tensor.shape[0] - 1)
        return self._spec.create_lookup_instruction(
            self._tensor, indices, self._slots, self._strategy, self._table.name
        )

    @contextmanager
    def register(self, session: Any) -> Iterator[None]:
        """In the block, programs of ``session`` find the rows; at its end the tensor has what they are then.

        Args:
            session: of the graph of the tensor; None in eager mode.

        Raises:
            RuntimeError: the embedding is registered already.
        """
        if self._table.is_open:
            raise RuntimeError(f"host embedding {self._name!r} is registered already")
        if session is None:
            self._table.give(self._tensor.numpy())
        else:
            session.run([self._begin])
            self._table.give(session.run(self._tensor))
        try:
            yield
        finally:
            rows = self._table.take()
            if session is not None:
                if self._reached is not None:
                    session.run(self._tensor.initializer, {self._tensor.initializer.inputs[1]: rows})
                session.run([self._end])
            elif self._reached is not None:
                self._tensor.assign(rows)

    def _rows(self, indices: Any) -> Any:
        if self._reached is None:
            return self._table.lookup(indices)
        rate, every = self._spec.get_learning_rate(), getattr(self._spec, "_factor", 1)

        @tf.custom_gradient
        def found(reached: Any, numbers: Any) -> Any:
            def gradient(given: Any) -> Any:
                given = tf.convert_to_tensor(given)
                self._table.add(numbers, given * tf.cast(-rate, given.dtype), every)
                return tf.zeros_like(reached), None

            return self._table.lookup(numbers), gradient

        return found(self._reached.read_value(), indices)


def create_host_embedding(
    name: str,
    shape: Sequence[int],
    dtype: tf.DType,
    partition_strategy: str = "TOKEN",
    optimizer_spec: HostEmbeddingOptimizerSpec | None = None,
    initializer: Any = None,
) -> HostEmbedding:
    """A ``HostEmbedding`` with a new variable on the host.

    Args:
        shape: tokens and elements of each.
        initializer: of the variable, as of ``tf.compat.v1.get_variable``; an array is its value.

    Raises:
        ValueError: as of ``HostEmbedding``.
    """
    with tf.device("/cpu:0"):
        if tf.executing_eagerly():
            start = initializer or tf1.glorot_uniform_initializer()
            value: Any = start(list(shape), dtype=tf.as_dtype(dtype)) if callable(start) else tf.cast(start, dtype)
            table = tf.Variable(value, trainable=False, name=name)
        else:
            fixed = initializer is not None and not callable(initializer)
            table = tf1.get_variable(
                name, None if fixed else shape, dtype, initializer, trainable=False, use_resource=True
            )
    return HostEmbedding(name, table, partition_strategy, optimizer_spec)


def embedding_lookup(params: Any, ids: Any, name: str | None = None, serialization_factor: int = 1) -> Any:
    """The rows of ``params`` whose numbers are in ``ids``, on the device.

    Args:
        params: rows of any shape, one after another along the first dimension.
        serialization_factor: in how many parts the rows are looked up on the chip; the compiler decides here.

    Returns:
        A tensor of the shape of ``ids``, with that of a row behind it.

    Raises:
        ValueError: the factor is below 1 or does not divide the number of rows, or ``params`` is a number.
    """
    params, ids = tf.convert_to_tensor(params), tf.convert_to_tensor(ids)
    if not params.shape.rank:
        raise ValueError(f"params has rows along its first dimension, got a shape of {params.shape}")
    factor, rows = int(serialization_factor), params.shape[0]
    if factor < 1:
        raise ValueError(f"serialization_factor has to be at least 1, but was {serialization_factor}.")
    if rows % factor:
        raise ValueError(
            f"The serialization_factor ({factor}) must divide the size of the 0th dimension of params ({rows})."
        )
    return tf.gather(params, ids, name=name)


def _variable(name: str, value: float) -> Any:
    if tf.executing_eagerly():
        return tf.Variable(tf.constant(value), name=name)
    return tf1.Variable(value, name=name, use_resource=True)


def _is_zero(rate: Any) -> bool:
    return isinstance(rate, int | float) and rate == 0
