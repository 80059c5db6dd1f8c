// RUN: ipu-opt %s --split-input-file --verify-diagnostics --ipu-mark-replicas

module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4, replicas = 4}>} {
func.func @branch(%x: tensor<f32>) -> tensor<f32> {
  %r = "ipu.replica_index"() : () -> tensor<i32>
  %i = tensor.extract %r[] : tensor<i32>
  %zero = arith.constant 0 : i32
  %is_first = arith.cmpi eq, %i, %zero : i32
  // expected-error @below {{'scf.if' op goes the way that a value says which differs between replicas, because of mark-replicas-invalid.mlir:5:8; all replicas go one way: combine the value over all of them, with ipu.all_reduce for example, or say with ipu.assume_equal that it is one}}
  %y = scf.if %is_first -> tensor<f32> {
    scf.yield %x : tensor<f32>
  } else {
    %z = arith.addf %x, %x : tensor<f32>
    scf.yield %z : tensor<f32>
  }
  return %y : tensor<f32>
}
}

// -----

module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4, replicas = 4}>} {
func.func @loop(%x: tensor<f32> {ipu.varies = true}, %ten: f32) -> tensor<f32> {
  // expected-error @below {{'scf.while' op goes the way that a value says which differs between replicas, because of}}
  %y = scf.while (%a = %x) : (tensor<f32>) -> tensor<f32> {
    %v = tensor.extract %a[] : tensor<f32>
    %c = arith.cmpf olt, %v, %ten : f32
    scf.condition(%c) %a : tensor<f32>
  } do {
  ^bb0(%b: tensor<f32>):
    %n = arith.addf %b, %b : tensor<f32>
    scf.yield %n : tensor<f32>
  }
  return %y : tensor<f32>
}
}

// -----

module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4, replicas = 4}>} {
func.func @group(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'ipu.all_reduce' op has a replica group size (got 3) that does not evenly divide the total number of replicas (got 4)}}
  %y = "ipu.all_reduce"(%x) {op = "add", group = 3} : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
}

// -----

module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4, replicas = 4}>} {
func.func @gathered(%x: tensor<8xf32>) -> tensor<2x8xf32> {
  // expected-error @below {{'ipu.all_gather' op gives tensor<2x8xf32> for tensor<8xf32>; of 4 replicas it gives the shape 4x8}}
  %y = "ipu.all_gather"(%x) : (tensor<8xf32>) -> tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}
}

// -----

module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4, replicas = 4}>} {
func.func @exchanged(%x: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @below {{'ipu.all_to_all' op cuts dimension 0 of tensor<6xf32> into 4 blocks, one for each replica; it must be a dimension whose size is a multiple of that}}
  %y = "ipu.all_to_all"(%x) {split_dimension = 0, concat_dimension = 0} : (tensor<6xf32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}
}

// -----

module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4, replicas = 4}>} {
func.func @root(%x: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @below {{'ipu.broadcast' op has root 4, but the replicas of a group are 0 to 3}}
  %y = "ipu.broadcast"(%x) {root = 4} : (tensor<6xf32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}
}

// -----

// Without a target there is one replica.
func.func @alone(%x: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @below {{'ipu.all_reduce' op has a replica group size (got 2) that does not evenly divide the total number of replicas (got 1)}}
  %y = "ipu.all_reduce"(%x) {op = "add", group = 2} : (tensor<6xf32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// -----

module attributes {ipu.target = #ipu.target<{replicas = 2}>} {
// A branch in a loop is refused if it does more than to compute.
func.func @meeting_in_a_loop(%c: tensor<i1> {ipu.varies = true}, %x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %y = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> tensor<4xf32> {
    %flag = tensor.extract %c[] : tensor<i1>
    // expected-error @below {{'scf.if' op goes the way that a value says which differs between replicas}}
    %b = scf.if %flag -> tensor<4xf32> {
      %sum = "ipu.all_reduce"(%a) {op = "add"} : (tensor<4xf32>) -> tensor<4xf32>
      scf.yield %sum : tensor<4xf32>
    } else {
      scf.yield %a : tensor<4xf32>
    }
    scf.yield %b : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
}
