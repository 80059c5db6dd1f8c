"""Python functions traced into one module."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.programs.host_function import HostFunction
from ipu_mlir.programs.remote import RemoteBuffer
from ipu_mlir.programs.streams import Infeed, Outfeed
from ipu_mlir.programs.variable import Variable
from ipu_mlir.tracing.graph import Trace
from ipu_mlir.tracing.structure import Call
from ipu_mlir.tracing.surface.traced import TracedFunction

Declared = Variable | Infeed | Outfeed | RemoteBuffer | HostFunction
"""What functions share, and sessions have of their own."""


@dataclass(frozen=True)
class Traced:
    """A module of traced functions.

    Attributes:
        calls: by name of the function, how its arguments and results are nested.
        declared: the variables and queues that the functions use, by name.
    """

    module: ir.Module
    calls: dict[str, Call]
    declared: dict[str, Declared]


def trace_all(functions: Mapping[str, Callable[..., Any]], args: Any) -> Traced:
    """``functions`` by name, each traced with the arguments that ``args`` has by that name.

    Raises:
        CompileError: there are none, or the arguments of one are missing.
        TraceError: as of ``TracedFunction.trace_call``.
    """
    if not functions:
        raise CompileError("compile was given no function; give at least one, by its name: compile({'main': f}, ...)")
    trace: Trace | None = None
    calls: dict[str, Call] = {}
    for name, function in functions.items():
        if not isinstance(args, Mapping) or not isinstance(args.get(name), Sequence):
            raise CompileError(
                f"{function!r} is traced for given shapes; pass args={{{name!r}: [TensorSpec(...), ...], ...}}"
            )
        traced = function if isinstance(function, TracedFunction) else TracedFunction(function)
        trace, calls[name] = traced.trace_beside(trace, args[name], {}, name)
    assert trace is not None, "there is a function"
    return Traced(trace.module, calls, trace.declared)
