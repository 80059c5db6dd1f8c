// RUN: ipu-opt %s --split-input-file --verify-diagnostics

func.func @number(%x: f32) {
  // expected-error @below {{'ipu.fifo' op delays f32; it takes a ranked tensor of static shape}}
  %y = "ipu.fifo"(%x) {depth = 2} : (f32) -> f32
  return
}

// -----

func.func @another_type(%x: tensor<4xf32>) {
  // expected-error @below {{'ipu.fifo' op gives tensor<4xf16> for tensor<4xf32>; a fifo keeps the type}}
  %y = "ipu.fifo"(%x) {depth = 2} : (tensor<4xf32>) -> tensor<4xf16>
  return
}
