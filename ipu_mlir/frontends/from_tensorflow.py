"""TensorFlow: functions of tensors, and models of Keras on TensorFlow, whose variables are constants of the program."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from ipu_mlir.dialects.support.arguments import as_argument, check_constant
from ipu_mlir.dialects.support.errors import CompileError, RunError
from ipu_mlir.frontends.of_tensorflow.absent_ops import absent_ops_replaced
from ipu_mlir.frontends.of_tensorflow.sizes_of_results import Cut, cut, with_sizes_of_results
from ipu_mlir.frontends.of_tensorflow.texts import (
    as_mlir_reads,
    refuse_arrays_that_grow,
    refuse_slices_from_the_end,
    why,
)
from ipu_mlir.frontends.table import Imported, OpenProgram
from ipu_mlir.specs.specs import TensorSpec

_ALIAS = re.compile(r"parameter_number = (\d+) : i64\}, output_index = array<i64(?:: (\d+))?>")
"""An argument, a variable, and the result that is its new value."""

_COMPOSITES = (tf.IndexedSlices, tf.RaggedTensor, tf.SparseTensor)
"""What stands for several tensors."""


@dataclass(frozen=True)
class TensorFlowCall:
    """Arguments and results of a TensorFlow function, as ``tf.nest`` flattens them.

    Attributes:
        structure: the arguments, positional and by name, as specs and values that are part of the program.
        results: the results, as specs; rows of gradients of tables have one of their own, of several tensors.
        captured: values that the function takes besides its arguments: constants and variables, read when it runs.
        changed: the variables that it assigns; their new values follow the results.
        cuts: results that are as large as values say; their sizes follow all others.
    """

    structure: Any
    results: Any
    captured: tuple[Any, ...]
    changed: tuple[tf.Variable, ...] = ()
    cuts: tuple[Cut, ...] = ()

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[np.ndarray]:
        """The flat inputs of a call.

        Raises:
            RunError: the arguments are not nested as those that the program was compiled for.
        """
        given = (tuple(args), dict(kwargs))
        try:
            tf.nest.assert_same_structure(self.structure, given)
        except (TypeError, ValueError) as error:
            raise RunError(f"the arguments are not those that the program was compiled for: {error}") from error
        own = []
        for place, (value, known) in enumerate(
            zip(tf.nest.flatten(given), tf.nest.flatten(self.structure), strict=True)
        ):
            if isinstance(known, tf.TensorSpec):
                dtype = np.dtype(known.dtype.as_numpy_dtype)
                own.append(_parts(as_argument(value, tuple(known.shape), dtype, f"leaf {place} of the arguments")))
            elif not isinstance(known, tf.TypeSpec):
                check_constant(value, known, f"leaf {place} of the arguments")
        return [*own, *(_parts(np.asarray(each, dtype=each.dtype.as_numpy_dtype)) for each in self.captured)]

    def taken(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The leaves of the arguments, of any kind, that the program takes."""
        pairs = zip(tf.nest.flatten((tuple(args), dict(kwargs))), tf.nest.flatten(self.structure), strict=True)
        return [leaf for leaf, known in pairs if isinstance(known, tf.TensorSpec)]

    def unflatten(self, results: Sequence[np.ndarray]) -> tuple[Any, list[tf.Tensor]]:
        """The results as tensors, nested as the function has them, and the new values of the variables."""
        leaves = tf.nest.flatten(self.results, expand_composites=True)
        rest = iter(cut(results, self.cuts))
        values = [_tensor(next(rest), leaf) if isinstance(leaf, tf.TensorSpec) else leaf for leaf in leaves]
        following = [_tensor(result, each) for result, each in zip(rest, self.changed, strict=True)]
        return tf.nest.pack_sequence_as(self.results, values, expand_composites=True), following

    def give_back(self, found: tuple[Any, list[tf.Tensor]], _: Sequence[Any], __: Mapping[str, Any]) -> Any:
        """The results, of what ``unflatten`` has given; the variables have their new values then."""
        results, following = found
        for each, value in zip(self.changed, following, strict=True):
            each.assign(value)
        return results

    @property
    def result_names(self) -> list[str]:
        """The numbers of the tensors, the names of the variables, and of what sizes there are."""
        leaves = tf.nest.flatten(self.results, expand_composites=True)
        tensors = [each for each in leaves if isinstance(each, tf.TensorSpec)]
        names = [*(f"result{place}" for place, _ in enumerate(tensors)), *(each.name for each in self.changed)]
        return [*names, *(f"size {axis} of {names[place]}" for place, axis in self.cuts)]


def _parts(array: np.ndarray) -> np.ndarray:
    """An array as the program takes it: its integers have no sign, and its complex numbers are pairs."""
    if array.dtype.kind == "c":
        return np.ascontiguousarray(array).reshape(-1).view(f"f{array.itemsize // 2}").reshape(*array.shape, 2)
    return array.view(f"i{array.itemsize}") if array.dtype.kind == "u" else array


def _tensor(result: np.ndarray, spec: tf.TensorSpec | tf.Variable) -> tf.Tensor:
    wanted = np.dtype(spec.dtype.as_numpy_dtype)
    if wanted.kind == "c":
        return tf.constant(np.ascontiguousarray(result).view(wanted)[..., 0])
    return tf.constant(result.view(wanted) if wanted.kind == "u" else result, dtype=spec.dtype)


def import_program(source: Any, args: Any, kwargs: Mapping[str, Any]) -> Imported:
    """A ``tf.function``, a plain function or a Keras model for ``args``.

    Raises:
        CompileError: XLA cannot compile the function.
    """
    if args is None:
        raise CompileError(f"{source!r} is traced for given shapes; pass args=[tf.TensorSpec(...), ...]")
    structure = tf.nest.map_structure(_spec, (tuple(args), dict(kwargs)))
    leaves = tf.nest.flatten(structure)
    if composite := next(
        (leaf for leaf in leaves if isinstance(leaf, tf.TypeSpec) and type(leaf) is not tf.TensorSpec), None
    ):
        raise CompileError(f"{_name(source)} takes a {composite.value_type.__name__}; give its tensors one by one")
    function = getattr(source, "python_function", source)

    def flat(*given: tf.Tensor) -> Any:
        rest = iter(given)
        whole = [next(rest) if isinstance(leaf, tf.TensorSpec) else leaf for leaf in leaves]
        positional, named = tf.nest.pack_sequence_as(structure, whole)
        return function(*positional, **named)

    compiled = tf.function(flat, jit_compile=True, autograph=not _is_keras(source))
    specs = [leaf for leaf in leaves if isinstance(leaf, tf.TensorSpec)]
    if not any(each.shape.rank is None or None in each.shape for each in specs):
        return _traced(compiled, specs, structure, _name(source))
    if unranked := [str(each) for each in specs if each.shape.rank is None]:
        raise CompileError(
            f"{_name(source)} is for tensors of any rank: {', '.join(unranked)}; say how many dimensions"
        )

    def for_sizes(sizes: Sequence[int]) -> Imported:
        rest = iter(sizes)
        known = [tf.TensorSpec([next(rest) if n is None else n for n in each.shape], each.dtype) for each in specs]
        return _traced(compiled, known, structure, _name(source))

    inputs = tuple((tuple(each.shape), f"{each.dtype.name}{each.shape}") for each in specs)
    return Imported(OpenProgram(inputs, for_sizes), TensorFlowCall(structure, None, ()))


def _traced(compiled: Any, specs: Sequence[tf.TensorSpec], structure: Any, name: str) -> Imported:
    """A function on flat tensors, for ``specs``, whose sizes are known."""
    graph: Any = None
    try:
        with absent_ops_replaced():
            concrete = compiled.get_concrete_function(*specs)
            graph = concrete.graph
            refuse_arrays_that_grow(graph, name, graph)
            text = compiled.experimental_get_compiler_ir(*specs)(stage="stablehlo")
    except (TypeError, ValueError, tf.errors.OpError) as error:
        said = error if graph is None else why(error, graph)
        raise CompileError(f"TensorFlow cannot compile {name}: {said}") from error
    variables = {id(each.handle): each for each in concrete.graph.variables}
    captured = tuple(variables.get(id(outside), outside) for outside, _ in concrete.graph.captures)
    aliases = _ALIAS.findall(text.partition("func.func")[0])
    changed = tuple(
        captured[int(argument) - len(specs)] for argument, _ in sorted(aliases, key=lambda each: int(each[1] or 0))
    )
    results = tf.nest.map_structure(_spec, concrete.structured_outputs)
    refuse_slices_from_the_end(text, graph, name, graph)
    program, cuts = with_sizes_of_results(as_mlir_reads(text, graph))
    return Imported(program, TensorFlowCall(structure, results, captured, changed, cuts))


def _spec(leaf: Any) -> Any:
    """What TensorFlow traces for a leaf of the arguments: a spec for arrays; others are part of the program."""
    if isinstance(leaf, tf.TypeSpec):
        return leaf
    if isinstance(leaf, _COMPOSITES):
        return tf.type_spec_from_value(leaf)
    if isinstance(leaf, TensorSpec | np.ndarray | np.generic) or hasattr(leaf, "dtype"):
        return tf.TensorSpec(leaf.shape, leaf.dtype)
    return leaf


def _is_keras(source: Any) -> bool:
    return any(kind.__module__.partition(".")[0] == "keras" for kind in type(source).__mro__)


def _name(source: Any) -> str:
    return getattr(source, "__name__", None) or type(source).__name__
