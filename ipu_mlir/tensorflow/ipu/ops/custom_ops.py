"""Code of one's own on the device and on the host (guide 21.15.2)."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf
from tensorflow.python.framework.func_graph import FuncGraph

from ipu_mlir.tensorflow.anywhere import anywhere
from ipu_mlir.tensorflow.custom_calls import call
from ipu_mlir.tensorflow.ipu.ops.host_libraries import host_callback
from ipu_mlir.tensorflow.ipu.ops.user_codelets import user_codelet
from ipu_mlir.tensorflow.outside import call_host

_LOG = logging.getLogger("ipu_mlir.tensorflow")

Layer = Callable[[str, list[Any], list[tf.TensorSpec], str, int], list[Any]]
"""From the name of a function, tensors, specs of results, attributes and the index of a gradient to results."""


def codelet_expression_op(vertex_expression: Callable[..., Any], *args: Any) -> Any:
    """An element of the result from an element of each argument; the compiler makes one vertex code of it.

    Gradients go through it as through the operators that it consists of.

    Args:
        vertex_expression: a function of as many arguments, with operators of Python.
        args: tensors of one type, whose shapes broadcast.

    Raises:
        TypeError: no function, arguments of several types, or a result that is no tensor.
        ValueError: shapes that do not broadcast, or an expression that combines elements.
    """
    if not callable(vertex_expression):
        raise TypeError(f"vertex_expression must be a function, got {type(vertex_expression).__name__}")
    given = [tf.convert_to_tensor(each) for each in args]
    if not given:
        raise TypeError("codelet_expression_op takes a tensor for each argument of the expression, got none")
    if len({each.dtype for each in given}) > 1:
        types = ", ".join(each.dtype.name for each in given)
        raise TypeError(f"codelet_expression_op takes tensors of one type, got {types}; cast some of them")
    shape = given[0].shape
    for each in given[1:]:
        shape = tf.broadcast_static_shape(shape, each.shape)

    def computed(*values: Any) -> list[Any]:
        with FuncGraph("of one element").as_default() as graph:
            vertex_expression(*(tf.zeros([], each.dtype) for each in given))
        if combining := [op.type for op in graph.get_operations() if "keep_dims" in op.node_def.attr]:
            raise ValueError(
                "vertex_expression computes an element from one of each argument, and has "
                f"{', '.join(combining)}, which takes several; compute that outside, and give it as an argument"
            )
        found = vertex_expression(*values)
        if isinstance(found, list | tuple | dict) or found is None:
            raise TypeError(f"vertex_expression must give one tensor, got {type(found).__name__}")
        found = tf.convert_to_tensor(found, None if tf.is_tensor(found) else values[0].dtype)
        if not found.shape.is_compatible_with(shape):
            found = tf.broadcast_to(found, shape)
        return [found]

    return anywhere(computed, given, getattr(vertex_expression, "__name__", "expression"))[0][0]


def cpu_user_operation(
    inputs: Any,
    library_path: str,
    outs: Mapping[str, Any] | None = None,
    name: str = "UserOp",
    op_name: str = "Callback",
    separate_gradients: bool = False,
    inputs_with_gradients: Sequence[int] | None = None,
    attributes: str | None = None,
    gradient_attributes: str | None = None,
) -> list[Any]:
    """The outputs of a function of C++ in a shared library, which the host calls in the middle of the program.

    The function ``op_name`` and that of its gradient, ``op_name`` with ``_grad``, are as in this example::

        extern "C" void Callback(const std::vector<const void*>& data, const std::vector<std::uint32_t>& counts,
                                 const std::vector<void*>& outputs, const std::string& attributes,
                                 const std::string& name)

    The data of a gradient are the gradients of the outputs, the outputs, and the inputs. It fills an output for each
    input. With ``separate_gradients`` it is called once for each input and fills one output; a further argument
    ``std::uint32_t input_grad_index`` says which. In a file of Python it is ``Callback(data, outputs, attributes)`` of
    lists of arrays, and a gradient takes the number of the input behind them.

    Args:
        inputs: tensors.
        library_path: of the shared library, or of a file of Python.
        outs: ``output_types`` and ``output_shapes``; if not given, there are no outputs.
        name: of the operation.
        inputs_with_gradients: the numbers of the inputs that have gradients; all if not given.
        attributes: text for the function.
        gradient_attributes: text for the function of the gradient.

    Raises:
        ValueError: the library or a function is not there, or arguments that do not fit.
    """
    library = str(library_path)

    def layer(function: str, operands: list[Any], specs: list[tf.TensorSpec], text: str, index: int) -> list[Any]:
        callback = host_callback(library, function, specs, text, name, index)
        return anywhere(lambda *given: call_host(callback, list(given), specs, op_name), operands, name)[0]

    host_callback(library, op_name, [], "", name, 0)
    return _operation(
        layer, inputs, outs, op_name, separate_gradients, inputs_with_gradients, attributes, gradient_attributes
    )


def precompiled_user_op(
    inputs: Any,
    library_path: str,
    gp_path: str = "",
    outs: Mapping[str, Any] | None = None,
    name: str = "UserOp",
    op_name: str = "Build",
    separate_gradients: bool = False,
    inputs_with_gradients: Sequence[int] | None = None,
    attributes: str | None = None,
    gradient_attributes: str | None = None,
) -> list[Any]:
    """The outputs of vertex code of one's own, from a file of Python, C or C++.

    Here the library says what a vertex computes, and not how vertices are added to a graph: a file of source code,
    which the compiler of the system compiles, or a shared library. In C the function ``op_name`` is::

        void Build(const void *const *inputs, const uint32_t *counts, void *const *outputs, const char *attributes)

    and, in a file of Python, ``Build(inputs, outputs, attributes)`` of lists of arrays. The function of the gradient,
    ``op_name`` with ``_grad``, takes as inputs the gradients of the outputs, the outputs, and the inputs; a last
    argument, in C ``int32_t input_grad_index``, says which gradient it fills if they are separate. Optional are

    - ``Build_cycles``: cycles of a vertex from the numbers of elements of inputs and outputs: in C ``uint64_t
      Build_cycles(const uint32_t *counts)``, in Python a function of a list of numbers. If it is not there, a worker
      takes six cycles for each element (assumption).
    - ``Build_is_elementwise``: if it is not 0, in C an ``int``, inputs and outputs have one size, and vertices on all
      tiles take a part each; otherwise one vertex takes all of it.

    Args:
        inputs: tensors.
        library_path: of the file.
        gp_path: without effect: the file has the code of the vertices.
        outs: ``output_types`` and ``output_shapes``; if not given, there are no outputs.
        name: of the operation.
        inputs_with_gradients: the numbers of the inputs that have gradients; all if not given.
        attributes: text for the function.
        gradient_attributes: text for the function of the gradient.

    Raises:
        ValueError: the file or a function is not there, or arguments that do not fit.
        CompileError: the file cannot be compiled, or there is no compiler.
    """
    if gp_path:
        _LOG.warning("precompiled_user_op: gp_path has no effect, the code of vertices is in %s", library_path)

    def layer(function: str, operands: list[Any], specs: list[tf.TensorSpec], text: str, index: int) -> list[Any]:
        shapes = [tf.TensorSpec(each.shape, each.dtype) for each in operands]
        codelet = user_codelet(str(library_path), function, shapes, specs, text, index)
        flat = [tf.TensorSpec([spec.shape.num_elements()], spec.dtype) for spec in specs]

        def called(*given: Any) -> list[Any]:
            found = call("codelet", [tf.reshape(each, [-1]) for each in given], flat, name=codelet)
            return [tf.reshape(each, spec.shape) for each, spec in zip(found, specs, strict=True)]

        return anywhere(called, operands, name)[0]

    return _operation(
        layer, inputs, outs, op_name, separate_gradients, inputs_with_gradients, attributes, gradient_attributes
    )


def _operation(
    layer: Layer,
    inputs: Any,
    outs: Mapping[str, Any] | None,
    op_name: str,
    separate: bool,
    with_gradients: Sequence[int] | None,
    attributes: str | None,
    gradient_attributes: str | None,
) -> list[Any]:
    """The outputs of a function, whose gradient is another function."""
    tensors = [tf.convert_to_tensor(each) for each in (inputs if isinstance(inputs, list | tuple) else [inputs])]
    specs = _specs(outs)
    text, gradient_text = _text("attributes", attributes), _text("gradient_attributes", gradient_attributes)
    wanted = list(range(len(tensors))) if with_gradients is None else sorted({int(each) for each in with_gradients})
    if any(not 0 <= each < len(tensors) for each in wanted):
        raise ValueError(
            f"inputs_with_gradients is {list(with_gradients or ())}; its numbers are from 0 to {len(tensors) - 1}"
        )
    for each in tensors:
        if not each.shape.is_fully_defined():
            raise ValueError(f"inputs must have known shapes, got {each.shape}; use tf.ensure_shape")
    if not specs:
        layer(op_name, tensors, [], text, 0)
        return []

    @tf.custom_gradient
    def whole(*given: Any) -> Any:
        found = layer(op_name, list(given), specs, text, 0)

        def gradient(*gradients: Any) -> Any:
            operands = [tf.convert_to_tensor(each) for each in gradients] + list(found) + list(given)
            kinds = [tf.TensorSpec(given[place].shape, given[place].dtype) for place in wanted]
            function = f"{op_name}_grad"
            if separate:
                made = [layer(function, operands, [kind], gradient_text, at)[0]
                        for at, kind in zip(wanted, kinds, strict=True)]  # fmt: skip
            else:
                made = layer(function, operands, kinds, gradient_text, 0)
            by_place = dict(zip(wanted, made, strict=True))
            results = [by_place.get(place) if each.dtype.is_floating else None for place, each in enumerate(given)]
            return results[0] if len(results) == 1 else results

        return found, gradient

    return list(whole(*tensors))


def _specs(outs: Mapping[str, Any] | None) -> list[tf.TensorSpec]:
    if outs is None:
        return []
    if not isinstance(outs, Mapping) or set(outs) != {"output_types", "output_shapes"}:
        raise ValueError(
            f"outs must be a dictionary of output_types and output_shapes, got {sorted(outs) if outs else outs}"
        )
    types, shapes = outs["output_types"], outs["output_shapes"]
    if len(types) != len(shapes):
        raise ValueError(
            f"outs has {len(types)} output_types and {len(shapes)} output_shapes; give one of both for each"
        )
    specs = [tf.TensorSpec(shape, dtype) for shape, dtype in zip(shapes, types, strict=True)]
    for each in specs:
        if not each.shape.is_fully_defined():
            raise ValueError(f"output_shapes must be known, got {each.shape}")
    return specs


def _text(what: str, given: str | None) -> str:
    if given is not None and not isinstance(given, str):
        raise ValueError(f"{what} must be a text, got {type(given).__name__}; as json.dumps makes one")
    return given or ""
