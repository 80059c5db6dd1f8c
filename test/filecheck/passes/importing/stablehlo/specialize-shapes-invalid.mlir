// RUN: ipu-opt %s --ipu-specialize-shapes='function=step sizes=3,4' --split-input-file --verify-diagnostics

func.func public @step(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %same = stablehlo.compare EQ, %m, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  // expected-error @below {{b is 3 in args[0] and 4 in args[1]}}
  stablehlo.custom_call @shape_assertion(%same, %n, %m) {api_version = 2 : i32, error_message = "b is {0} in args[0] and {1} in args[1]. Using the following polymorphic shapes specifications: args[0].shape = (b,)", has_side_effect = true} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
  %0 = stablehlo.add %x, %y : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func public @step(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %same = stablehlo.compare EQ, %m, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  // expected-error @below {{{1} in {x.y}, {a} for 3}}
  stablehlo.custom_call @shape_assertion(%same, %n) {api_version = 2 : i32, error_message = "{1} in {x.y}, {{a}} for {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  // expected-error @below {{the assertion does not hold}}
  stablehlo.custom_call @shape_assertion(%same) {api_version = 2 : i32, has_side_effect = true} : (tensor<i1>) -> ()
  stablehlo.custom_call @shape_assertion() {api_version = 2 : i32, has_side_effect = true} : () -> ()
  %0 = stablehlo.add %x, %y : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// expected-error @below {{is no function; name one of the functions with function=}}
"ipu.variable"() {sym_name = "step", type = tensor<4xf32>, init = dense<1.0> : tensor<4xf32>} : () -> ()
