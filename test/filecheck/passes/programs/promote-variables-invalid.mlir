// RUN: ipu-opt %s --ipu-promote-variables --split-input-file --verify-diagnostics

"ipu.variable"() {sym_name = "w", type = tensor<4xf32>} : () -> ()
"ipu.variable"() {sym_name = "b", type = tensor<f32>} : () -> ()
func.func @name_of_nothing() -> tensor<4xf32> {
  // expected-error @below {{'ipu.read' op names @v, but the module has the variables @w, @b}}
  %v = "ipu.read"() {variable = @v} : () -> tensor<4xf32>
  return %v : tensor<4xf32>
}

// -----

func.func @no_variables() -> tensor<4xf32> {
  // expected-error @below {{'ipu.read' op names @v, but the module has no variable}}
  %v = "ipu.read"() {variable = @v} : () -> tensor<4xf32>
  return %v : tensor<4xf32>
}

// -----

"ipu.variable"() {sym_name = "w", type = tensor<4xf32>} : () -> ()
func.func @value_of_another_type(%x: tensor<2xf32>) {
  // expected-error @below {{'ipu.assign' op has a value of type tensor<2xf32>, but @w is of type tensor<4xf32>}}
  "ipu.assign"(%x) {variable = @w} : (tensor<2xf32>) -> ()
  return
}

// -----

"ipu.variable"() {sym_name = "w", type = tensor<f32>} : () -> ()
func.func @read_in_the_body_of_a_vertex(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.map ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) (%a: f32, %out: f32) {
    // expected-error @below {{'ipu.read' op stands in 'linalg.map'; variables are read and assigned in functions, loops and branches of scf}}
    %w = "ipu.read"() {variable = @w} : () -> tensor<f32>
    %s = tensor.extract %w[] : tensor<f32>
    linalg.yield %s : f32
  }
  return %y : tensor<4xf32>
}

// -----

"ipu.variable"() {sym_name = "w", type = tensor<4xf32>} : () -> ()
func.func @calls_itself() {
  // expected-error @below {{'ipu.read' op stands in @calls_itself, which is called and cannot be inlined; only entries read and assign variables}}
  %w = "ipu.read"() {variable = @w} : () -> tensor<4xf32>
  func.call @calls_itself() : () -> ()
  return
}

// -----

"ipu.variable"() {sym_name = "w", type = tensor<4xf32>} : () -> ()
func.func @several_blocks() {
  // expected-error @below {{'ipu.read' op stands in @several_blocks, which has several blocks; write its branches and loops as scf}}
  %w = "ipu.read"() {variable = @w} : () -> tensor<4xf32>
  cf.br ^end
^end:
  return
}
