// RUN: ipu-opt %s --ipu-convert-globals --verify-diagnostics

// expected-error @below {{has no value of tensor<4xf32> to begin with; give it dense<...>}}
ml_program.global private mutable @w : tensor<4xf32>
