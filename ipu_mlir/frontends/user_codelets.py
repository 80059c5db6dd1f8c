"""``ipu.codelet``: vertex code of one's own in Python, for tensors of every front end."""

import functools
import hashlib
import importlib
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.codelets.codelet import CodeletCall, LibraryCodelet
from ipu_mlir.dialects.codelets.library import LIBRARY, register
from ipu_mlir.dialects.codelets.signature import Shapes, Signature
from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.size_arithmetic import Size, per_worker, product_over
from ipu_mlir.dialects.mapping.loops import IntArray
from ipu_mlir.tracing.codelets import apply_codelet
from ipu_mlir.tracing.control.custom_gradients import custom_vjp
from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.operands import trace_of

Array = np.ndarray[Any, Any]
Formula = Callable[..., Size] | int
Rule = Callable[[Sequence[Any], Sequence[Any], Sequence[Any]], Sequence[Any]]

_SIGNATURE = re.compile(r"(\s|[a-z]\d?(?![a-z\d])|,)+->(\s|[a-z]\d?(?![a-z\d])|,)*")

_CALLERS = {
    "jax": "ipu_mlir.frontends.of_jax.codelets",
    "jaxlib": "ipu_mlir.frontends.of_jax.codelets",
    "torch": "ipu_mlir.frontends.aten.codelets",
    "tensorflow": "ipu_mlir.frontends.of_tensorflow.codelets",
}
"""By the package of a tensor, the module whose ``call`` calls a codelet with such tensors."""


class codelet:
    """A function of arrays that a vertex computes, for each element of a stack.

        @ipu.codelet("n -> ", cycles=lambda n: 20 + 10 * n, scratch_bytes=lambda n: 4 * n)
        def median(row):
            return np.median(row)

        median(x)  # of a tensor of shape (..., n): one of shape (...)

    It takes tensors of traced functions, and of functions of JAX, PyTorch and TensorFlow that are compiled; arrays, and
    tensors of which the framework knows the values, the host computes at once.

    Args:
        signature: the last dimensions of inputs and outputs by name, as in ``"n k, k -> n"``; those before them are
            of the stack, and of one shape. A name is a letter, and maybe a digit, which tells dimensions of one size
            apart; each output has those of inputs.
        cycles: that a worker takes for one element of the stack, a number, or a function of the sizes by their letters.
            The workers of a tile share its elements.
        scratch_bytes: that a vertex needs besides its operands, likewise.
        code_bytes: of its code.
        vectorised: of whole stacks, for the host; without it the function is called for each element.
        types: of the elements of each output; that of the first input, if it is not given.

    Raises:
        ValueError: ``signature`` is none, or an output has a dimension that no input has.
    """

    def __init__(
        self,
        signature: str,
        *,
        cycles: Formula,
        scratch_bytes: Formula = 0,
        code_bytes: int = 512,
        vectorised: Callable[..., Any] | None = None,
        types: Sequence[Any] | None = None,
    ) -> None:
        self.signature = _parsed(signature)
        self.types = None if types is None else tuple(np.dtype(each) for each in types)
        if self.types is not None and len(self.types) != len(self.signature.outputs):
            raise ValueError(f"there are {len(self.types)} types, and {len(self.signature.outputs)} outputs")
        self._cycles, self._scratch, self._code_bytes, self._whole = cycles, scratch_bytes, code_bytes, vectorised

    def __call__(self, function: Callable[..., Any]) -> "UserCodelet":
        """``function`` as a codelet."""
        return UserCodelet(function, self, self._library_codelet(function))

    def _library_codelet(self, function: Callable[..., Any]) -> LibraryCodelet:
        text = repr((function.__code__.co_code, function.__code__.co_consts, str(self.signature)))
        stem = f"{function.__name__.strip('<>')}_{hashlib.sha256(text.encode()).hexdigest()[:8]}"
        number = sum(name == stem or name.startswith(f"{stem}_") for name in LIBRARY)
        outputs = len(self.signature.outputs)

        def one(*operands: Array) -> tuple[Array, ...]:
            return _as_tuple(function(*operands), outputs, function)

        def stacks(*operands: Array) -> tuple[Array, ...]:
            return self._over_stacks(one, operands)

        def whole(*operands: Array) -> tuple[Array, ...]:
            assert self._whole is not None, "it is asked for where it is"
            found = _as_tuple(self._whole(*operands), outputs, self._whole)
            types = self.dtypes(operands[0].dtype)
            return tuple(np.asarray(each, dtype) for each, dtype in zip(found, types, strict=True))

        made = LibraryCodelet(
            name=f"{stem}_{number}" if number else stem,
            per_tile=stacks,
            vectorised=stacks if self._whole is None else whole,
            cycles=self._cost(self._cycles, is_shared=True),
            scratch_bytes=self._cost(self._scratch, is_shared=False),
            code_bytes=self._code_bytes,
            needs=str(self.signature),
            takes=self.signature.takes,
            signature=self.signature,
            source=f"meaning and cost: {inspect.getsourcefile(function) or 'Python'}, {function.__qualname__}",
        )
        register(made)
        return made

    def dtypes(self, first: Any) -> tuple[np.dtype[Any], ...]:
        """Of the elements of outputs, where that of the first input is ``first``."""
        return self.types or (np.dtype(first),) * len(self.signature.outputs)

    def _over_stacks(self, one: Callable[..., tuple[Array, ...]], operands: Sequence[Array]) -> tuple[Array, ...]:
        """What ``one`` gives for each element of stacks."""
        shapes = result_shapes(self.signature, tuple(each.shape for each in operands))
        assert shapes is not None, "they were compared with the signature"
        made = tuple(np.empty(*each) for each in zip(shapes, self.dtypes(operands[0].dtype), strict=True))
        stack = operands[0].shape[: operands[0].ndim - len(self.signature.inputs[0])]
        for place in np.ndindex(*stack):
            for whole, part in zip(made, one(*(each[place] for each in operands)), strict=True):
                whole[place] = part
        return made

    def _cost(self, formula: Formula, is_shared: bool) -> Callable[[CodeletCall, IntArray, Machine], Size]:
        """Of a vertex, whose loops are those of the stack and then those of the signature."""
        names = [each[0] for each in self.signature.loops]

        def cost(call: CodeletCall, sizes: IntArray, machine: Machine) -> Size:
            stack = sizes.shape[-1] - len(names)
            by_letter = {name: sizes[..., stack + place] for place, name in enumerate(names)}
            found = formula(**by_letter) if callable(formula) else formula
            return per_worker(product_over(sizes, range(stack)), machine) * found if is_shared else found

        return cost


class UserCodelet:
    """A codelet that can be called; see ``ipu.codelet``."""

    def __init__(self, function: Callable[..., Any], declared: codelet, made: LibraryCodelet) -> None:
        self.name, self.declared = made.name, declared
        self._made = made
        self._rule: Rule | None = None
        functools.update_wrapper(self, function)

    def gradient(self, rule: Rule) -> Rule:
        """Say how it is differentiated, as a decorator.

        ``rule(given, found, slopes)`` takes lists of what the codelet took, of what it gave and of cotangents of that,
        and gives a cotangent for each input. It is written for the tensors that the codelet is called with.
        """
        self._rule = rule
        return rule

    def __call__(self, *operands: Any) -> Any:
        """What it gives for stacks: a tensor, or a tuple of several.

        Raises:
            TypeError: the operands are not those of the signature.
        """
        if any(isinstance(each, Symbol) for each in operands):
            return one_or_all(self._traced(operands))
        packages = (type(each).__module__.partition(".")[0] for each in operands)
        caller = next((_CALLERS[each] for each in packages if each in _CALLERS), None)
        if caller is None:
            return one_or_all(self.on_host(*map(np.asarray, operands)))
        return one_or_all(importlib.import_module(caller).call(self, operands))

    def on_host(self, *operands: Array) -> tuple[Array, ...]:
        """What it gives for arrays."""
        self.results([each.shape for each in operands], operands[0].dtype)
        assert self._made.vectorised is not None, "codelets of users have a fast form"
        return self._made.vectorised(*operands)

    def results(self, shapes: Sequence[Any], dtype: Any) -> list[tuple[tuple[int, ...], np.dtype[Any]]]:
        """The shapes and types of what it gives for operands of these shapes, the first one of which has this type."""
        signature, shapes = self.declared.signature, tuple(map(tuple, shapes))
        made = result_shapes(signature, shapes)
        if made is not None and signature.takes(shapes, made):
            return list(zip(made, self.declared.dtypes(dtype), strict=True))
        raise TypeError(f"{self.__name__} needs {signature}; it was given {', '.join(map(str, map(list, shapes)))}")

    def cotangents(self, given: Sequence[Any], found: Sequence[Any], slopes: Sequence[Any]) -> list[Any]:
        """What its gradient gives.

        Raises:
            TypeError: nobody has said how it is differentiated.
        """
        if self._rule is None:
            raise TypeError(f"{self.__name__} has no gradient: say it by @{self.__name__}.gradient")
        return list(self._rule(list(given), list(found), list(slopes)))

    def _traced(self, operands: Sequence[Any]) -> tuple[Any, ...]:
        trace = trace_of(operands)
        operands = [each if isinstance(each, Symbol) else trace.constant(np.asarray(each)) for each in operands]
        types = [dtype for _, dtype in self.results([each.shape for each in operands], operands[0].dtype)]

        def plain(*given: Any) -> tuple[Any, ...]:
            return apply_codelet(self.__name__, self.name, *given, types=types)

        if self._rule is None:
            return plain(*operands)

        def forward(*given: Any) -> Any:
            found = plain(*given)
            return found, (given, found)

        def backward(kept: Any, slopes: Any) -> Any:
            given, found = kept
            return tuple(self.cotangents(given, found, slopes))

        whole = custom_vjp(plain)
        whole.defvjp(forward, backward)
        return whole(*operands)


def result_shapes(signature: Signature, inputs: Shapes) -> Shapes | None:
    """The shapes of outputs for inputs of these shapes; None where these have too few dimensions, or are too few."""
    sizes: dict[str, int] = {}
    if len(inputs) != len(signature.inputs):
        return None
    for shape, names in zip(inputs, signature.inputs, strict=True):
        if len(shape) < len(names):
            return None
        sizes.update(zip((each[0] for each in names), shape[len(shape) - len(names) :], strict=True))
    stack = inputs[0][: len(inputs[0]) - len(signature.inputs[0])]
    return tuple((*stack, *(sizes[each[0]] for each in names)) for names in signature.outputs)


def one_or_all(found: Sequence[Any]) -> Any:
    """A single result, or a tuple of several."""
    return found[0] if len(found) == 1 else tuple(found)


def _parsed(text: str) -> Signature:
    if not _SIGNATURE.fullmatch(text):
        raise ValueError(f"{text!r} is no signature; one is 'n k, k -> n', of letters that a digit may follow")
    signature = Signature.parse(text)
    known = {name[0] for names in signature.inputs for name in names}
    for name in signature.loops:
        if name[0] not in known:
            raise ValueError(f"{text!r} has an output with {name!r}, which is no dimension of an input")
    return signature


def _as_tuple(found: Any, number: int, function: Any) -> tuple[Array, ...]:
    results = tuple(found) if isinstance(found, list | tuple) else (found,)
    if len(results) != number:
        raise TypeError(f"{function.__name__} gives {len(results)} results, and its signature names {number}")
    return tuple(map(np.asarray, results))
