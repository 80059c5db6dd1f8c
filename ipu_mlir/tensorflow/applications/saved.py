"""What the file of a compiled application holds."""

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from ipu_mlir.compilation.executable import Executable
from ipu_mlir.dialects.storage.whole_files import write_whole
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.tensorflow.feeds import form_of
from ipu_mlir.tensorflow.program import Program


@dataclass(frozen=True)
class Application:
    """A program with all that it needs to start.

    Attributes:
        executable: what runs.
        arguments: what the start gives the program.
        constants: arguments behind these, which are known.
        variables: the others that the start gives, by the names that the program has for them.
        values: of all variables, by name.
        batches: what each call gives, by the name of the infeed; empty without one.
        results: what each call gets, by the name of the outfeed; empty without one.
    """

    executable: Executable
    arguments: tuple[tf.TensorSpec, ...]
    constants: tuple[np.ndarray, ...]
    variables: tuple[tf.TensorSpec, ...]
    values: dict[str, np.ndarray]
    batches: dict[str, tuple[tf.TensorSpec, ...]]
    results: dict[str, tuple[tf.TensorSpec, ...]]

    @property
    def startup(self) -> tuple[tf.TensorSpec, ...]:
        """All that the start gives."""
        return self.arguments + self.variables

    @staticmethod
    def of(program: Program, arguments: Sequence[tf.TensorSpec], freeze: bool, name: str) -> "Application":
        """``program``, without values yet.

        Args:
            arguments: what the start gives.
            freeze: whether variables keep these values, and the start gives none.
            name: what messages call it.

        Raises:
            CompileError: it calls functions of the host, or runs on several replicas.
        """
        executable = program.executable
        queues: dict[str, dict[str, tuple[tf.TensorSpec, ...]]] = {"infeed": {}, "outfeed": {}}
        for queue in executable.engine.queues:
            if queue.kind not in queues:
                raise CompileError(f"{name} calls a function of the host, which is in no file; leave it out")
            if queue.replicas > 1:
                raise CompileError(
                    f"{name} runs on {queue.replicas} replicas, and an application on one; configure as many IPUs as "
                    "one takes"
                )
            queues[queue.kind][queue.name] = tuple(map(_alone, tf.nest.flatten(form_of(queue.name))))
        given = [cell.variable for _, cell in program.residents]
        variables = [tf.TensorSpec(each.shape, tf.as_dtype(each.dtype), each.name) for each in given]
        return Application(
            executable,
            tuple(map(_alone, arguments)),
            (),
            () if freeze else tuple(variables),
            {},
            queues["infeed"],
            queues["outfeed"],
        )

    def write(self, path: str, program: Program, constants: Sequence[np.ndarray] = ()) -> None:
        """Write the file, with ``constants`` behind the arguments, and the values that variables have now.

        Raises:
            IpuError: it cannot be written.
        """
        whole = replace(self, constants=tuple(map(np.asarray, constants)), values=program.values())
        write_whole(Path(path), pickle.dumps(whole))


def read_application(path: str) -> Application:
    """The application in a file, which is code: who may write there may run what he likes.

    Raises:
        ValueError: it is no such file.
        OSError: it cannot be read.
    """
    try:
        found: Any = pickle.loads(Path(path).read_bytes())
    except OSError:
        raise
    except Exception as error:  # what is no pickle may fail in any way
        raise ValueError(f"{path} is no compiled application: {error}") from error
    if not isinstance(found, Application):
        raise ValueError(f"{path} is no compiled application: it holds a {type(found).__name__}")
    return found


def _alone(spec: Any) -> tf.TensorSpec:
    return tf.TensorSpec(spec.shape, spec.dtype, getattr(spec, "name", None))
