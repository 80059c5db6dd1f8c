"""Models of Keras on the device: their steps, and the stages of those that are pipelines."""
