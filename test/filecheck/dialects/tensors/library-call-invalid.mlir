// RUN: ipu-opt %s --split-input-file --verify-diagnostics

func.func @codelet_is_missing(%x: tensor<4xf32>) {
  // expected-error @below {{attribute "codelet" is expected but not provided}}
  %y = "ipu.library_call"(%x, %x) {operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>, inputs = 1 : i64, updated = [false]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @result_has_nothing_to_start_from(%x: tensor<4xf32>) {
  // expected-error @below {{'ipu.library_call' op gives tensor<4xf32> but starts from nothing; one of its type for each result}}
  %y = "ipu.library_call"(%x) {operandSegmentSizes = array<i32: 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>, codelet = "sort", inputs = 1 : i64, updated = [false]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @nobody_knows_what_is_updated(%x: tensor<4xf32>) {
  // expected-error @below {{'ipu.library_call' op says of 0 results whether they are updated; it has 1}}
  %y = "ipu.library_call"(%x, %x) {operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>, resultSegmentSizes = array<i32: 1, 0, 0, 0>, codelet = "sort", inputs = 1 : i64, updated = []} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
