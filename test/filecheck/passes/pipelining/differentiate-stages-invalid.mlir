// RUN: ipu-opt %s --ipu-differentiate-stages --split-input-file --verify-diagnostics

// expected-error @below {{has the stage @first, which is no function of one block in this module}}
"ipu.pipeline"() {sym_name = "p", stages = [@first, @last], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, count = 8 : i64, schedule = "grouped", training} : () -> ()

// -----

// expected-error @below {{has the stage @last of type (tensor<4xf32>, tensor<5xf32>) -> tensor<f32>; it takes 1 parameters, then (tensor<4xf32>), then 0 tensors of data}}
"ipu.pipeline"() {sym_name = "p", stages = [@first, @last], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, count = 8 : i64, schedule = "grouped", training} : () -> ()
func.func private @first(%w: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @last(%w: tensor<4xf32>, %x: tensor<5xf32>) -> tensor<f32> {
  %s = arith.constant dense<0.0> : tensor<f32>
  return %s : tensor<f32>
}

// -----

// expected-error @below {{has the stage @first of type (tensor<4xf32>, tensor<?xf32>) -> tensor<4xf32>; stages take tensors of static shape}}
"ipu.pipeline"() {sym_name = "p", stages = [@first, @last], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, count = 8 : i64, schedule = "grouped", training} : () -> ()
func.func private @first(%w: tensor<4xf32>, %x: tensor<?xf32>) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
func.func private @last(%w: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{trains, and its last stage gives (tensor<4xf32>); the first result is the loss, one float}}
"ipu.pipeline"() {sym_name = "p", stages = [@first, @last], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, count = 8 : i64, schedule = "grouped", training} : () -> ()
func.func private @first(%w: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @last(%w: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{has the gradient @back, which is no function in this module}}
"ipu.pipeline"() {sym_name = "p", stages = [@first, @last], devices = array<i64: 0, 1>, parameters = array<i64: 0, 0>,
                  data = array<i64: 1, 0>, count = 8 : i64, schedule = "grouped", gradients = [@back, @back], training} : () -> ()
func.func private @first(%x: tensor<4xf32>) -> tensor<f32> {
  %s = arith.constant dense<0.0> : tensor<f32>
  return %s : tensor<f32>
}
func.func private @last(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

// expected-error @below {{has the gradient @back of type (tensor<4xf32>, tensor<f32>) -> tensor<f32>; that of @last is of type (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)}}
"ipu.pipeline"() {sym_name = "p", stages = [@first, @last], devices = array<i64: 0, 1>, parameters = array<i64: 0, 0>,
                  data = array<i64: 1, 0>, count = 8 : i64, schedule = "grouped", gradients = [@back, @back], training} : () -> ()
func.func private @first(%x: tensor<4xf32>) -> tensor<f32> {
  %s = arith.constant dense<0.0> : tensor<f32>
  return %s : tensor<f32>
}
func.func private @last(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func private @back(%x: tensor<4xf32>, %d: tensor<f32>) -> tensor<f32> {
  return %d : tensor<f32>
}

// -----

func.func @main() -> tensor<i32> {
  // expected-error @below {{stands in no stage of a pipeline; only a stage works on micro-batches}}
  %n = "ipu.micro_batch"() : () -> tensor<i32>
  return %n : tensor<i32>
}

// -----

// expected-error @below {{has 2 results, ['sum', 'none']; its last stage gives 1}}
"ipu.pipeline"() {sym_name = "p", stages = [@f, @f], devices = array<i64: 0, 1>, parameters = array<i64: 0, 0>,
                  data = array<i64: 1, 0>, results = ["sum", "none"], count = 8 : i64, schedule = "grouped"} : () -> ()

func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

// expected-error @below {{adds up tensor<i1>, a result of its last stage; it adds up numbers}}
"ipu.pipeline"() {sym_name = "p", stages = [@f, @f], devices = array<i64: 0, 1>, parameters = array<i64: 0, 0>,
                  data = array<i64: 1, 0>, results = ["sum"], count = 8 : i64, schedule = "grouped"} : () -> ()

func.func private @f(%x: tensor<i1>) -> tensor<i1> {
  return %x : tensor<i1>
}

// -----

// expected-error @below {{has 1 accumulators; there is one for each gradient, and it has 2 gradients}}
"ipu.pipeline"() {sym_name = "p", stages = [@f, @f], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, accumulators = [f32], count = 8 : i64, schedule = "grouped",
                  training} : () -> ()

func.func private @f(%w: tensor<f32>, %x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
