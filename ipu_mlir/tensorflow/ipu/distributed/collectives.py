"""What processes have, put together on the host: one process has all of it."""

import os
from typing import Any

import tensorflow as tf

_COUNTS = ("POPDIST_NUM_INSTANCES", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
"""Where runners say how many processes they have started."""


def refuse_several_processes(what: str) -> None:
    """Refuse to go on as one of several processes.

    Raises:
        NotImplementedError: a runner says that there are others.
    """
    for name in _COUNTS:
        count = os.environ.get(name, "1")
        if count.isdigit() and int(count) > 1:
            raise NotImplementedError(
                f"{what}: there are {count} processes ({name}), and all IPUs belong to one process here; run one, and "
                "let its programs have replicas (IPUConfig.auto_select_ipus)"
            )


def allgather(tensor: Any, name: str | None = None) -> tf.Tensor:
    """The tensors of all processes, one after the other along the first dimension: that of the one.

    Raises:
        NotImplementedError: there are several processes.
    """
    refuse_several_processes("allgather")
    return tf.identity(tensor, name or "allgather")


def allreduce(tensor: Any, op: Any = None) -> Any:
    """The mean over processes, or what ``op`` says: of one process, the tensor.

    Of ``tf.IndexedSlices``, values and indices are gathered.

    Raises:
        NotImplementedError: there are several processes.
    """
    refuse_several_processes("allreduce")
    if isinstance(tensor, tf.IndexedSlices):
        return tf.IndexedSlices(tf.identity(tensor.values), tf.identity(tensor.indices), tensor.dense_shape)
    return tf.identity(tensor, "allreduce")


def broadcast(tensor: Any, root_rank: int, name: str | None = None) -> tf.Tensor:
    """The tensor of process ``root_rank``, which is 0.

    Raises:
        ValueError: there is no such process.
        NotImplementedError: there are several processes.
    """
    refuse_several_processes("broadcast")
    if root_rank != 0:
        raise ValueError(f"broadcast: root_rank is {root_rank}, and the only process is 0")
    return tf.identity(tensor, name or "broadcast")
