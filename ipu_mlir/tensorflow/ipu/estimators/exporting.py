"""Model functions as models of TensorFlow on disk."""

import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.ipu.estimators.settings import EVALUATE, PREDICT, TRAIN

tf1 = tf.compat.v1
_TAGS = {TRAIN: "train", EVALUATE: "eval", PREDICT: "serve"}
_SIGNATURES = {TRAIN: "train", EVALUATE: "eval", PREDICT: "serving_default"}


def export_models(
    base: Any,
    receivers: Mapping[str, Any],
    outputs: Callable[[str, Any, Any], Any],
    checkpoint: str | None,
    assets: Mapping[str, str] | None,
    as_text: bool,
) -> bytes:
    """Write a model with a graph for each mode into a new folder of ``base``, and give its path.

    Args:
        receivers: by mode, functions that give what a model takes from outside and the features that it makes of it.
        outputs: the tensors that a mode gives for features and labels, by name.
        checkpoint: the values of the variables.
        assets: files to copy, by their names in the folder ``assets.extra`` of the model.

    Raises:
        ValueError: a receiver function is None, a mode gives nothing, or there is no checkpoint.
    """
    for mode, receiver in receivers.items():
        if mode not in _TAGS:
            raise ValueError(f"{mode!r} is no mode; expected one of {', '.join(map(repr, _TAGS))}")
        if receiver is None:
            raise ValueError(f"there is no receiver function for the mode {mode!r}; give one that names its inputs")
    if checkpoint is None:
        raise ValueError("there is no checkpoint to export; train first, or give checkpoint_path")
    folder = _new_folder(Path(_text(base)))
    builder = tf1.saved_model.Builder(str(folder))
    for number, (mode, receiver) in enumerate(receivers.items()):
        with tf.Graph().as_default(), tf1.Session() as session:
            tf1.train.get_or_create_global_step()
            received = receiver()
            given = outputs(mode, received.features, getattr(received, "labels", None))
            if given is None:
                raise ValueError(f"the model function gives no outputs in the mode {mode!r}; let its spec have some")
            taken = received.receiver_tensors
            signature = tf1.saved_model.predict_signature_def(
                taken if isinstance(taken, dict) else {"input": taken},
                given if isinstance(given, dict) else {"output": given},
            )
            saver = tf1.train.Saver()
            saver.restore(session, checkpoint)
            add = builder.add_meta_graph if number else builder.add_meta_graph_and_variables
            more = [] if number else [session]
            add(*more, [_TAGS[mode]], signature_def_map={_SIGNATURES[mode]: signature}, saver=saver)
    builder.save(as_text)
    for name, source in (assets or {}).items():
        place = folder / "assets.extra" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, place)
    return str(folder).encode()


def _text(path: Any) -> str:
    return path.decode() if isinstance(path, bytes) else str(path)


def _new_folder(base: Path) -> Path:
    """A folder in ``base`` that is not there yet, named for the time in seconds."""
    number = int(time.time())
    while (base / str(number)).exists():
        number += 1
    return base / str(number)
