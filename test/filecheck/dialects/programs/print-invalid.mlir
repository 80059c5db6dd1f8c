// RUN: ipu-opt %s --split-input-file --verify-diagnostics

func.func @sizes(%x: tensor<?xf32>) {
  // expected-error @below {{'ipu.print' op shows tensor<?xf32>; it takes a ranked tensor of static shape, or a buffer in supersteps}}
  "ipu.print"(%x) {label = "x"} : (tensor<?xf32>) -> ()
  return
}

// -----

func.func @scalars(%x: f32) {
  // expected-error @below {{'ipu.print' op shows f32; it takes a ranked tensor}}
  "ipu.print"(%x) {label = "x"} : (f32) -> ()
  return
}

// -----

func.func @signs(%x: tensor<4xf32>) {
  // expected-error @below {{'ipu.print' op shows tensor<4xf32> as integers without a sign; leave unsigned away}}
  "ipu.print"(%x) {label = "x", unsigned} : (tensor<4xf32>) -> ()
  return
}
