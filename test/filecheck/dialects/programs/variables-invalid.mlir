// RUN: ipu-opt %s --split-input-file --verify-diagnostics

func.func @variable_in_a_function() {
  // expected-error @below {{'ipu.variable' op stands inside a function; a variable belongs to the module}}
  "ipu.variable"() {sym_name = "w", type = tensor<4xf32>} : () -> ()
  return
}

// -----

// expected-error @below {{'ipu.variable' op is of type tensor<?xf32>; a variable is a ranked tensor of static shape, without encoding}}
"ipu.variable"() {sym_name = "w", type = tensor<?xf32>} : () -> ()

// -----

// expected-error @below {{'ipu.variable' op is of type f32; a variable is a ranked tensor of static shape, without encoding}}
"ipu.variable"() {sym_name = "w", type = f32} : () -> ()

// -----

// expected-error @below {{'ipu.variable' op begins with 3.000000e+00 : f32; give it dense<...>, or none for a value that comes from the host}}
"ipu.variable"() {sym_name = "w", type = tensor<4xf32>, init = 3.0 : f32} : () -> ()

// -----

// expected-error @below {{'ipu.variable' op begins with tensor<2xf32>, but is of type tensor<4xf32>}}
"ipu.variable"() {sym_name = "w", type = tensor<4xf32>, init = dense<0.0> : tensor<2xf32>} : () -> ()

// -----

// expected-error @below {{attribute "type" is expected but not provided}}
"ipu.variable"() {sym_name = "w"} : () -> ()

// -----

func.func @read_without_a_name() -> tensor<4xf32> {
  // expected-error @below {{attribute "variable" is expected but not provided}}
  %w = "ipu.read"() : () -> tensor<4xf32>
  return %w : tensor<4xf32>
}

// -----

// expected-error @below {{'ipu.variable' op has no value to begin with; what is offloaded needs one: give it init = dense<...>}}
"ipu.variable"() {sym_name = "w", type = tensor<4xf32>, offload} : () -> ()

// -----

// expected-error @below {{'ipu.variable' op lies on tiles and in remote memory; leave out ipu.map or offload}}
"ipu.variable"() {sym_name = "w", type = tensor<4xf32>, init = dense<0.0> : tensor<4xf32>, offload, ipu.map = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>} : () -> ()

// -----

// expected-error @below {{'ipu.variable' op is cut for replicas, but lies on their tiles; give it offload as well}}
"ipu.variable"() {sym_name = "w", type = tensor<4xf32>, init = dense<0.0> : tensor<4xf32>, partition} : () -> ()

// -----

func.func @argument_that_is_not_there(%x: memref<4xf32>) {
  // expected-error @below {{'ipu.assigned' op is about argument 1 of a function with 1 arguments}}
  "ipu.assigned"() {argument = 1 : i64} : () -> ()
  return
}

// -----

// expected-error @below {{'ipu.assigned' op stands outside of functions; a function assigns its variables}}
"ipu.assigned"() {argument = 0 : i64} : () -> ()
