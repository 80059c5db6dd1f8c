"""``custom_vjp``: functions whose derivative the user gives."""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.counted import listed
from ipu_mlir.specs.specs import TensorSpec
from ipu_mlir.specs.tensor_types import is_made_of_floats
from ipu_mlir.tracing.control.bodies import Tree, spec_of_leaf, tree, values_of
from ipu_mlir.tracing.control.private_functions import private_function
from ipu_mlir.tracing.elementwise import conjugated
from ipu_mlir.tracing.errors import TraceTypeError
from ipu_mlir.tracing.graph import Trace, current_trace
from ipu_mlir.tracing.structure import Branch

func = upstream("func")

_Leaves = Callable[[list[Any]], list[Any]]


class custom_vjp:
    """A function whose gradient is what the user says.

        @ipu.custom_vjp
        def clipped(x):
            return np.clip(x, -1, 1)

        clipped.defvjp(lambda x: (clipped(x), ()), lambda kept, ct: (ct,))

    Args:
        fun: takes and gives tensors, nested as they like.
    """

    def __init__(self, fun: Callable[..., Any]) -> None:
        self._fun = fun
        self._rules: tuple[Callable[..., Any], Callable[..., Any]] | None = None
        functools.update_wrapper(self, fun)

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[[Any, Any], Any]) -> None:
        """Say how it is differentiated.

        Args:
            fwd: takes what the function takes; gives a pair of what that gives, and of what ``bwd`` needs.
            bwd: takes that, and cotangents nested as the result; gives a tuple of a cotangent for each argument, None
                for one that has none.
        """
        self._rules = fwd, bwd

    def __call__(self, *args: Any) -> Any:
        """``fun(*args)``.

        Raises:
            TypeError: ``fwd`` or ``bwd`` gives something of another nesting, shape or type, or one of the three uses
                traced tensors from around it.
        """
        trace = current_trace()
        if trace is None or self._rules is None:
            return self._fun(*args)
        rules, self._rules = self._rules, None  # they may call the function itself, which is then as it is written
        try:
            return _Call(trace, self._fun, *rules, args).results()
        finally:
            self._rules = rules


class _Call:
    """A call of a function with a derivative of its own, as three functions of the program."""

    def __init__(
        self,
        trace: Trace,
        fun: Callable[..., Any],
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        args: Sequence[Any],
    ) -> None:
        self._trace = trace
        self._name = getattr(fun, "__name__", "custom_vjp")
        self._taken = [tree(each, f"argument {place}") for place, each in enumerate(args)]
        self._leaves = [leaf for part in self._taken for leaf in part.leaves]
        specs = [spec_of_leaf(leaf) for leaf in self._leaves]
        result = kept = Tree(Branch(tuple, (), ()), ())

        def plain(leaves: list[Any]) -> list[Any]:
            nonlocal result
            result = tree(fun(*self._arguments(leaves)), "result")
            return list(result.leaves)

        def forward(leaves: list[Any]) -> list[Any]:
            nonlocal kept
            pair = fwd(*self._arguments(leaves))
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise TraceTypeError(
                    f"fwd of {self._name} gives {pair!r}; return a pair: the result, and what bwd needs"
                )
            kept = tree(pair[1], "what fwd keeps")
            return [*result.like(pair[0], "what fwd gives").leaves, *kept.leaves]

        self._function, self._specs = self._made("", specs, plain)
        there, given = self._made("_forward", specs, forward)
        if given[: len(self._specs)] != self._specs:
            raise TraceTypeError(f"fwd of {self._name} gives {listed(given)}, and the function {listed(self._specs)}")
        cotangents = [spec for spec in self._specs if is_made_of_floats(spec.dtype)]

        def backward(leaves: list[Any]) -> list[Any]:
            own = map(conjugated, leaves[len(kept.leaves) :])
            nested = result.nested([next(own) if is_made_of_floats(spec.dtype) else None for spec in self._specs])
            return list(self._cotangents(bwd(kept.nested(leaves[: len(kept.leaves)]), nested)))

        back, _ = self._made("_backward", [*given[len(self._specs) :], *cotangents], backward)
        with trace.emit(self._name):
            symbols = {"forward": ir.FlatSymbolRefAttr.get(there), "backward": ir.FlatSymbolRefAttr.get(back)}
            for op in trace.module.body.operations:
                if op.operation.name == "func.func" and op.name.value == self._function:
                    op.operation.attributes["ipu.derivative"] = ir.DictAttr.get(symbols)
        self._result = result

    def results(self) -> Any:
        """What the function gives."""
        values = values_of(self._trace, self._leaves, [spec_of_leaf(leaf) for leaf in self._leaves])
        with self._trace.emit(self._name):
            types = [self._trace.tensor_type(spec.shape, spec.dtype) for spec in self._specs]
            results = func.CallOp(types, self._function, values).operation.results
            pairs = zip(results, self._specs, strict=True)
            return self._result.nested([self._trace.wrap(value, spec.shape, spec.dtype) for value, spec in pairs])

    def _arguments(self, leaves: Sequence[Any]) -> list[Any]:
        each = iter(leaves)
        return [part.nested([next(each) for _ in part.leaves]) for part in self._taken]

    def _cotangents(self, given: Any) -> Iterator[Any]:
        """Of the arguments that are floats."""
        if not isinstance(given, tuple) or len(given) != len(self._taken):
            raise TraceTypeError(
                f"bwd of {self._name} gives {given!r}; return a tuple of a cotangent for each of its "
                f"{len(self._taken)} arguments, None for one that has none"
            )
        for place, (part, each) in enumerate(zip(self._taken, given, strict=True)):
            wanted = [spec_of_leaf(leaf) for leaf in part.leaves]
            leaves = [None] * len(wanted) if each is None else part.like(each, f"cotangent {place}").leaves
            for leaf, spec in zip(leaves, wanted, strict=True):
                if not is_made_of_floats(spec.dtype):
                    continue
                if leaf is None:
                    leaf = np.zeros(spec.shape, spec.dtype)
                if spec_of_leaf(leaf) != spec:
                    raise TraceTypeError(
                        f"bwd of {self._name} gives {spec_of_leaf(leaf)} for argument {place}, which is {spec}"
                    )
                yield conjugated(leaf)

    def _made(self, behind: str, specs: Sequence[TensorSpec], give: _Leaves) -> tuple[str, list[TensorSpec]]:
        """The name of a new function of the program, and what it gives."""
        made = private_function(self._trace, f"{self._name}{behind}", specs, give)
        if made.captured:
            raise TraceTypeError(
                f"custom_vjp of {self._name} uses traced tensors from around it; pass them as arguments"
            )
        return made.name, made.specs
