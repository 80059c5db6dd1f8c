// RUN: ipu-opt %s --ipu-check-supersteps --split-input-file --verify-diagnostics

#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>

// expected-error @below {{'func.func' op has argument 0 that is variable @w, but the module has none of that name}}
func.func @no_such_variable(%w: memref<4xf32, #one> {ipu.variable = @w}) {
  return
}

// -----

#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>

// expected-error @below {{'func.func' op has argument 0 that is variable 3 : i64, but the module has none of that name}}
func.func @no_name(%w: memref<4xf32, #one> {ipu.variable = 3}) {
  return
}

// -----

#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
"ipu.variable"() {sym_name = "w", type = tensor<4xi32>} : () -> ()

// expected-error @below {{'func.func' op has argument 0 of type memref<4xf32, #ipu.mapping<4 : i64, [[4, 4, 1, 0]], 0 : i64, 0 : i64>> for variable @w, which is of type tensor<4xi32>}}
func.func @another_type(%w: memref<4xf32, #one> {ipu.variable = @w}) {
  return
}

// -----

#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
"ipu.variable"() {sym_name = "w", type = tensor<4xf32>} : () -> ()

// expected-error @below {{'func.func' op has two arguments that are variable @w}}
func.func @twice(%w: memref<4xf32, #one> {ipu.variable = @w}, %v: memref<4xf32, #one> {ipu.variable = @w}) {
  return
}

// -----

#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
"ipu.variable"() {sym_name = "w", type = tensor<4xf32>} : () -> ()

// expected-error @below {{'func.func' op gives variable @w, which it does not take}}
func.func @gives_without_taking(%x: memref<4xf32, #one>) -> (memref<4xf32, #one> {ipu.variable = @w}) {
  return %x : memref<4xf32, #one>
}

// -----

#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
"ipu.variable"() {sym_name = "w", type = tensor<4xf32>} : () -> ()

func.func @reads_before_it_assigns(%w: memref<4xf32, #one> {ipu.variable = @w, ipu.unset}, %x: memref<4xf32, #one> {ipu.map = #one}) {
  %y = memref.alloc() : memref<4xf32, #one>
  "ipu.compute_set"() ({
    "ipu.vertices"() ({
      // expected-error @above {{'ipu.vertices' op reads a buffer that nothing has written before: memref<4xf32, #ipu.mapping<4 : i64, [[4, 4, 1, 0]], 0 : i64, 0 : i64>>; an exchange or a fill is missing}}
      linalg.exp ins(%w : memref<4xf32, #one>) outs(%y : memref<4xf32, #one>)
    }) {codelet = "exp_f32", parts = #ipu.parts<[[4, 4, 0]], 0>} : () -> ()
  }) : () -> ()
  return
}

// -----

#one = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
"ipu.infeed"() {sym_name = "q", types = [tensor<4xf32>]} : () -> ()

func.func @receives_what_elements_lack() {
  %y = memref.alloc() : memref<4xf32, #one>
  "ipu.dequeue"() {queue = @q} : () -> ()
  // expected-error @below {{'ipu.receive' op is of tensor 1, but the elements of @q have 1 tensor}}
  "ipu.receive"(%y) {queue = @q, index = 1} : (memref<4xf32, #one>) -> ()
  return
}
