// RUN: ipu-opt %s --split-input-file --verify-diagnostics

func.func @queue_in_a_function() {
  // expected-error @below {{'ipu.infeed' op stands inside a function; a queue belongs to the module}}
  "ipu.infeed"() {sym_name = "q", types = [tensor<4xf32>]} : () -> ()
  return
}

// -----

// expected-error @below {{'ipu.infeed' op has elements without tensors; name the type of at least one}}
"ipu.infeed"() {sym_name = "q", types = []} : () -> ()

// -----

// expected-error @below {{'ipu.infeed' op has tensor<?xf32> in its elements; they are ranked tensors of static shape, without encoding}}
"ipu.infeed"() {sym_name = "q", types = [tensor<?xf32>]} : () -> ()

// -----

// expected-error @below {{'ipu.outfeed' op has tensor<0x2xf32> in its elements, which has a dimension of size 0; give it its size}}
"ipu.outfeed"() {sym_name = "q", types = [tensor<0x2xf32>], mode = "all"} : () -> ()

// -----

// expected-error @below {{'ipu.infeed' op has a prefetch_depth of 256 : i64; it is a number from 1 to 255}}
"ipu.infeed"() {sym_name = "q", types = [tensor<f32>], prefetch_depth = 256} : () -> ()

// -----

// expected-error @below {{'ipu.outfeed' op has mode "first"; it is 'all' or 'last'}}
"ipu.outfeed"() {sym_name = "q", types = [tensor<f32>], mode = "first"} : () -> ()

// -----

// expected-error @below {{attribute "mode" is expected but not provided}}
"ipu.outfeed"() {sym_name = "q", types = [tensor<f32>]} : () -> ()

// -----

func.func @receive_into_nowhere(%x: memref<4xf32, 1>) {
  // expected-error @below {{'ipu.receive' op fills memref<4xf32, 1>; it writes a memref on tiles, with a #ipu.mapping, or on the host, without}}
  "ipu.receive"(%x) {queue = @q, index = 0} : (memref<4xf32, 1>) -> ()
  return
}

// -----

// expected-error @below {{'ipu.host_function' op has tensor<?xf32> in its elements; they are ranked tensors of static shape, without encoding}}
"ipu.host_function"() {sym_name = "f", takes = [], gives = [tensor<?xf32>]} : () -> ()
