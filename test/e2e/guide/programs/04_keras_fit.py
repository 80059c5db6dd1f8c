# Feature: Keras compile, fit, evaluate, predict inside the strategy scope, steps_per_execution (guide 3.1, 3.2.1).
# Correct run: history has 4 epochs with falling loss; accuracy above 0.9; predict equals the same weights in plain TensorFlow; prints ok.
from pathlib import Path

import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow import ipu

DIGITS = Path(__file__).resolve().parents[4] / "examples" / "digits" / "digits.npz"

config = ipu.config.IPUConfig()
config.auto_select_ipus = 1
config.configure_ipu_system()

with np.load(DIGITS) as data:
    images = (data["images"] / 16.0).astype(np.float32)
    labels = data["labels"].astype(np.int32)
dataset = (
    tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(2000, seed=3).batch(32, drop_remainder=True).repeat()
)

strategy = ipu.ipu_strategy.IPUStrategy()
with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.Input((8, 8)),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(32, activation="relu"),
            tf.keras.layers.Dense(10),
        ]
    )
    model.compile(
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        optimizer=tf.keras.optimizers.Adam(0.01),
        metrics=["accuracy"],
        steps_per_execution=14,
    )
    history = model.fit(dataset, epochs=4, steps_per_epoch=56)
    loss, accuracy = model.evaluate(dataset, steps=56)
    predicted = model.predict(images[:448], batch_size=32)

assert len(history.history["loss"]) == 4
assert history.history["loss"][-1] < history.history["loss"][0]
assert np.isfinite(loss) and accuracy > 0.9
assert predicted.shape == (448, 10)

plain = tf.keras.models.clone_model(model)
plain.set_weights(model.get_weights())
np.testing.assert_allclose(predicted, plain(images[:448], training=False), rtol=1e-3, atol=1e-4)
print("ok")
