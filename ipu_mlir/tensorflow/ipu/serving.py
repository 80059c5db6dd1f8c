"""SavedModels with a program in them (guide 21.11)."""

import inspect
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.applications.saved import read_application
from ipu_mlir.tensorflow.applications.served import call_file
from ipu_mlir.tensorflow.eager import ops_on_host
from ipu_mlir.tensorflow.ipu.ipu_infeed_queue import IPUInfeedQueue
from ipu_mlir.tensorflow.ipu.ipu_outfeed_queue import IPUOutfeedQueue
from ipu_mlir.tensorflow.ipu.loops import repeat
from ipu_mlir.tensorflow.ipu.ops.application_compile_op import experimental_application_compile_op
from ipu_mlir.tensorflow.ipu.pipelining_ops import PipelineSchedule, PipelineStageOptions, pipeline

__all__ = ["export_pipeline", "export_single_step"]

Application = Callable[[IPUInfeedQueue, IPUOutfeedQueue], Any]


def export_single_step(
    predict_step: Callable[..., Any],
    export_dir: str,
    iterations: int,
    predict_step_signature: Sequence[tf.TensorSpec] | None = None,
    input_dataset: tf.data.Dataset | None = None,
    variable_initializer: Callable[[Any], Any] | None = None,
    output_names: str | Sequence[str] | None = None,
    preprocessing_step: Callable[..., Any] | None = None,
    preprocessing_step_signature: Sequence[tf.TensorSpec] | None = None,
    postprocessing_step: Callable[..., Any] | None = None,
    postprocessing_step_signature: Sequence[tf.TensorSpec] | None = None,
    purge_export_dir: bool = False,
    checkpoint_restore_dir: str | None = None,
) -> Any:
    """Compile ``predict_step``, a step of a loop, into a SavedModel; variables have the values that they have now.

    A process that loads the model imports this module before, so that TensorFlow knows what runs the program.

    Args:
        export_dir: a folder that does not exist, or is empty.
        iterations: steps of the loop, which begins again when they are done.
        predict_step_signature: shapes and types of the arguments; or those of the elements of ``input_dataset``, or of
            the ``input_signature`` of the step.
        variable_initializer: of variables in a graph of ``tf.compat.v1``; takes its session.
        output_names: of the results; ``output_0`` and so on by default.
        preprocessing_step: runs on the host, and gives the arguments of the step.
        postprocessing_step: runs on the host, and takes its results.
        purge_export_dir: whether the folder is emptied before.
        checkpoint_restore_dir: where variables of a graph have their values from.

    Returns:
        The function that was exported.

    Raises:
        ValueError: the folder is not empty, a signature is empty, given twice or nowhere, or is not what the step
            before gives; the device takes a shape that is not known; ``iterations`` are below 1.
        TypeError: a signature is no list or tuple of ``tf.TensorSpec``, or the dataset is none.
        CompileError: the step cannot be compiled.
    """
    signature = _signature("predict_step", predict_step, predict_step_signature, input_dataset)

    if iterations < 1:
        raise ValueError(f"iterations must be at least 1, got {iterations}")

    def application(feed: IPUInfeedQueue, results: IPUOutfeedQueue) -> Any:
        def body(*batch: Any) -> Any:
            return results.enqueue(tuple(tf.nest.flatten(predict_step(*batch))))

        return repeat(iterations, body, [], feed)

    steps = _Steps(preprocessing_step, preprocessing_step_signature, postprocessing_step, postprocessing_step_signature)
    where = _Folder(export_dir, purge_export_dir)
    names = _parameters(preprocessing_step or predict_step)
    return _export(
        application, signature, where, steps, output_names, names, variable_initializer, checkpoint_restore_dir
    )


def export_pipeline(
    computational_stages: Sequence[Callable[..., Any]],
    export_dir: str,
    iterations: int,
    inputs: Sequence[Any] | None = None,
    device_mapping: Sequence[int] | None = None,
    pipeline_schedule: PipelineSchedule | None = None,
    poplar_options: Sequence[PipelineStageOptions] | None = None,
    name: str | None = None,
    predict_step_signature: Sequence[tf.TensorSpec] | None = None,
    input_dataset: tf.data.Dataset | None = None,
    variable_initializer: Callable[[Any], Any] | None = None,
    output_names: str | Sequence[str] | None = None,
    preprocessing_step: Callable[..., Any] | None = None,
    preprocessing_step_signature: Sequence[tf.TensorSpec] | None = None,
    postprocessing_step: Callable[..., Any] | None = None,
    postprocessing_step_signature: Sequence[tf.TensorSpec] | None = None,
    purge_export_dir: bool = False,
    checkpoint_restore_dir: str | None = None,
) -> Any:
    """Compile the stages of a pipeline into a SavedModel, as ``export_single_step`` does with a step.

    Args:
        iterations: micro-batches of the pipeline, which begins again when they are done.
        inputs: arguments of the first stage before those of the signature, the same for all batches.
        device_mapping, pipeline_schedule, poplar_options, name: of ``pipelining_ops.pipeline``.

    Raises:
        ValueError, TypeError, CompileError: as of ``export_single_step``.
    """
    signature = _signature("predict_step", computational_stages[0], predict_step_signature, input_dataset)

    def application(feed: IPUInfeedQueue, results: IPUOutfeedQueue) -> Any:
        return pipeline(
            computational_stages,
            iterations,
            inputs=inputs,
            infeed_queue=feed,
            outfeed_queue=results,
            device_mapping=device_mapping,
            pipeline_schedule=pipeline_schedule,
            forward_propagation_stages_poplar_options=poplar_options,
            name=name,
        )

    steps = _Steps(preprocessing_step, preprocessing_step_signature, postprocessing_step, postprocessing_step_signature)
    where = _Folder(export_dir, purge_export_dir)
    names = _parameters(preprocessing_step or computational_stages[0])[0 if preprocessing_step else len(inputs or ()) :]
    return _export(
        application, signature, where, steps, output_names, names, variable_initializer, checkpoint_restore_dir
    )


class _Folder:
    def __init__(self, path: str, purge: bool) -> None:
        self.path = Path(path)
        if purge:
            shutil.rmtree(self.path, ignore_errors=True)
        if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise ValueError(f'Directory "{path}" is not empty. Please specify an empty directory.')


class _Steps:
    """What the host does before and after a program."""

    def __init__(self, before: Any, taken: Any, after: Any, given: Any) -> None:
        self.before, self.after = before, after
        self._taken = None if before is None else _signature("preprocessing_step", before, taken)
        self._given = (
            None if after is None or _known(after, given) is None else _signature("postprocessing_step", after, given)
        )

    def taken(self, signature: Sequence[tf.TensorSpec]) -> Sequence[tf.TensorSpec]:
        """What the whole takes: ``signature``, or what gives that."""
        if self._taken is None:
            return signature
        found = tf.function(self.before).get_concrete_function(*self._taken).structured_outputs
        _refuse_others("preprocessing_step", "predict_step", tf.nest.flatten(found), signature)
        return self._taken

    def check_results(self, results: Sequence[tf.TensorSpec]) -> None:
        if self._given is not None:
            _refuse_others("predict_step", "postprocessing_step", results, self._given)


def _export(
    application: Application, signature: Sequence[tf.TensorSpec], where: _Folder, steps: _Steps, output_names: Any,
    names: Sequence[str], initializer: Any, checkpoint: str | None,
) -> Any:  # fmt: skip
    with ops_on_host(), tempfile.TemporaryDirectory() as folder:
        taken = steps.taken(signature)
        named = [
            tf.TensorSpec(
                spec.shape, spec.dtype, spec.name or (names[place] if place < len(names) else f"input_{place}")
            )
            for place, spec in enumerate(taken)
        ]
        file = str(Path(folder) / "application.poplar_exec")
        _compile(application, signature, file, initializer, checkpoint)
        (results,) = read_application(file).results.values()
        steps.check_results(results)
        module = tf.Module()
        module.file = tf.saved_model.Asset(file)

        def serve(*given: Any) -> dict[str, tf.Tensor]:
            batch = given if steps.before is None else _flat(steps.before(*given))
            found = call_file(module.file.asset_path, batch, results)
            found = found if steps.after is None else _flat(steps.after(*found))
            wanted = [output_names] if isinstance(output_names, str) else output_names
            wanted = wanted or [f"output_{place}" for place in range(len(found))]
            if len(wanted) != len(found):
                raise ValueError(f"output_names has {len(wanted)} names, and the model gives {len(found)} results")
            return dict(zip(wanted, found, strict=True))

        whole: Any = tf.function(serve, input_signature=named, autograph=False)
        module.variables_of_steps = list(whole.get_concrete_function().graph.variables)
        tf.saved_model.save(module, str(where.path), signatures={"serving_default": whole})
        loaded = tf.saved_model.load(str(where.path))
    return loaded.signatures["serving_default"]


def _compile(
    application: Application, signature: Sequence[tf.TensorSpec], file: str, initializer: Any, checkpoint: str | None
) -> None:
    """Write the file of ``application``, with variables of eager mode, or of a graph in which they are given values."""
    for spec in signature:
        if not spec.shape.is_fully_defined():
            raise ValueError(f"predict_step takes {spec.shape}, and is compiled for one size; name each dimension")

    def compiled() -> Any:
        zeros = tuple(tf.zeros(spec.shape, spec.dtype) for spec in signature)
        feed, results = IPUInfeedQueue(tf.data.Dataset.from_tensors(zeros).repeat()), IPUOutfeedQueue()
        whole = lambda: application(feed, results)  # noqa: E731
        return experimental_application_compile_op(whole, output_path=file, freeze_variables=True, name="application")

    if initializer is None and checkpoint is None:
        compiled()
        return
    tf1 = tf.compat.v1
    with tf.Graph().as_default():
        op = compiled()
        with tf1.Session() as session:
            if checkpoint is not None:
                tf1.train.Saver().restore(session, tf.train.latest_checkpoint(checkpoint))
            if initializer is not None:
                initializer(session)
            session.run(op)


def _signature(what: str, step: Any, given: Any, dataset: Any = None) -> Sequence[tf.TensorSpec]:
    if given is not None and dataset is not None:
        raise ValueError(f"Both {what}_signature and input_dataset are given; give one of them.")
    if dataset is not None:
        if not isinstance(dataset, tf.data.Dataset):
            raise TypeError(f"If input_dataset is given, it is a tf.data.Dataset, got {type(dataset).__name__}.")
        given = dataset.element_spec if isinstance(dataset.element_spec, tuple) else (dataset.element_spec,)
    given = _known(step, given)
    if given is None:
        raise ValueError(
            f"{what} is no tf.function with an input_signature, so give {what}_signature"
            + (" or input_dataset." if what == "predict_step" else ".")
        )
    if not isinstance(given, list | tuple):
        raise TypeError(f"{what}_signature is a tuple or a list of tf.TensorSpec, got {type(given).__name__}.")
    if not given:
        raise ValueError(f"{what}_signature is empty; it has a tf.TensorSpec for each argument.")
    for each in given:
        if not isinstance(each, tf.TensorSpec):
            raise TypeError(f"{what}_signature has {each!r} in it; it is a tuple or a list of tf.TensorSpec.")
    return given


def _known(step: Any, given: Any) -> Any:
    return getattr(step, "input_signature", None) if given is None else given


def _refuse_others(before: str, after: str, found: Sequence[Any], wanted: Sequence[tf.TensorSpec]) -> None:
    if len(found) != len(wanted):
        raise ValueError(f"{before} gives {len(found)} tensors, and {after}_signature has {len(wanted)}.")
    for place, (each, spec) in enumerate(zip(found, wanted, strict=True)):
        if each.dtype != spec.dtype or not spec.shape.is_compatible_with(each.shape):
            raise ValueError(
                f"{before} gives {each.dtype.name}{list(each.shape)} at position {place}, and {after}_signature has "
                f"{spec.dtype.name}{list(spec.shape)}."
            )


def _flat(given: Any) -> list[Any]:
    return [tf.convert_to_tensor(each) for each in tf.nest.flatten(given)]


def _parameters(step: Any) -> list[str]:
    function = getattr(step, "python_function", step)
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [each.name for each in inspect.signature(function).parameters.values() if each.kind in plain]
