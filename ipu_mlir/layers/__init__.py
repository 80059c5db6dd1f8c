"""Layers: how parameters begin, and what is done with them. Each is a value without tensors; its parameters are a tree.

net = ipu.layers.Sequential([ipu.layers.Dense(20, 16), ipu.nn.relu, ipu.layers.Dense(16, 10)])
parameters = net.init(0)
logits = net(parameters, x)
"""

from ipu_mlir.layers import initialisers
from ipu_mlir.layers.attention import Attention
from ipu_mlir.layers.convolutions import Conv, MaxPool, MeanPool, flatten
from ipu_mlir.layers.dense import Dense, Dropout, Embedding
from ipu_mlir.layers.layer import Layer, Residual, Sequential
from ipu_mlir.layers.norms import BatchNorm, GroupNorm, LayerNorm
from ipu_mlir.layers.recurrent import GRU, LSTM

__all__ = [
    "GRU",
    "LSTM",
    "Attention",
    "BatchNorm",
    "Conv",
    "Dense",
    "Dropout",
    "Embedding",
    "GroupNorm",
    "Layer",
    "LayerNorm",
    "MaxPool",
    "MeanPool",
    "Residual",
    "Sequential",
    "flatten",
    "initialisers",
]
