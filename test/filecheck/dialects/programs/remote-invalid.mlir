// RUN: ipu-opt %s --split-input-file --verify-diagnostics

func.func @buffer_in_a_function() {
  // expected-error @below {{'ipu.remote_buffer' op stands inside a function; a remote buffer belongs to the module}}
  "ipu.remote_buffer"() {sym_name = "b", type = tensor<4x4xf32>} : () -> ()
  return
}

// -----

// expected-error @below {{'ipu.remote_buffer' op is of type tensor<f32>; it is a ranked tensor of static shape, with one row at least, without encoding}}
"ipu.remote_buffer"() {sym_name = "b", type = tensor<f32>} : () -> ()

// -----

// expected-error @below {{'ipu.remote_buffer' op lies in memory "disk"; it is 'streaming' or 'host'}}
"ipu.remote_buffer"() {sym_name = "b", type = tensor<4xf32>, memory = "disk"} : () -> ()

// -----

// expected-error @below {{'ipu.remote_buffer' op begins with tensor<3xf32>, but is of type tensor<4xf32>}}
"ipu.remote_buffer"() {sym_name = "b", type = tensor<4xf32>, init = dense<0.0> : tensor<3xf32>} : () -> ()

// -----

// expected-error @below {{'ipu.remote_buffer' op has variables without a list of their names, or of what they begin with}}
"ipu.remote_buffer"() {sym_name = "b", type = tensor<2x4xf32>, variables = ["x", "y"], init = dense<0.0> : tensor<4xf32>} : () -> ()

// -----

// expected-error @below {{'ipu.remote_buffer' op has 2 variables with 1 values for 2 rows; each has one row}}
"ipu.remote_buffer"() {sym_name = "b", type = tensor<2x4xf32>, variables = ["x", "y"], init = [dense<0.0> : tensor<4xf32>]} : () -> ()

// -----

// expected-error @below {{'ipu.remote_buffer' op begins with tensor<3xf32>, but is of type tensor<4xf32>}}
"ipu.remote_buffer"() {sym_name = "b", type = tensor<1x4xf32>, variables = ["x"], init = [dense<0.0> : tensor<3xf32>]} : () -> ()

// -----

func.func @row_that_is_no_index(%i: i32) {
  // expected-error @below {{'ipu.remote_load' op has row i32; it is an index}}
  %x = "ipu.remote_load"(%i) {buffer = @b} : (i32) -> tensor<4xf32>
  return
}

// -----

func.func @store_at_no_index(%i: i32, %x: tensor<4xf32>) {
  // expected-error @below {{'ipu.remote_store' op has row i32; it is an index}}
  "ipu.remote_store"(%x, %i) {buffer = @b} : (tensor<4xf32>, i32) -> ()
  return
}

// -----

func.func @number_that_is_no_row(%i: index, %x: f32) {
  // expected-error @below {{'ipu.remote_store' op moves f32; rows are tensors of static shape, or buffers in supersteps}}
  "ipu.remote_store"(%x, %i) {buffer = @b} : (f32, index) -> ()
  return
}

// -----

func.func @rows_of_another_type(%rows: tensor<2xi64>) {
  // expected-error @below {{'ipu.host_gather' op has rows tensor<2xi64>; they are an index, or a tensor or a memref of i32}}
  %x = "ipu.host_gather"(%rows) {buffer = @b} : (tensor<2xi64>) -> tensor<2x4xf32>
  return
}

// -----

func.func @more_rows_than_numbers(%rows: tensor<2xi32>) {
  // expected-error @below {{'ipu.host_gather' op moves tensor<3x4xf32> at rows tensor<2xi32>; there is one row for each number}}
  %x = "ipu.host_gather"(%rows) {buffer = @b} : (tensor<2xi32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @gather_of_one_row(%row: index) {
  // expected-error @below {{'ipu.host_gather' op has one row; give it a tensor of i32, or use ipu.remote_load}}
  %x = "ipu.host_gather"(%row) {buffer = @b} : (index) -> tensor<4xf32>
  return
}

// -----

func.func @update_of_one_row(%row: index, %x: tensor<4xf32>) {
  // expected-error @below {{'ipu.host_update_add' op has one row; give it a tensor of i32, or use ipu.remote_store}}
  "ipu.host_update_add"(%row, %x) {buffer = @b} : (index, tensor<4xf32>) -> ()
  return
}

// -----

func.func @update_never(%rows: tensor<2xi32>, %x: tensor<2x4xf32>) {
  // expected-error @below {{'ipu.host_update_add' op gathers every 0 : i64 updates; it is a number above 0}}
  "ipu.host_update_add"(%rows, %x) {buffer = @b, every = 0} : (tensor<2xi32>, tensor<2x4xf32>) -> ()
  return
}

// -----

func.func @fetch_into_nowhere(%x: memref<4xf32, 1>, %row: index) {
  // expected-error @below {{'ipu.fetch' op fills memref<4xf32, 1>; it writes a memref on tiles, with a #ipu.mapping, or on the host, without}}
  "ipu.fetch"(%x, %row) {buffer = @b} : (memref<4xf32, 1>, index) -> ()
  return
}

// -----

// expected-error @below {{'ipu.remote_buffer' op is a variable of type tensor<2x4xf32>; a variable is one row}}
"ipu.remote_buffer"() {sym_name = "b", type = tensor<2x4xf32>, variable} : () -> ()

// -----

// expected-error @below {{'ipu.remote_buffer' op is cut by "rows"; it is 'encoding' or 'token'}}
"ipu.remote_buffer"() {sym_name = "b", type = tensor<2x4xf32>, partition = "rows"} : () -> ()

// -----

// expected-error @below {{'ipu.remote_buffer' op is cut for replicas, which share what is on the host; leave out partition or memory}}
"ipu.remote_buffer"() {sym_name = "b", type = tensor<2x4xf32>, partition = "token", memory = "host"} : () -> ()
