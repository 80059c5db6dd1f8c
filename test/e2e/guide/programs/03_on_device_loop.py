# Feature: custom training loop on the device: tf.range in a tf.function, iterator as infeed, iterated outfeed (guide 3.3).
# Correct run: 20 executions of 10 steps each give 10 losses back; the mean loss of the last is below half of the first; prints ok.
from pathlib import Path

import numpy as np
import tensorflow as tf

from ipu_mlir.tensorflow import ipu

DIGITS = Path(__file__).resolve().parents[4] / "examples" / "digits" / "digits.npz"

config = ipu.config.IPUConfig()
config.auto_select_ipus = 1
config.configure_ipu_system()


def create_model():
    return tf.keras.Sequential(
        [
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(32, activation="relu"),
            tf.keras.layers.Dense(10),
        ]
    )


def create_dataset():
    with np.load(DIGITS) as data:
        images, labels = data["images"] / 16.0, data["labels"]
    dataset = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(2000, seed=1).batch(32, drop_remainder=True)
    dataset = dataset.map(lambda image, label: (tf.cast(image, tf.float32), tf.cast(label, tf.int32)))
    return dataset.repeat().prefetch(16)


def training_step(images, labels, model, optimizer):
    with tf.GradientTape() as tape:
        logits = model(images, training=True)
        losses = tf.keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True)
        loss = tf.reduce_mean(losses)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function(jit_compile=True)
def training_loop(iterator, steps_per_execution, outfeed, model, optimizer):
    for _ in tf.range(steps_per_execution):  # becomes a loop on the device
        images, labels = next(iterator)
        outfeed.enqueue(training_step(images, labels, model, optimizer))


strategy = ipu.ipu_strategy.IPUStrategy()
with strategy.scope():
    model = create_model()
    optimizer = tf.keras.optimizers.SGD(0.1)
    iterator = iter(create_dataset())
    outfeed = ipu.ipu_outfeed_queue.IPUOutfeedQueue()
    steps_per_execution, means = 10, []
    for _ in range(20):
        strategy.run(training_loop, args=(iterator, steps_per_execution, outfeed, model, optimizer))
        losses = [float(loss) for loss in outfeed]
        assert len(losses) == steps_per_execution
        means.append(sum(losses) / steps_per_execution)
        print(f"training loss {means[-1]:.3f}")

assert means[-1] < 0.5 * means[0]
print("ok")
