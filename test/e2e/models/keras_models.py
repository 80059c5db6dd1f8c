"""Models of ``keras.applications``, on small images, without their heads for a thousand classes."""

from typing import Any

import numpy as np
from models.entry import FORWARD, Entry, Program

SIDES = {
    "MobileNetV2": 32,
    "ResNet50": 32,
    "DenseNet121": 32,
    "EfficientNetB0": 32,
    "MobileNetV3Small": 32,
    "NASNetMobile": 32,
    "Xception": 71,
}
TRAINED = ("MobileNetV2",)


def _entry(name: str, side: int) -> Entry:
    def make(kind: str) -> Program:
        import keras
        import tensorflow as tf

        keras.utils.set_random_seed(0)
        small = {"alpha": 0.35} if name == "MobileNetV2" else {}
        model = getattr(keras.applications, name)(
            weights=None, input_shape=(side, side, 3), classes=7, classifier_activation=None, **small
        )
        _fill(model)
        x = np.random.default_rng(0).standard_normal((2, side, side, 3), np.float32)
        if kind == FORWARD:
            return Program(model, (x,), {}, _flat(model(x, training=False)), _flat)
        return Program(*_step(model, tf, x))

    return Entry(
        f"keras {name}", ("keras", "tensorflow"), make, ("forward", "step") if name in TRAINED else ("forward",)
    )


def _fill(model: Any) -> None:
    """Give offsets and statistics of norms numbers with which errors show; at first they are 0 and 1."""
    rng = np.random.default_rng(1)
    for each in model.weights:
        if each.name in ("gamma", "moving_variance"):
            each.assign(rng.uniform(0.5, 1.5, each.shape))
        elif each.name in ("beta", "bias", "moving_mean"):
            each.assign(rng.normal(0, 0.3, each.shape))


def _step(model: Any, tf: Any, x: np.ndarray) -> tuple[Any, ...]:
    """The loss and the gradients of all that is trained."""

    @tf.function
    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y, model(x, training=False), True))
        return loss, tape.gradient(loss, model.trainable_variables)

    given = (x, np.array([1, 5], np.int32))
    return step, given, {}, _flat(step(*given)), _flat


def _flat(nested: Any) -> list[np.ndarray]:
    import tensorflow as tf

    return [np.asarray(each) for each in tf.nest.flatten(nested)]


def entries() -> list[Entry]:
    """All of them, none made yet."""
    return [_entry(name, side) for name, side in SIDES.items()]
