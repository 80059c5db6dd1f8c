"""Programs of other frameworks of which each replica gets arguments of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.replicas import VARIES
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError, RunError
from ipu_mlir.frontends.table import Call
from ipu_mlir.specs.specs import PerReplica


@dataclass(frozen=True)
class ReplicatedCall:
    """A call whose marked arguments have one more dimension in front, for replicas.

    Attributes:
        one: the call of one replica.
        given: the arguments, positional and by name, that the program was compiled for, with their marks.
        marks: True for each flat input that replicas have of their own.
    """

    one: Call
    given: tuple[Sequence[Any], Mapping[str, Any]]
    marks: tuple[bool, ...]
    replicas: int

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[np.ndarray]:
        """The flat inputs of a call.

        Raises:
            RunError: the arguments are not those that the program was compiled for.
        """
        both = [("args", self.given[0], tuple(args)), ("kwargs", self.given[1], dict(kwargs))]
        each = [
            self.one.flatten(*(_of_replica(spec, given, replica, self.replicas, path) for path, spec, given in both))
            for replica in range(self.replicas)
        ]
        rows = zip(self.marks, zip(*each, strict=True), strict=True)
        return [np.stack(values) if is_marked else values[0] for is_marked, values in rows]

    def unflatten(self, results: Sequence[np.ndarray]) -> Any:
        found = self.one.unflatten(results)
        give_back = getattr(self.one, "give_back", None)
        return found if give_back is None else give_back(found, (), {})

    @property
    def result_names(self) -> list[str]:
        return self.one.result_names


def is_replicated(args: Any) -> bool:
    """True if an argument is marked by ``ipu.per_replica``."""
    if isinstance(args, Mapping):
        return any(map(is_replicated, args.values()))
    return any(map(is_replicated, args)) if isinstance(args, list | tuple) else isinstance(args, PerReplica)


def on_replicas(
    entry: ir.Operation, call: Any, given: tuple[Sequence[Any], Mapping[str, Any]], replicas: int
) -> ReplicatedCall:
    """How the program is called; marks those arguments of ``entry`` of which each replica has its own.

    Raises:
        CompileError: the target has one replica, or the program's arguments cannot be told apart.
    """
    if replicas == 1:
        raise CompileError("arguments are per replica, and the target has one; give ipu.Target(replicas=...)")
    if not hasattr(call, "taken"):
        raise CompileError("per_replica is for arguments of functions and modules; give arrays of all replicas here")
    if getattr(call, "changed", ()):
        raise CompileError(
            "the program changes variables, whose values would be other ones on each replica; take the gradients as "
            "results, or a strategy of ipu_mlir.tensorflow"
        )
    marks = [isinstance(leaf, PerReplica) for leaf in call.taken(*given)]
    marks += [False] * (len(entry.attributes["function_type"].value.inputs) - len(marks))  # what it captures
    with entry.context:
        each = [ir.DictAttr.get({VARIES: ir.BoolAttr.get(True)} if mark else {}) for mark in marks]
        entry.attributes["arg_attrs"] = ir.ArrayAttr.get(each)
    return ReplicatedCall(call, given, tuple(marks), replicas)


def _of_replica(spec: Any, given: Any, replica: int, replicas: int, path: str) -> Any:
    """Of ``given``, what one replica gets: its element of what is marked in ``spec``."""
    if isinstance(spec, PerReplica):
        if len(given) != replicas:
            raise RunError(
                f"argument {path} has {len(given)} elements, and each of {replicas} replicas gets one; "
                f"give an array of shape {(replicas, *spec.shape)}"
            )
        return given[replica]
    if not is_replicated(spec) or len(spec) != len(given):
        return given
    if isinstance(spec, Mapping):
        return {
            name: _of_replica(spec.get(name), each, replica, replicas, f"{path}[{name!r}]")
            for name, each in given.items()
        }
    pairs = zip(spec, given, strict=True)
    found = [_of_replica(one, each, replica, replicas, f"{path}[{place}]") for place, (one, each) in enumerate(pairs)]
    return type(given)(*found) if hasattr(given, "_fields") else type(given)(found)
