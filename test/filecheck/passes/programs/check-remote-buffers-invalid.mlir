// RUN: ipu-opt %s --ipu-check-remote-buffers --split-input-file --verify-diagnostics

"ipu.remote_buffer"() {sym_name = "b", type = tensor<10x4xf32>} : () -> ()
"ipu.remote_buffer"() {sym_name = "c", type = tensor<10x4xf32>} : () -> ()
func.func @name_of_nothing(%i: index) {
  // expected-error @below {{'ipu.remote_load' op names @d, but the remote buffers of the module are: @b, @c}}
  %x = "ipu.remote_load"(%i) {buffer = @d} : (index) -> tensor<4xf32>
  return
}

// -----

"ipu.remote_buffer"() {sym_name = "b", type = tensor<10x4xf32>} : () -> ()
func.func @rows_of_another_form(%i: index, %x: tensor<4xi32>, %y: tensor<11x4xf32>) {
  // expected-error @below {{'ipu.remote_load' op moves tensor<3xf32>, but rows of @b are tensor<4xf32>}}
  %z = "ipu.remote_load"(%i) {buffer = @b} : (index) -> tensor<3xf32>
  // expected-error @below {{'ipu.remote_store' op moves tensor<4xi32>, but rows of @b are tensor<4xf32>}}
  "ipu.remote_store"(%x, %i) {buffer = @b} : (tensor<4xi32>, index) -> ()
  // expected-error @below {{'ipu.remote_store' op moves 11 rows, but @b has 10}}
  "ipu.remote_store"(%y, %i) {buffer = @b} : (tensor<11x4xf32>, index) -> ()
  return
}

// -----

"ipu.remote_buffer"() {sym_name = "b", type = tensor<10x4xf32>} : () -> ()
func.func @gather_beside_the_chip(%rows: tensor<3xi32>) {
  // expected-error @below {{'ipu.host_gather' op works on the host, but @b is in streaming memory; give it memory = "host"}}
  %x = "ipu.host_gather"(%rows) {buffer = @b} : (tensor<3xi32>) -> tensor<3x4xf32>
  return
}

// -----

"ipu.remote_buffer"() {sym_name = "t", type = tensor<10x4xf32>, memory = "host"} : () -> ()
func.func @update_by_slices(%rows: tensor<3xi32>, %x: tensor<3x2x4xf32>) {
  // expected-error @below {{'ipu.host_update_add' op moves tensor<3x2x4xf32>, but rows of @t are tensor<4xf32>}}
  "ipu.host_update_add"(%rows, %x) {buffer = @t} : (tensor<3xi32>, tensor<3x2x4xf32>) -> ()
  return
}

// -----

"ipu.remote_buffer"() {sym_name = "b", type = tensor<10xf32>} : () -> ()
func.func @load_in_the_body_of_a_vertex(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.map ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) (%a: f32, %out: f32) {
    %i = linalg.index 0 : index
    // expected-error @below {{'ipu.remote_load' op stands in 'linalg.map'; rows are moved in functions, loops and branches of scf}}
    %z = "ipu.remote_load"(%i) {buffer = @b} : (index) -> tensor<f32>
    linalg.yield %a : f32
  }
  return %y : tensor<4xf32>
}
