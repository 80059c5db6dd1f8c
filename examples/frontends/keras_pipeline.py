"""A network of Keras in three stages on three IPUs, beside the same network as a whole.

python examples/frontends/keras_pipeline.py
"""

from pathlib import Path

import keras
import numpy as np

from ipu_mlir.tensorflow import ipu

DIGITS = Path(__file__).parents[1] / "digits" / "digits.npz"


def network(stage: type) -> keras.Model:
    """A network with a connection over the second stage."""
    keras.utils.set_random_seed(0)
    pixels = keras.Input((64,))
    with stage(0):
        hidden = keras.layers.Dense(32, activation="relu", name="hidden")(pixels)
    with stage(1):
        deeper = keras.layers.Dense(32, activation="relu", name="deeper")(hidden)
    with stage(2):
        both = keras.layers.Add(name="both")([hidden, deeper])
        return keras.Model(pixels, keras.layers.Dense(10, name="classes")(both), name="digits")


def main() -> None:
    """Train both, and compare their weights."""
    with np.load(DIGITS) as data:
        x, y = data["images"].reshape(-1, 64)[:1536].astype(np.float32) / 16, data["labels"][:1536].astype(np.int32)
    trained = {}
    for ipus in (3, 1):
        config = ipu.config.IPUConfig()
        config.auto_select_ipus = ipus
        config.ipu_model.tiles_per_ipu = 16
        config.configure_ipu_system()
        with ipu.ipu_strategy.IPUStrategy().scope():
            model = network(ipu.keras.PipelineStage)
            loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            model.compile(keras.optimizers.SGD(0.1), loss, metrics=["accuracy"], steps_per_execution=48)
            if ipus == 1:
                model.reset_pipeline_stage_assignment()
                model.set_gradient_accumulation_options(12, "mean")
            else:
                model.print_pipeline_stage_assignment_summary(line_length=70)
                model.set_pipelining_options(12, gradient_accumulation_reduction_method="mean")
        model.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0)
        trained[ipus] = model.get_weights()
        loss, accuracy = model.evaluate(x, y, batch_size=8, verbose=0)
        print(f"on {ipus} IPUs: loss {loss:.3f}, accuracy {accuracy:.2f}")
    pairs = zip(trained[3], trained[1], strict=True)
    print("as the whole network on one IPU:", all(np.allclose(one, other, atol=1e-6) for one, other in pairs))


if __name__ == "__main__":
    main()
