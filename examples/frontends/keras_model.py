"""A convolutional network of Keras: compiled once, with the weights that it has when it runs.

python examples/frontends/keras_model.py
"""

import keras
import numpy as np

import ipu_mlir as ipu


def main() -> None:
    """Compile, run, and compare with Keras, before and after the weights change."""
    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            keras.layers.Conv2D(4, 3, activation="relu"),
            keras.layers.MaxPooling2D(),
            keras.layers.BatchNormalization(),
            keras.layers.Flatten(),
            keras.layers.Dense(3, activation="softmax"),
        ]
    )
    x = np.random.default_rng(0).standard_normal((2, 8, 8, 1)).astype(np.float32)
    exe = ipu.compile(model, args=[x], target=ipu.Target(tiles_per_ipu=16))
    print(f"probabilities:\n{np.asarray(exe(x)).round(3)}")
    print("as Keras:", np.allclose(exe(x), model(x), atol=1e-5))
    model.layers[-1].bias.assign([1.0, 0.0, -1.0])
    print("with other weights:", np.allclose(exe(x), model(x), atol=1e-5))


if __name__ == "__main__":
    main()
