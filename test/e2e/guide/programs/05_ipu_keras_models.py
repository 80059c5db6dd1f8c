# Feature: ipu.keras.Model and ipu.keras.Sequential with gradient accumulation (guide first edition 4.3.1, 4.3.2).
# Correct run: both train (loss falls), evaluate and predict; a direct call of either is refused; prints ok.
from pathlib import Path

import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow import ipu

DIGITS = Path(__file__).resolve().parents[4] / "examples" / "digits" / "digits.npz"

config = ipu.config.IPUConfig()
config.auto_select_ipus = 1
config.configure_ipu_system()

with np.load(DIGITS) as data:
    images = (data["images"].reshape(-1, 64) / 16.0).astype(np.float32)
    labels = data["labels"].astype(np.int32)


def batches():
    dataset = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(2000, seed=5)
    return dataset.batch(16, drop_remainder=True).repeat()


def functional():
    inputs = tf.keras.Input((64,))
    hidden = tf.keras.layers.Dense(32, activation="relu")(inputs)
    return ipu.keras.Model(inputs=inputs, outputs=tf.keras.layers.Dense(10)(hidden), gradient_accumulation_count=4)


def sequential():
    layers = [tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(10)]
    return ipu.keras.Sequential(layers, gradient_accumulation_count=4)


def refused(call):
    try:
        call()
    except Exception as error:
        print(f"refused: {error}")
        return True
    return False


strategy = ipu.ipu_strategy.IPUStrategy()
with strategy.scope():
    for create in (functional, sequential):
        model = create()
        model.compile(
            loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            optimizer=tf.keras.optimizers.Adam(0.01),
        )
        history = model.fit(batches(), epochs=3, steps_per_epoch=56)
        losses = history.history["loss"]
        assert len(losses) == 3 and losses[-1] < 0.7 * losses[0], losses
        assert np.all(np.isfinite(model.evaluate(batches(), steps=16)))
        rows = tf.data.Dataset.from_tensor_slices(images[:64]).batch(16, drop_remainder=True)
        assert np.shape(model.predict(rows)) == (64, 10)
        assert refused(lambda model=model: model(images[:16]))
print("ok")
