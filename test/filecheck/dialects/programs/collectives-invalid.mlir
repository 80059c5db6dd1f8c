// RUN: ipu-opt %s --split-input-file --verify-diagnostics

func.func @index_of_another_type() {
  // expected-error @below {{'ipu.replica_index' op gives tensor<i64>; it gives a tensor<i32>}}
  %r = "ipu.replica_index"() : () -> tensor<i64>
  return
}

// -----

func.func @unknown_reduction(%x: tensor<4xf32>) {
  // expected-error @below {{'ipu.all_reduce' op has op = "sum"; it is one of add, mean, min, max, mul, and, or, square_add}}
  %y = "ipu.all_reduce"(%x) {op = "sum"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @empty_group(%x: tensor<4xf32>) {
  // expected-error @below {{'ipu.all_reduce' op has group = 0 : i64; it is a number from 1 on}}
  %y = "ipu.all_reduce"(%x) {op = "add", group = 0} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @unknown_sizes(%x: tensor<?xf32>) {
  // expected-error @below {{'ipu.all_reduce' op takes tensor<?xf32>; it takes a tensor of static shape}}
  %y = "ipu.all_reduce"(%x) {op = "add"} : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @another_element_type(%x: tensor<4xf16>) {
  // expected-error @below {{'ipu.broadcast' op gives tensor<4xf32> for tensor<4xf16>; both have one element type}}
  %y = "ipu.broadcast"(%x) : (tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

func.func @sum_of_bits(%x: tensor<4xi1>) {
  // expected-error @below {{'ipu.all_reduce' op combines elements of i1 with 'add'; 'and' and 'or' combine i1, the others numbers}}
  %y = "ipu.all_reduce"(%x) {op = "add"} : (tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @mean_of_integers(%x: tensor<4xi32>) {
  // expected-error @below {{'ipu.all_reduce' op has the mean of elements of i32; only floats have one, use 'add' and divide}}
  %y = "ipu.all_reduce"(%x) {op = "mean"} : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @scatter_of_a_matrix(%x: tensor<4x4xf32>) {
  // expected-error @below {{'ipu.reduce_scatter' op takes tensor<4x4xf32>; it takes a tensor of rank 1, so flatten it first}}
  %y = "ipu.reduce_scatter"(%x) {op = "add", group = 4} : (tensor<4x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @block_of_another_size(%x: tensor<10xf32>) {
  // expected-error @below {{'ipu.reduce_scatter' op gives tensor<2xf32> for tensor<10xf32>; of 4 replicas it gives the shape 3}}
  %y = "ipu.reduce_scatter"(%x) {op = "add", group = 4} : (tensor<10xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @cut_into_no_blocks(%x: tensor<6x2xf32>) {
  // expected-error @below {{'ipu.all_to_all' op cuts dimension 0 of tensor<6x2xf32> into 4 blocks, one for each replica; it must be a dimension whose size is a multiple of that}}
  %y = "ipu.all_to_all"(%x) {split_dimension = 0, concat_dimension = 1, group = 4} : (tensor<6x2xf32>) -> tensor<1x8xf32>
  return
}

// -----

func.func @number_of_two(%i: memref<2xi32>) {
  // expected-error @below {{'ipu.number_replica' op fills memref<2xi32>; it writes a memref of rank 0 of i32}}
  "ipu.number_replica"(%i) : (memref<2xi32>) -> ()
  return
}

// -----

func.func @unknown_kind(%x: memref<4xf32>) {
  // expected-error @below {{'ipu.collective' op is of kind "all_sum"; there are all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, assume_equal}}
  "ipu.collective"(%x, %x) {kind = "all_sum"} : (memref<4xf32>, memref<4xf32>) -> ()
  return
}

// -----

func.func @of_tensors(%x: tensor<4xf32>) {
  // expected-error @below {{'ipu.collective' op has tensor<4xf32> as source; it takes a memref on tiles, with a #ipu.mapping, or on the host, without}}
  "ipu.collective"(%x, %x) {kind = "broadcast"} : (tensor<4xf32>, tensor<4xf32>) -> ()
  return
}

// -----

func.func @nowhere(%x: memref<4xf32, 1>) {
  // expected-error @below {{'ipu.collective' op has memref<4xf32, 1> as source; it takes a memref on tiles}}
  "ipu.collective"(%x, %x) {kind = "broadcast"} : (memref<4xf32, 1>, memref<4xf32, 1>) -> ()
  return
}
