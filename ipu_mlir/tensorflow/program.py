"""A function of TensorFlow, compiled for the shapes of its arguments, with the variables that it shares."""

import logging
import threading
import time
from collections.abc import Callable, Collection, Hashable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.func_graph import FuncGraph

from ipu_mlir.compilation.lowering import Lowering, plan_lowering
from ipu_mlir.dialects.analysis.loop_nest import is_structured, loop_nest
from ipu_mlir.dialects.analysis.pipelines import PIPELINE
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError, RunError
from ipu_mlir.passes.core.pipeline_steps import replace_pass
from ipu_mlir.passes.normalize.widen_sums import WidenSums
from ipu_mlir.passes.placement.partition.partition import Partition
from ipu_mlir.passes.placement.use_io_tiles import UseIoTiles
from ipu_mlir.passes.programs.merge_collectives import MergeCollectives
from ipu_mlir.passes.programs.merge_remote_buffers import MergeRemoteBuffers
from ipu_mlir.passes.programs.set_float_modes import STATE, SetFloatModes
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.runtime.engine.one_thread import ONE_THREAD
from ipu_mlir.runtime.engine.remote import RemoteMemory
from ipu_mlir.runtime.engine.state import RemoteCell, State
from ipu_mlir.runtime.translator.translation import RemoteSpec
from ipu_mlir.tensorflow import tables
from ipu_mlir.tensorflow.artefacts import Report, executable_of
from ipu_mlir.tensorflow.devices import Device
from ipu_mlir.tensorflow.errors import as_invalid_argument
from ipu_mlir.tensorflow.feeds import connect
from ipu_mlir.tensorflow.lowering import Traced, trace
from ipu_mlir.tensorflow.random_state import rounding_cell
from ipu_mlir.tensorflow.variables import resident

_LOG = logging.getLogger("ipu_mlir.tensorflow")
_SMALL = 16
"""Elements of an argument that may be a shape, an axis or a number of iterations."""
_ON_ONE_THREAD = 1 << 24
"""Terms of the largest product of a program for which BLAS has one thread.

Two are at most 1.4 times as fast on 6M terms. While TensorFlow reads data on a core, one waits for the other, 100 times
as long as the product takes.
"""
_CONSTANT_NEEDED = (
    "must be a compile-time constant",
    "a size that depends on data",
    "requires a fixed tensor list size",
)
"""What errors say where a shape depends on an argument, or the iterations of a loop that a gradient goes through."""


class Program:
    """A function that takes flat tensors and gives what it nests as TensorFlow does.

    Attributes:
        executable: what runs.
        variables: TensorFlow's, that it uses.
        residents: those on the device, each with the memory in which the program has it.
        changed: those that a run changes.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        specs: Sequence[tf.TensorSpec],
        device: Device,
        name: str,
        written_in: FuncGraph | None = None,
    ) -> None:
        """Trace and compile ``function``.

        Args:
            function: of flat tensors.
            specs: what it takes.
            device: that it is for.
            name: what messages call it.
            written_in: the graph that knows the lines of the user, if ``function`` only imports its operations.

        Raises:
            CompileError: TensorFlow cannot compile it, or we cannot; a ``tf.errors.InvalidArgumentError`` as well.
        """
        begun = time.perf_counter()
        try:
            traced = trace(function, specs, name, written_in)
            products = _largest_product(traced.module)
            recomputes = device.recomputing and not list_ops(
                traced.module.operation, PIPELINE
            )  # those say it of stages
            lowering = _lowering(device, traced.ipus, recomputes)
            assert lowering.target is not None, "programs of a device are for its machine"
            self.executable = executable = executable_of(traced.module, lowering, device, name)
        except CompileError as error:
            raise as_invalid_argument(error) from error.__cause__
        self._name, self._connection = name, device.connection
        self._outputs = traced.outputs
        self.variables = tuple(traced.variables.values())
        rows = [spec for spec in executable.engine.remote if spec.is_variable]
        forms = {form.name: form for form in (*executable.engine.variables, *rows)}
        used = {name: resident(variable) for name, variable in traced.variables.items() if name in forms}
        cells = {name: each.cell_for(forms[name]) for name, each in used.items()}
        if (rounding := forms.get(STATE)) is not None:
            assert not isinstance(rounding, RemoteSpec), "the state of rounding lies on the device"
            cells[STATE] = rounding_cell(rounding)
        apart = {each for each, cell in cells.items() if cell.variable.replicas} & {*traced.changed}
        _say_replicas(traced, lowering.target, name, apart)
        self.residents = tuple((each, cells[name]) for name, each in used.items())
        self.changed = tuple((used[name], cells[name]) for name in traced.changed if name in used)
        engine = executable.engine
        self._threads = ONE_THREAD if products <= _ON_ONE_THREAD else nullcontext()
        offloaded = {name: cell.buffer for name, cell in cells.items() if isinstance(cell, RemoteCell)}
        self._state = State(
            engine.variables, cells, queues=engine.queues, remote=RemoteMemory(engine.remote, offloaded)
        )
        connect(self._state, device)
        tables.connect(self._state)
        self._report = Report(device.reports, name) if device.reports else None
        if self._report is not None:
            self._report.write(executable.profile())
        self._dtypes = [spec.dtype.as_numpy_dtype for spec in specs]
        shapes = ", ".join(f"{spec.dtype.name}{list(spec.shape)}" for spec in specs)
        _LOG.info("compiled %s(%s) in %.1f s", name, shapes, time.perf_counter() - begun)

    def __call__(self, tensors: Sequence[Any]) -> Any:
        """Run on tensors or arrays; gives tensors, nested as the function nests them.

        Raises:
            RunError: the process never attaches to the device.
        """
        if self._connection in ("PRE_COMPILE", "NEVER"):
            return self._without_device()
        arrays = [_array(each, dtype) for each, dtype in zip(tensors, self._dtypes, strict=True)]
        with self._state.turn:
            for each, cell in self.residents:
                each.bring(cell)
            try:
                with self._threads:
                    results = iter(self._results(arrays))
            finally:
                for each, cell in self.changed:
                    each.changed(cell)
        leaves = tf.nest.flatten(self._outputs, expand_composites=True)
        flat = [_tensor(next(results), leaf) if isinstance(leaf, tf.TensorSpec) else leaf for leaf in leaves]
        return tf.nest.pack_sequence_as(self._outputs, flat, expand_composites=True)

    def values(self) -> dict[str, np.ndarray]:
        """Copies of the values that its variables have now, by the names that it has for them."""
        with self._state.turn:
            for each, cell in self.residents:
                each.bring(cell)
            return self._state.values()

    def _results(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """What a run gives; where reports are wanted, the first one is counted for them."""
        report, self._report = self._report, None
        if report is None:
            return self.executable.engine.run(arrays, self._state)
        entered: dict[str, dict[int, int]] = {}
        results = self.executable.call_counted(self._state, arrays, {}, entered)
        report.write(self.executable.profile_of_run(entered[self.executable.entry]))
        return [results] if isinstance(results, np.ndarray) else list(results)

    def _without_device(self) -> Any:
        """Zeros, and an element of zeros in each outfeed: what a process without a device has of a program."""
        if self._connection == "NEVER":
            raise RunError(
                f"{self._name} is compiled, and cannot run: device_connection.type is NEVER; PRE_COMPILE gives zeros, "
                "ALWAYS and ON_DEMAND run it"
            )
        for queue in self._state.streams.outfeeds.values():
            for place, spec in enumerate(queue.stream.specs):
                queue.put(place, np.zeros(spec.shape, spec.dtype))
            queue.deliver()
        return tf.nest.map_structure(
            lambda leaf: tf.zeros(leaf.shape, leaf.dtype) if isinstance(leaf, tf.TensorSpec) else leaf, self._outputs
        )


class Programs:
    """Functions by what they were called with: each is compiled once for shapes, types and what is no tensor."""

    def __init__(self, says_again: bool = True) -> None:
        """Begin with none; compiling a function again is said in the log, or not."""
        self._says_again = says_again
        self._programs: dict[Hashable, Any] = {}
        self._seen: set[Any] = set()
        self._compiling = threading.RLock()

    def call(
        self,
        function: Callable[..., Any],
        args: Any,
        kwargs: Any,
        device: Device,
        trace_in: Callable[..., Any],
        name: str | None = None,
    ) -> Any:
        """The results of ``function`` for these arguments.

        Args:
            args: tensors, and values that are part of the program.
            trace_in: calls the function while it is traced.
            name: what messages call it.

        Raises:
            CompileError: it cannot be compiled, or an argument is of a type that the device does not have.
        """
        program, tensors = self.find(function, args, kwargs, device, trace_in, name)
        return program(tensors)

    def find(
        self,
        function: Callable[..., Any],
        args: Any,
        kwargs: Any,
        device: Device,
        trace_in: Callable[..., Any],
        name: str | None = None,
    ) -> tuple[Program, list[Any]]:
        """The program that ``call`` runs, and the tensors that it takes."""
        given = (args, kwargs)
        name = name or str(getattr(function, "__name__", type(function).__name__))
        leaves = tf.nest.flatten(given, expand_composites=True)
        at = [place for place, leaf in enumerate(leaves) if _is_tensor(leaf)]
        rest = [_Same(leaf) for leaf in leaves if not _is_tensor(leaf)]
        form = tuple(_signature(leaves[place]) for place in at)
        key = (function, device, _Structure(given), tuple(rest), form)
        constants = self._programs.get((key, "constants"), ())
        if constants:
            key = (key, tuple((place, np.asarray(leaves[place]).tobytes()) for place in constants))
            at = [place for place in at if place not in constants]
        if key not in self._programs:
            with self._compiling:
                if key not in self._programs:  # nor has another thread compiled it by now
                    try:
                        self._programs[key] = self._compile(function, given, leaves, at, device, trace_in, name)
                    except (ValueError, CompileError) as error:
                        small = tuple(place for place in at if _may_be_constant(leaves[place]))
                        if not small or not any(each in str(error) for each in _CONSTANT_NEEDED):
                            raise
                        self._programs[key, "constants"] = small
        found = self._programs.get(key)
        if found is None:
            return self.find(function, args, kwargs, device, trace_in, name)
        return found, [leaves[place] for place in at]

    def _compile(
        self,
        function: Callable[..., Any],
        given: Any,
        leaves: Sequence[Any],
        at: Sequence[int],
        device: Device,
        trace_in: Callable[..., Any],
        name: str,
    ) -> Program:
        for leaf in (leaves[place] for place in at):
            if tf.as_dtype(leaf.dtype) in (tf.string, tf.variant, tf.resource):
                raise CompileError(
                    f"TensorFlow cannot compile {name} for an argument of type {leaf.dtype.name}, which no device "
                    "has; make numbers of it before, as in dataset.map"
                )
        if function in self._seen and self._says_again:
            _LOG.warning("%s is compiled again: its shapes, types or other arguments have changed", name)
        self._seen.add(function)

        def whole(*tensors: Any) -> Any:
            inside = {place for place, leaf in enumerate(leaves) if _is_tensor(leaf)} - set(at)
            filled = [tf.constant(np.asarray(x), x.dtype) if place in inside else x for place, x in enumerate(leaves)]
            for place, tensor in zip(at, tensors, strict=True):
                filled[place] = tensor
            args, kwargs = tf.nest.pack_sequence_as(given, filled, expand_composites=True)
            return trace_in(function, args, kwargs)

        specs = [tf.TensorSpec(*_signature(leaves[place])) for place in at]
        return Program(whole, specs, device, name)


class _Same:
    """A value of a key: numbers and text by what they are, other objects by who they are."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self._plain = value is None or isinstance(value, bool | int | float | str | bytes)

    def __hash__(self) -> int:
        return hash(self.value) if self._plain else id(self.value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Same):
            return NotImplemented
        if self.value is other.value:
            return True
        return self._plain and type(self.value) is type(other.value) and self.value == other.value


class _Structure:
    """The nesting of arguments, as part of a key."""

    def __init__(self, given: Any) -> None:
        self._text = repr(tf.nest.map_structure(_kind, given))

    def __hash__(self) -> int:
        return hash(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Structure) and self._text == other._text


def _kind(leaf: Any) -> Any:
    """How a leaf is nested in itself: ragged and sparse tensors are several."""
    return type(leaf).__name__ if isinstance(leaf, tf.RaggedTensor | tf.SparseTensor | tf.IndexedSlices) else 0


def _is_tensor(leaf: Any) -> bool:
    return isinstance(leaf, tf.Tensor | np.ndarray | np.generic)


def _signature(leaf: Any) -> tuple[tuple[int, ...], tf.DType]:
    return tuple(leaf.shape), tf.as_dtype(leaf.dtype)


def _may_be_constant(leaf: Any) -> bool:
    return np.size(leaf) <= _SMALL and tf.as_dtype(leaf.dtype).is_integer


def _array(value: Any, dtype: Any) -> np.ndarray:
    array = np.asarray(value, dtype=dtype)
    if array.dtype.kind == "c":  # pairs of a real and an imaginary part
        return np.stack([array.real, array.imag], axis=-1)
    return array.view(f"i{array.itemsize}") if array.dtype.kind == "u" else array


def _tensor(result: np.ndarray, spec: tf.TensorSpec) -> tf.Tensor:
    wanted = np.dtype(spec.dtype.as_numpy_dtype)
    if wanted.kind == "c":
        result = (result[..., 0] + 1j * result[..., 1]).astype(wanted)
    result = result if result.ndim == spec.shape.rank else result[0]  # of the first replica
    return tf.constant(result.view(wanted) if wanted.kind == "u" else result, dtype=spec.dtype)


def _largest_product(module: ir.Module) -> int:
    """Terms of the largest contraction or convolution."""
    nests = [loop_nest(op) for op in list_ops(module.operation) if is_structured(op)]
    sums = [nest for nest in nests if nest is not None and nest.num_inputs > 1 and not all(nest.parallel)]
    return max([prod(nest.extents) for nest in sums], default=0)


def _say_replicas(traced: Traced, target: Target, name: str, apart: Collection[str]) -> None:
    """Log that a program has several replicas, and warn where they train apart, giving variables values of their own,
    and where IPUs are idle.
    """
    replicas = target.replicas
    if target.ipus > traced.ipus:
        _LOG.warning(
            "%s uses %d of the %d IPUs of the device, and the others are idle: its largest shard is %d; configure "
            "auto_select_ipus=%d, or a multiple of that for replicas",
            name,
            replicas * traced.ipus,
            replicas * target.ipus,
            traced.ipus - 1,
            traced.ipus,
        )
    if replicas == 1:
        return
    _LOG.info("Automatically replicating %s by a factor of %d: it is for %d IPUs", name, replicas, traced.ipus)
    varying = {each: own for each, own in traced.variables.items() if each in apart and own.trainable}
    trained = [each for each, own in varying.items() if own.dtype.is_floating]
    if trained and list_ops(traced.module.operation, "ipu.dequeue"):
        _LOG.warning(
            "%s runs in %d replicas, as it uses %d of the %d IPUs of the device; each of them changes %s by its own "
            "elements of the infeed, and the host has the values of the first; wrap the optimizer in "
            "CrossReplicaOptimizer, use cross_replica_mean, or configure auto_select_ipus=%d for one replica",
            name,
            replicas,
            traced.ipus,
            replicas * traced.ipus,
            ", ".join(trained[:3]) + (" and others" if len(trained) > 3 else ""),
            traced.ipus,
        )


def _lowering(device: Device, ipus: int, recomputes: bool = False) -> Lowering:
    """The way to programs for ``device`` that need ``ipus`` of its IPUs: as many replicas as there are.

    Of a program for 3 IPUs on a device of 4 there is one, and an IPU of it is idle.
    """
    whole = device.target.ipus
    if ipus > whole:
        raise CompileError(
            f"the program is for {ipus} IPUs, and the device has {whole}; configure auto_select_ipus={ipus}"
        )
    ipus = next(each for each in range(ipus, whole + 1) if whole % each == 0)
    lowering = plan_lowering(
        replace(device.target, ipus=ipus, replicas=whole // ipus),
        outline_layers=device.outlining,
        recompute=1.0 if recomputes else None,
    )
    stages = dict(lowering.stages)
    stages["l1"] = replace_pass(stages["l1"], MergeRemoteBuffers(which=device.remote_merging))
    stages["l1"] = replace_pass(stages["l1"], WidenSums(**dict(device.sums)))
    stages["l1"] = replace_pass(stages["l1"], SetFloatModes(**dict(device.float_modes), scopes=True))
    stages["l2"] = replace_pass(stages["l2"], Partition(**dict(device.partition)))
    stages["l2"] = replace_pass(stages["l2"], UseIoTiles(proportion=device.io_proportion))
    stages["l3"] = replace_pass(stages["l3"], MergeCollectives(**dict(device.merging)))
    return replace(lowering, stages=stages)
