# Feature: ipu.keras.PipelineModel, stages by PipelineStage contexts, on two IPUs (guide first edition 4.3.3).
# Correct run: a step consumes batch size x accumulation count samples; loss falls below half in 3 epochs; predict gives one row per sample;
# a layer called outside of any stage is refused; prints ok.
from pathlib import Path

import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow import ipu

DIGITS = Path(__file__).resolve().parents[4] / "examples" / "digits" / "digits.npz"
BATCH, COUNT, STEPS, EPOCHS = 8, 8, 28, 3

config = ipu.config.IPUConfig()
config.auto_select_ipus = 2
config.configure_ipu_system()

with np.load(DIGITS) as data:
    images = (data["images"].reshape(-1, 64) / 16.0).astype(np.float32)
    labels = data["labels"].astype(np.int32)
taken = []


def samples():
    for i in range(10**6):
        taken.append(i)
        yield images[i % 1797], labels[i % 1797]


signature = (tf.TensorSpec((64,), tf.float32), tf.TensorSpec((), tf.int32))
dataset = tf.data.Dataset.from_generator(samples, output_signature=signature).batch(BATCH, drop_remainder=True)

strategy = ipu.ipu_strategy.IPUStrategy()
with strategy.scope():
    inputs = tf.keras.Input((64,))
    with ipu.keras.PipelineStage(0):
        hidden = tf.keras.layers.Dense(48, activation="relu")(inputs)
        hidden = tf.keras.layers.Dense(32, activation="relu")(hidden)
    with ipu.keras.PipelineStage(1):
        outputs = tf.keras.layers.Dense(10)(hidden)
    model = ipu.keras.PipelineModel(inputs=inputs, outputs=outputs, gradient_accumulation_count=COUNT)
    model.compile(
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), optimizer=tf.keras.optimizers.Adam(0.01)
    )
    history = model.fit(dataset, epochs=EPOCHS, steps_per_epoch=STEPS)
    assert len(taken) >= EPOCHS * STEPS * BATCH * COUNT
    losses = history.history["loss"]
    assert len(losses) == EPOCHS and losses[-1] < 0.5 * losses[0], losses
    rows = tf.data.Dataset.from_tensor_slices(images[:64]).batch(BATCH, drop_remainder=True)
    assert np.shape(model.predict(rows)) == (64, 10)

    try:
        ipu.keras.PipelineModel(
            inputs=inputs, outputs=tf.keras.layers.Dense(3)(outputs), gradient_accumulation_count=COUNT
        )
    except ValueError as error:
        print(f"refused: {error}")
    else:
        raise SystemExit("a layer without a stage must be refused")
print("ok")
