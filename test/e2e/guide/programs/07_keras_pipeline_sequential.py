# Feature: ipu.keras.PipelineSequential, a list of layers per stage, on two IPUs (guide first edition 4.3.4).
# Correct run: loss falls below half; evaluate is finite and close to the last training loss; predict has 10 columns; a flat list of layers is
# refused with ValueError; prints ok.
from pathlib import Path

import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow import ipu

DIGITS = Path(__file__).resolve().parents[4] / "examples" / "digits" / "digits.npz"

config = ipu.config.IPUConfig()
config.auto_select_ipus = 2
config.configure_ipu_system()

with np.load(DIGITS) as data:
    images = (data["images"].reshape(-1, 64) / 16.0).astype(np.float32)
    labels = data["labels"].astype(np.int32)
dataset = (
    tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(2000, seed=7).batch(8, drop_remainder=True).repeat()
)

strategy = ipu.ipu_strategy.IPUStrategy()
with strategy.scope():
    stages = [
        [tf.keras.layers.Dense(48, activation="relu"), tf.keras.layers.Dense(32, activation="relu")],
        [tf.keras.layers.Dense(10)],
    ]
    model = ipu.keras.PipelineSequential(stages, gradient_accumulation_count=8)
    model.compile(
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), optimizer=tf.keras.optimizers.Adam(0.01)
    )
    history = model.fit(dataset, epochs=3, steps_per_epoch=28)
    losses = history.history["loss"]
    assert len(losses) == 3 and losses[-1] < 0.5 * losses[0], losses

    evaluated = float(np.ravel(model.evaluate(dataset, steps=24))[0])
    assert np.isfinite(evaluated) and evaluated < losses[0]
    rows = tf.data.Dataset.from_tensor_slices(images[:64]).batch(8, drop_remainder=True)
    predicted = np.asarray(model.predict(rows))
    assert predicted.shape == (64, 10)
    assert np.mean(predicted.argmax(axis=1) == labels[:64]) > 0.7

    try:
        ipu.keras.PipelineSequential(
            [tf.keras.layers.Dense(4), tf.keras.layers.Dense(4)], gradient_accumulation_count=8
        )
    except ValueError as error:
        print(f"refused: {error}")
    else:
        raise SystemExit("stages must be lists")
print("ok")
