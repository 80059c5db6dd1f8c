// RUN: ipu-opt %s --ipu-check-stablehlo --split-input-file --verify-diagnostics

func.func @names(%x: tensor<4xf32>, %t: tensor<i32>) {
  // expected-error @below {{calls ipu.enqeue, which is no op of a program; did you mean 'ipu.enqueue'?}}
  stablehlo.custom_call @ipu.enqeue(%x) : (tensor<4xf32>) -> ()
  // expected-error @below {{calls ipu.zzzz, which is no op of a program; there are ipu.all_gather, ipu.all_reduce,}}
  stablehlo.custom_call @ipu.zzzz(%x) : (tensor<4xf32>) -> ()
  // expected-error @below {{has the attribute 'quue'; those of ipu.enqueue are: queue, mode, token; did you mean 'queue'?}}
  stablehlo.custom_call @ipu.enqueue(%x) {backend_config = "{\"quue\": \"q\"}"} : (tensor<4xf32>) -> ()
  // expected-error @below {{has no attribute 'queue', which ipu.enqueue needs: the name of the queue}}
  stablehlo.custom_call @ipu.enqueue(%x) : (tensor<4xf32>) -> ()
  // expected-error @below {{has a backend_config that is no object of JSON; write its attributes as in {"queue": "q0"}}}
  stablehlo.custom_call @ipu.enqueue(%x) {backend_config = "queue"} : (tensor<4xf32>) -> ()
  // expected-error @below {{has a backend_config that is no object of JSON}}
  stablehlo.custom_call @ipu.enqueue(%x) {backend_config = "[1]"} : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @values(%x: tensor<4xf32>) {
  // expected-error @below {{has queue = 3; it is a name}}
  stablehlo.custom_call @ipu.enqueue(%x) {backend_config = "{\"queue\": 3}"} : (tensor<4xf32>) -> ()
  // expected-error @below {{has mode = "first"; it is one of all, last}}
  stablehlo.custom_call @ipu.enqueue(%x) {backend_config = "{\"queue\": \"q\", \"mode\": \"first\"}"} : (tensor<4xf32>) -> ()
  // expected-error @below {{has prefetch_depth = true; it is an integer}}
  %0 = stablehlo.custom_call @ipu.dequeue() {mhlo.backend_config = {queue = "q", prefetch_depth = true}} : () -> tensor<4xf32>
  // expected-error @below {{has mapping = "#ipu.mapping<4>"; it is a mapping, as in #ipu.mapping<4, }}
  %1 = stablehlo.custom_call @ipu.place(%x) {mhlo.backend_config = {mapping = "#ipu.mapping<4>"}} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{has queue = #ipu.mapping<1 : i64, [], 0 : i64, 0 : i64>; attributes are text, numbers, truth values and lists of integers}}
  stablehlo.custom_call @ipu.enqueue(%x) {mhlo.backend_config = {queue = #ipu.mapping<1, [], 0, 0>}} : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @tokens(%x: tensor<4xf32>, %t: tensor<i32>) -> tensor<4xf32> {
  // expected-error @below {{has a token, but nothing keeps ipu.place in an order; call it without}}
  %0:2 = stablehlo.custom_call @ipu.place(%t, %x) {backend_config = "{\"mapping\": \"#ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>\", \"token\": true}"} : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
  // expected-error @below {{has a token, so its first operand and its first result are one; give both the type of the token}}
  %1 = stablehlo.custom_call @ipu.enqueue(%t, %x) {backend_config = "{\"queue\": \"q\", \"token\": true}"} : (tensor<i32>, tensor<4xf32>) -> tensor<i64>
  // expected-error @below {{has token = 1; it is true or false}}
  %2 = stablehlo.custom_call @ipu.enqueue(%t, %x) {backend_config = "{\"queue\": \"q\", \"token\": 1}"} : (tensor<i32>, tensor<4xf32>) -> tensor<i32>
  return %0#1 : tensor<4xf32>
}

// -----

func.func @shapes(%x: tensor<4xf32>, %t: tensor<i32>, %u: tuple<tensor<i32>>) -> (tensor<i32>, tensor<5xf32>, tensor<4xf32>, tuple<tensor<4xf32>>, tensor<i32>) {
  // expected-error @below {{has 0 operands, not counting a token; ipu.assign has 1}}
  %0 = stablehlo.custom_call @ipu.assign(%t) {backend_config = "{\"variable\": \"w\", \"token\": true}"} : (tensor<i32>) -> tensor<i32>
  // expected-error @below {{gives tensor<5xf32> for tensor<4xf32>; ipu.barrier keeps the types}}
  %1 = stablehlo.custom_call @ipu.barrier(%x) : (tensor<4xf32>) -> tensor<5xf32>
  // expected-error @below {{has 1 results, not counting a token; ipu.assign has 0}}
  %2 = stablehlo.custom_call @ipu.assign(%x) {backend_config = "{\"variable\": \"w\"}"} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{gives a tuple to 'func.return'; take it apart by stablehlo.get_tuple_element}}
  %3 = stablehlo.custom_call @ipu.barrier(%x) : (tensor<4xf32>) -> tuple<tensor<4xf32>>
  // expected-error @below {{has operand 0 of type tensor<4xf32>, not counting a token; ipu.remote_load takes a tensor<i32> there}}
  %5 = stablehlo.custom_call @ipu.remote_load(%x) {backend_config = "{\"buffer\": \"b\", \"shape\": [7, 4]}"} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{takes an argument apart; export the program with tensors one by one}}
  %4 = stablehlo.get_tuple_element %u[0] : (tuple<tensor<i32>>) -> tensor<i32>
  return %0, %1, %2, %3, %4 : tensor<i32>, tensor<5xf32>, tensor<4xf32>, tuple<tensor<4xf32>>, tensor<i32>
}

// -----

func.func @symbols(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  stablehlo.custom_call @ipu.enqueue(%x) {backend_config = "{\"queue\": \"q\"}"} : (tensor<4xf32>) -> ()
  // expected-error @below {{says that @q has types = [tensor<5xf32>], but others say [tensor<4xf32>]; all say the same}}
  stablehlo.custom_call @ipu.enqueue(%y) {backend_config = "{\"queue\": \"q\"}"} : (tensor<5xf32>) -> ()
  // expected-error @below {{needs @q as ipu.infeed, which is ipu.outfeed already; give it another name}}
  %0 = stablehlo.custom_call @ipu.dequeue() {backend_config = "{\"queue\": \"q\"}"} : () -> tensor<4xf32>
  // expected-error @below {{needs @symbols as ipu.variable, which is func.func already; give it another name}}
  stablehlo.custom_call @ipu.assign(%x) {backend_config = "{\"variable\": \"symbols\"}"} : (tensor<4xf32>) -> ()
  // expected-error @below {{says that @w has type = tensor<4xf32>, but others say tensor<2xf32>; all say the same}}
  stablehlo.custom_call @ipu.assign(%x) {backend_config = "{\"variable\": \"w\"}"} : (tensor<4xf32>) -> ()
  return
}
"ipu.variable"() {sym_name = "w", type = tensor<2xf32>} : () -> ()

// -----

func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @two(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @two_kept(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %x, %y : tensor<4xf32>, tensor<4xf32>
}
func.func @functions(%x: tensor<4xf32>) {
  // expected-error @below {{has 0 functions in called_computations; those of ipu.outlined are: function}}
  %0 = stablehlo.custom_call @ipu.outlined(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{has 1 function in called_computations; those of ipu.barrier are: none}}
  %1 = stablehlo.custom_call @ipu.barrier(%x) {called_computations = [@f]} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{has 1 function in called_computations; those of ipu.while_loop are: condition, body}}
  %2 = stablehlo.custom_call @ipu.while_loop(%x) {called_computations = [@f]} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{calls @f of type (tensor<4xf32>) -> tensor<4xf32> as its condition, which is of type (tensor<4xf32>) -> tensor<i1>}}
  %3 = stablehlo.custom_call @ipu.while_loop(%x) {called_computations = [@f, @f]} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{calls @g, but the module has @f, @two, @two_kept, @functions}}
  %4 = stablehlo.custom_call @ipu.outlined(%x) {called_computations = [@g]} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{has no attribute 'count', which ipu.repeat needs}}
  %5 = stablehlo.custom_call @ipu.repeat(%x) {called_computations = [@f]} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{calls @f of type (tensor<4xf32>) -> tensor<4xf32> as its backward, which is of type (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)}}
  %7 = stablehlo.custom_call @ipu.derivative(%x, %x) {called_computations = [@two, @two_kept, @f]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = stablehlo.complex %x, %x : tensor<4xcomplex<f32>>
  // expected-error @below {{has tensor<4xcomplex<f32>>; give ipu.barrier real and imaginary parts as tensors of their own}}
  %6 = stablehlo.custom_call @ipu.barrier(%z) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return
}
