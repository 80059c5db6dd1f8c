// RUN: ipu-opt %s --ipu-autodiff --split-input-file --verify-diagnostics

func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// expected-error @below {{has ipu.gradient = @f; write {of = @function, by = array<i64: 0>}}}
func.func private @df(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {ipu.gradient = @f}

// -----

// expected-error @below {{is the gradient of @g, which is no function of one block in this module}}
func.func private @df(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ipu.gradient = {of = @g, by = array<i64: 0>}}

// -----

func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// expected-error @below {{differentiates by argument 3 of a function that has 1}}
func.func private @df(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ipu.gradient = {of = @f, by = array<i64: 3>}}

// -----

func.func private @f(%x: tensor<4xi32>) -> tensor<4xi32> {
  return %x : tensor<4xi32>
}
// expected-error @below {{differentiates by argument 0, tensor<4xi32>; only floats have derivatives}}
func.func private @df(tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)
    attributes {ipu.gradient = {of = @f, by = array<i64: 0>}}

// -----

func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// expected-error @below {{has the type (tensor<4xf32>) -> tensor<4xf32>, and the gradient of @f has (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)}}
func.func private @df(tensor<4xf32>) -> tensor<4xf32> attributes {ipu.gradient = {of = @f, by = array<i64: 0>}}

// -----

func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant 1.0 : f32
  // expected-error @below {{'scf.while' op runs a number of iterations that nothing limits; let a part of its condition compare a counter with a constant, as while_loop(..., maximum_iterations=100) does (in the gradient of @f)}}
  %r = scf.while (%s = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %i = arith.constant 0 : index
    %e = tensor.extract %s[%i] : tensor<4xf32>
    %go = arith.cmpf olt, %e, %c : f32
    scf.condition(%go) %s : tensor<4xf32>
  } do {
  ^bb0(%s: tensor<4xf32>):
    %n = math.exp %s : tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
func.func private @df(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ipu.gradient = {of = @f, by = array<i64: 0>}}

// -----

func.func private @f(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{'scf.for' op runs a number of iterations that is known only at run time, and its derivative needs values of each of them; let it count between constants, or to the lesser of its end and a constant (in the gradient of @f)}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %x) -> tensor<4xf32> {
    %s = math.sin %c : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
func.func private @df(tensor<4xf32>, index, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ipu.gradient = {of = @f, by = array<i64: 0>}}

// -----

func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'ipu.all_reduce' op combines replicas with 'max', which has no rule for its derivative}}
  %y = "ipu.all_reduce"(%x) {op = "max"} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @df(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ipu.gradient = {of = @f, by = array<i64: 0>}}

// -----

func.func private @f(%x: tensor<10xf32>) -> tensor<3xf32> {
  // expected-error @below {{'ipu.reduce_scatter' op does not say how many replicas take part, which its derivative needs; give group}}
  %y = "ipu.reduce_scatter"(%x) {op = "add"} : (tensor<10xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
func.func private @df(tensor<10xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<10xf32>)
    attributes {ipu.gradient = {of = @f, by = array<i64: 0>}}

// -----

func.func private @f(%x: tensor<10xf32>) -> tensor<3xf32> {
  // expected-error @below {{'ipu.reduce_scatter' op combines replicas with 'max', which has no rule for its derivative}}
  %y = "ipu.reduce_scatter"(%x) {op = "max", group = 4} : (tensor<10xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
func.func private @df(tensor<10xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<10xf32>)
    attributes {ipu.gradient = {of = @f, by = array<i64: 0>}}

// -----

func.func private @run(tensor<4xf32>) -> tensor<4xf32> attributes {ipu.pipeline = @p}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{runs a pipeline, which has gradients of its own: ask its value_and_grad for them}}
  %y = func.call @run(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @df(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ipu.gradient = {of = @f, by = array<i64: 0>}}

// -----

func.func private @own(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32>
    attributes {ipu.derivative = {forward = @there, backward = @back, without = array<i64: 1>}} {
  return %x : tensor<f32>
}
func.func private @there(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func private @back(%ct: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  return %ct, %ct : tensor<f32>, tensor<f32>
}
func.func private @f(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{calls @there, which has no derivative by argument 1}}
  %z = func.call @own(%x, %y) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %z : tensor<f32>
}
func.func private @df(tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
    attributes {ipu.gradient = {of = @f, by = array<i64: 1>}}
func.func private @by_the_other(tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
    attributes {ipu.gradient = {of = @f, by = array<i64: 0>}}

// -----

func.func private @g(tensor<4xf32>) -> tensor<4xf32>
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{calls @g, whose code is not here, so it has no derivative}}
  %y = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @df(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ipu.gradient = {of = @f, by = array<i64: 0>}}

// -----

func.func private @f(%a: tensor<3x3xf32>) -> tensor<3x2xf32> {
  %e = tensor.empty() : tensor<3x2xf32>
  // expected-error @below {{'linalg.generic' op calls "eigvals", which has no rule for its derivative}}
  %s = linalg.generic {indexing_maps = [affine_map<(m, n, p) -> (m, n)>, affine_map<(m, n, p) -> (m, p)>],
                       iterator_types = ["reduction", "reduction", "reduction"], library_call = "eigvals"}
      ins(%a : tensor<3x3xf32>) outs(%e : tensor<3x2xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %y : f32
  } -> tensor<3x2xf32>
  return %s : tensor<3x2xf32>
}
func.func private @df(tensor<3x3xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x3xf32>)
    attributes {ipu.gradient = {of = @f, by = array<i64: 0>}}

// -----

func.func private @f(%a: tensor<3x2xf32>) -> tensor<3x3xf32> {
  %eu = tensor.empty() : tensor<3x3xf32>
  %es = tensor.empty() : tensor<2xf32>
  %ev = tensor.empty() : tensor<2x2xf32>
  // expected-error @below {{'linalg.generic' op finds 3 left and 2 right singular vectors, of which a matrix does not define the last ones}}
  %s:3 = linalg.generic {indexing_maps = [affine_map<(m, n, o, k, p) -> (m, n)>, affine_map<(m, n, o, k, p) -> (m, o)>,
                                          affine_map<(m, n, o, k, p) -> (k)>, affine_map<(m, n, o, k, p) -> (p, n)>],
                         iterator_types = ["reduction", "reduction", "reduction", "reduction", "reduction"],
                         library_call = "svd"}
      ins(%a : tensor<3x2xf32>) outs(%eu, %es, %ev : tensor<3x3xf32>, tensor<2xf32>, tensor<2x2xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %w: f32):
    linalg.yield %y, %z, %w : f32, f32, f32
  } -> (tensor<3x3xf32>, tensor<2xf32>, tensor<2x2xf32>)
  return %s#0 : tensor<3x3xf32>
}
func.func private @df(tensor<3x2xf32>, tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3x2xf32>)
    attributes {ipu.gradient = {of = @f, by = array<i64: 0>}}

// -----

func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  // expected-error @below {{'scf.for' op has ipu.recompute = "all"; it is "elementwise" or "inputs" (in the gradient of @f)}}
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%c = %x) -> tensor<4xf32> {
    %s = math.tanh %c : tensor<4xf32>
    scf.yield %s : tensor<4xf32>
  } {ipu.recompute = "all"}
  return %r : tensor<4xf32>
}

func.func private @df(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ipu.gradient = {of = @f, by = array<i64: 0>}}
