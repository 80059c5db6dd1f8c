"""TensorFlow 2 and Keras programs for the IPU: ``from ipu_mlir.tensorflow import ipu`` has the names of the guide.

This folder is how they work; ``ipu`` is what they are called. TensorFlow is imported where it is used.
"""
