// RUN: ipu-opt %s --ipu-partition --split-input-file --verify-diagnostics

func.func @family_that_there_is_not(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @below {{'linalg.exp' op has ipu.recurrence = "rnn"; families of codelets are "lstm", "gru", "lstm_gradient", "gru_gradient"}}
  %y = linalg.exp {ipu.recurrence = "rnn"} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @number_for_a_family(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @below {{has ipu.recurrence = 1 : i64; families of codelets are "lstm", "gru", "lstm_gradient", "gru_gradient"}}
  %y = linalg.exp {ipu.recurrence = 1 : i64} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
