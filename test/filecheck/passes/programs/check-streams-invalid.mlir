// RUN: ipu-opt %s --ipu-check-streams --split-input-file --verify-diagnostics

"ipu.infeed"() {sym_name = "q", types = [tensor<4xf32>]} : () -> ()
"ipu.infeed"() {sym_name = "r", types = [tensor<4xf32>]} : () -> ()
func.func @name_of_nothing() {
  // expected-error @below {{'ipu.dequeue' op names @o, but the infeeds of the module are: @q, @r}}
  "ipu.dequeue"() {queue = @o} : () -> ()
  // expected-error @below {{'ipu.enqueue' op names @q, but the outfeeds of the module are: none}}
  "ipu.enqueue"() {queue = @q} : () -> ()
  return
}

// -----

"ipu.infeed"() {sym_name = "q", types = [tensor<4xf32>]} : () -> ()
func.func @tensor_that_elements_lack() {
  "ipu.dequeue"() {queue = @q} : () -> ()
  // expected-error @below {{'ipu.element' op is of tensor 1, but the elements of @q have 1 tensor}}
  %x = "ipu.element"() {queue = @q, index = 1} : () -> tensor<4xf32>
  // expected-error @below {{'ipu.element' op is of type tensor<4xi32>, but tensor 0 of the elements of @q is tensor<4xf32>}}
  %y = "ipu.element"() {queue = @q, index = 0} : () -> tensor<4xi32>
  return
}

// -----

"ipu.outfeed"() {sym_name = "o", types = [tensor<f32>], mode = "all"} : () -> ()
func.func @number_that_is_no_tensor(%x: f32) {
  // expected-error @below {{'ipu.put' op is of type f32; elements have tensors, or buffers in supersteps}}
  "ipu.put"(%x) {queue = @o, index = 0} : (f32) -> ()
  return
}

// -----

"ipu.infeed"() {sym_name = "q", types = [tensor<f32>]} : () -> ()
func.func @dequeue_in_the_body_of_a_vertex(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.map ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) (%a: f32, %out: f32) {
    // expected-error @below {{'ipu.dequeue' op stands in 'linalg.map'; queues are used in functions, loops and branches of scf}}
    "ipu.dequeue"() {queue = @q} : () -> ()
    linalg.yield %a : f32
  }
  return %y : tensor<4xf32>
}

// -----

"ipu.infeed"() {sym_name = "q", types = [tensor<f32>]} : () -> ()
func.func @element_of_no_dequeue() {
  // expected-error @below {{'ipu.element' op has no element: no ipu.dequeue of @q stands before it in its block}}
  %x = "ipu.element"() {queue = @q, index = 0} : () -> tensor<f32>
  return
}

// -----

"ipu.outfeed"() {sym_name = "o", types = [tensor<f32>, tensor<i32>], mode = "all"} : () -> ()
func.func @half_an_element(%x: tensor<f32>) {
  "ipu.put"(%x) {queue = @o, index = 0} : (tensor<f32>) -> ()
  // expected-error @below {{'ipu.put' op puts tensor 0 of @o a second time before an element is whole}}
  "ipu.put"(%x) {queue = @o, index = 0} : (tensor<f32>) -> ()
  // expected-error @below {{'ipu.enqueue' op passes an element of @o without tensor 1; put it before}}
  "ipu.enqueue"() {queue = @o} : () -> ()
  return
}

// -----

"ipu.host_function"() {sym_name = "f", takes = [tensor<f32>], gives = [tensor<i32>]} : () -> ()
func.func @call_by_halves(%x: tensor<f32>) {
  // expected-error @below {{'ipu.element' op has no element: no ipu.host_call of @f stands before it in its block}}
  %y = "ipu.element"() {queue = @f, index = 0} : () -> tensor<i32>
  // expected-error @below {{'ipu.host_call' op passes an element of @f without tensor 0; put it before}}
  "ipu.host_call"() {queue = @f} : () -> ()
  return
}

// -----

"ipu.host_function"() {sym_name = "f", takes = [tensor<f32>], gives = [tensor<i32>]} : () -> ()
"ipu.infeed"() {sym_name = "q", types = [tensor<f32>]} : () -> ()
func.func @function_is_no_queue(%x: tensor<f32>) {
  // expected-error @below {{'ipu.dequeue' op names @f, but the infeeds of the module are: @q}}
  "ipu.dequeue"() {queue = @f} : () -> ()
  // expected-error @below {{'ipu.put' op is of tensor 1, but the elements of @f have 1 tensor}}
  "ipu.put"(%x) {queue = @f, index = 1} : (tensor<f32>) -> ()
  // expected-error @below {{'ipu.element' op names @g, but the infeeds and host_functions of the module are: @f, @q}}
  %y = "ipu.element"() {queue = @g, index = 0} : () -> tensor<i32>
  return
}
