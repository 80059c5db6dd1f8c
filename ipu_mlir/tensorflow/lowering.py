"""From what TensorFlow traces to a module of ours: variables are variables, constants are constants."""

import re
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.func_graph import FuncGraph

from ipu_mlir.compilation.entry import entry_of
from ipu_mlir.compilation.sources import read_module
from ipu_mlir.dialects.analysis.matchers import terminator
from ipu_mlir.dialects.analysis.variables import variables_in
from ipu_mlir.dialects.ipu import AssignOp, ReadOp, VariableOp
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.diagnostics import DiagnosedError
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.dialects.support.scalar_attributes import scalar_attribute
from ipu_mlir.frontends.of_tensorflow.absent_ops import absent_ops_replaced
from ipu_mlir.frontends.of_tensorflow.texts import (
    OUTSIDE,
    as_mlir_reads,
    refuse_arrays_that_grow,
    refuse_slices_from_the_end,
    why,
)
from ipu_mlir.frontends.stablehlo import import_stablehlo
from ipu_mlir.passes.support.value_attributes import set_function_type
from ipu_mlir.tensorflow.custom_calls import is_token
from ipu_mlir.tensorflow.devices import SYSTEM
from ipu_mlir.tensorflow.outside import all_called
from ipu_mlir.tensorflow.random_state import take_over_random_numbers
from ipu_mlir.tensorflow.variables import offloaded, own_handle, tracing, variable_of
from ipu_mlir.tracing.graph import dense_attribute

_ALIAS = re.compile(r"parameter_number = (\d+) : i64\}, output_index = array<i64(?:: (\d+))?>")

_SHARD = re.compile(r"ipu\.shard\.(\d+)")
_ADDED = re.compile(r"\\22pipeline\\22: \\22([^\\]+)\\22")
"""The name of an ``Addition`` in the attributes of a custom call."""


@dataclass(frozen=True)
class Traced:
    """A function of TensorFlow as a module.

    Attributes:
        module: it has an ``ipu.variable`` for each variable that the function has, and takes the other arguments.
        variables: by their names in the module.
        changed: names of those that the function gives values.
        outputs: what it gives, as TensorFlow nests it, with specs in the place of tensors.
        ipus: how many IPUs the scopes in it name.
    """

    module: ir.Module
    variables: dict[str, Any]
    changed: tuple[str, ...]
    outputs: Any
    ipus: int


@dataclass(frozen=True)
class Text:
    """A function of TensorFlow as StableHLO; behind its arguments are those for what it captures.

    Attributes:
        text: the module; its function is called main.
        arguments: how many it takes that are not captured.
        variables: TensorFlow's, by the number of their argument.
        constants: values of other arguments, by number.
        updates: by number of a result that is the new value of a variable, the number of the argument of that.
        outputs: what the function gives, as TensorFlow nests it, with specs in the place of tensors.
    """

    text: str
    arguments: int
    variables: dict[int, Any]
    constants: dict[int, Any]
    updates: dict[int, int]
    outputs: Any


class Addition(Protocol):
    """What a program needs in its module besides the function that calls it by name."""

    def insert(self, module: ir.Module) -> int:
        """Add StableHLO to the module of the program, and give the number of IPUs that it needs."""
        ...

    def complete(self, module: ir.Module, names: Mapping[int, str]) -> set[str]:
        """Bring it to its form among linalg on tensors.

        Args:
            names: of variables, by identity.

        Returns:
            The names of the variables that it changes.
        """
        ...


ADDITIONS: "weakref.WeakValueDictionary[str, Addition]" = weakref.WeakValueDictionary()
"""By the name that programs call it; who has the graph of such a program has them."""


def trace(
    function: Callable[..., Any], specs: Sequence[tf.TensorSpec], name: str, written_in: FuncGraph | None = None
) -> Traced:
    """``function`` of flat tensors as a module.

    Args:
        function: gives tensors.
        specs: what it takes.
        name: what messages call it.
        written_in: the graph that knows the lines of the user, if ``function`` only imports its operations.

    Raises:
        CompileError: XLA cannot compile it; with the line of the user where TensorFlow knows it.
    """
    take_over_random_numbers()
    found = text_of(function, specs, name, written_in)
    module = _parsed(found.text, name)
    additions = [ADDITIONS[each] for each in dict.fromkeys(_ADDED.findall(found.text))]
    ipus = 1 + max(map(int, _SHARD.findall(found.text)), default=0)
    with module.context, ir.Location.unknown():
        module.operation.attributes["sym_name"] = ir.StringAttr.get(name)  # TensorFlow's counts what it has traced
        ipus = max([ipus, *(each.insert(module) for each in additions)])
    import_stablehlo(module.operation)
    names = _names(list(found.variables.values()))
    by_name = {names[id(variable)]: variable for variable in found.variables.values()}
    with module.context, ir.Location.unknown():
        changed = give_state(module, "main", found, names)
        changed |= {name for each in additions for name in each.complete(module, names)}
        _offload(module, by_name)
    return Traced(module, by_name, tuple(name for name in by_name if name in changed), found.outputs, ipus)


def _parsed(text: str, name: str) -> ir.Module:
    try:
        return read_module(text)
    except DiagnosedError as error:
        if "#stablehlo.bounds" not in str(error):
            raise
        raise CompileError(
            f"TensorFlow cannot compile {name}: a tensor has several sizes that depend on data, as where branches give "
            "other shapes; give it one shape"
        ) from error


def text_of(
    function: Callable[..., Any], specs: Sequence[tf.TensorSpec], name: str, written_in: FuncGraph | None = None
) -> Text:
    """``function`` as TensorFlow writes it; arguments and errors are those of ``trace``."""
    wrapper = tf.function(function, jit_compile=True, autograph=False)
    with tracing(), all_called(), absent_ops_replaced():
        concrete = wrapper.get_concrete_function(*specs)
        known = {id(own_handle(each)): each for each in concrete.graph.variables}
        captured = {len(specs) + place: outside for place, (outside, _) in enumerate(concrete.graph.captures)}
        for each in captured.values():
            if (variable := variable_of(each)) is not None:  # that ops read by the handle alone
                known[id(each)] = variable
            if each.dtype == tf.resource and id(each) not in known:
                raise CompileError(
                    f"TensorFlow cannot compile {name}, which uses a table or another resource of the host; "
                    "look it up before, as in dataset.map"
                )
        refuse_arrays_that_grow(concrete.graph, name, written_in or concrete.graph)
        try:
            text = wrapper.experimental_get_compiler_ir(*specs)(stage="stablehlo")
        except (ValueError, tf.errors.OpError) as error:
            raise CompileError(
                f"TensorFlow cannot compile {name}: {why(error, written_in or concrete.graph, OUTSIDE)}"
            ) from error
    refuse_slices_from_the_end(text, concrete.graph, name, written_in or concrete.graph)
    text = as_mlir_reads(text, written_in or concrete.graph)
    outputs = concrete.structured_outputs
    count = len([each for each in tf.nest.flatten(outputs, expand_composites=True) if each is not None])
    tokens = {place for place, each in captured.items() if is_token(known.get(id(each)))}
    variables = {
        place: known[id(each)] for place, each in captured.items() if id(each) in known and place not in tokens
    }
    constants = {place: each.numpy() for place, each in captured.items() if id(each) not in known}
    aliases = {int(number or 0): int(place) for place, number in _ALIAS.findall(text.partition("func.func")[0])}
    updates = {number: place for number, place in aliases.items() if number >= count}
    constants.update(dict.fromkeys(tokens, np.int32(0)))
    return Text(text, len(specs), variables, constants, updates, tf.nest.map_structure(_spec, outputs))


def _spec(leaf: Any) -> Any:
    if isinstance(leaf, tf.IndexedSlices | tf.RaggedTensor | tf.SparseTensor):
        return tf.type_spec_from_value(leaf)
    return tf.TensorSpec(leaf.shape, leaf.dtype) if isinstance(leaf, tf.Tensor) else leaf


def _names(variables: Sequence[Any]) -> dict[int, str]:
    """Names for variables, by their identity: TensorFlow's, with a number where several have one."""
    names: dict[int, str] = {}
    for variable in variables:
        if variable is None or id(variable) in names:
            continue
        base = name = str(getattr(variable, "path", None) or variable.name).removesuffix(":0")
        number = 1
        while name in names.values():
            number += 1
            name = f"{base}_{number}"
        names[id(variable)] = name
    return names


def _offload(module: ir.Module, variables: dict[str, Any]) -> None:
    """Mark variables that lie in remote memory, unless they are too small for it; the host gives them their values."""
    least = 128 if SYSTEM.config is None else SYSTEM.config.optimizations.minimum_remote_tensor_size
    for name, op in variables_in(module.operation).items():
        is_cut = offloaded(variables.get(name))
        if is_cut is None or variables[name].dtype.size * variables[name].shape.num_elements() < least:
            continue
        kind = ir.RankedTensorType(ir.TypeAttr(op.attributes["type"]).value)
        op.attributes["init"] = ir.DenseElementsAttr.get_splat(kind, scalar_attribute(kind.element_type, 0))
        for mark in ("offload", "partition") if is_cut else ("offload",):
            op.attributes[mark] = ir.UnitAttr.get()


def give_state(
    module: ir.Module, entry: str, of: Text, names: Mapping[int, str], first: Sequence[int] = ()
) -> set[str]:
    """Let arguments of a function be variables and constants, and results the new values of variables.

    A result that nobody has goes. Gives the names of the variables that the function changes.

    Args:
        entry: the name of the function, which is that of the text ``of``.
        names: of variables, by identity.
        first: numbers of arguments that stay, before those that are not captured.
    """
    function = entry_of(module, entry)
    block = function.regions[0].blocks[0]
    number = len(block.arguments)
    read = {place: names[id(variable)] for place, variable in of.variables.items() if place not in first}
    if number <= max([*of.variables, *of.constants], default=-1):
        raise CompileError("TensorFlow made a value that the function captures part of the program; pass it to it")
    declared = set(variables_in(module.operation))
    with ir.InsertionPoint.at_block_begin(module.body):
        for place, name in read.items():
            if name not in declared:
                declared.add(name)
                kind = ir.TypeAttr.get(block.arguments[place].type)
                VariableOp(sym_name=ir.StringAttr.get(name), type=kind)
    for place in (*first, *range(of.arguments)):
        own = block.add_argument(block.arguments[place].type, block.arguments[place].location)
        block.arguments[place].replace_all_uses_with(own)
    with ir.InsertionPoint.at_block_begin(block):
        for place, name in read.items():
            kind = block.arguments[place].type
            found = ReadOp(variable=ir.FlatSymbolRefAttr.get(name), value=kind)
            block.arguments[place].replace_all_uses_with(found.operation.results[0])
        for place, array in of.constants.items():
            kind = block.arguments[place].type
            value = dense_attribute(np.asarray(array), kind)
            made = ir.Operation.create("arith.constant", [kind], attributes={"value": value})
            block.arguments[place].replace_all_uses_with(made.results[0])
    for place in reversed(range(number)):
        block.erase_argument(place)
    updates = {number: read.get(place) for number, place in of.updates.items()}
    end = terminator(block)
    kept = [value for number, value in enumerate(end.operands) if number not in updates]
    with ir.InsertionPoint(end):
        for number, name in updates.items():
            if name is None:
                continue
            AssignOp(variable=ir.FlatSymbolRefAttr.get(name), value=end.operands[number])
        ir.Operation.create("func.return", [], kept, loc=end.location)
    end.erase()
    set_function_type(function)
    for attribute in ("arg_attrs", "res_attrs"):
        if attribute in function.attributes:
            del function.attributes[attribute]
    return {name for name in updates.values() if name is not None}
