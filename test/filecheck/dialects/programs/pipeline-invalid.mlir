// RUN: ipu-opt %s --split-input-file --verify-diagnostics

func.func @inside() {
  // expected-error @below {{stands inside a function; a pipeline belongs to the module}}
  "ipu.pipeline"() {sym_name = "p", stages = [@a, @b], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                    data = array<i64: 1, 0>, count = 8 : i64, schedule = "grouped"} : () -> ()
  return
}

// -----

// expected-error @below {{has stages = [@a]; a pipeline takes two stages at least}}
"ipu.pipeline"() {sym_name = "p", stages = [@a], devices = array<i64: 0>, parameters = array<i64: 1>,
                  data = array<i64: 1>, count = 8 : i64, schedule = "grouped"} : () -> ()

// -----

// expected-error @below {{has devices = array<i64: 0>; it takes array<i64: ...> with one for each of its stages}}
"ipu.pipeline"() {sym_name = "p", stages = [@a, @b], devices = array<i64: 0>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, count = 8 : i64, schedule = "grouped"} : () -> ()

// -----

// expected-error @below {{has devices = array<i64: 0, -1>; they are counted from 0}}
"ipu.pipeline"() {sym_name = "p", stages = [@a, @b], devices = array<i64: 0, -1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, count = 8 : i64, schedule = "grouped"} : () -> ()

// -----

// expected-error @below {{has schedule = "round"; it is one of grouped, interleaved, sequential}}
"ipu.pipeline"() {sym_name = "p", stages = [@a, @b], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, count = 8 : i64, schedule = "round"} : () -> ()

// -----

// expected-error @below {{has 6 micro-batches; the schedule grouped of 2 stages takes a multiple of 4: 4 or 8}}
"ipu.pipeline"() {sym_name = "p", stages = [@a, @b], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, count = 6 : i64, schedule = "grouped", training} : () -> ()

// -----

// expected-error @below {{has 3 micro-batches; the schedule interleaved of 2 stages takes a multiple of 2: 2 or 4}}
"ipu.pipeline"() {sym_name = "p", stages = [@a, @b], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, count = 3 : i64, schedule = "interleaved", training} : () -> ()

// -----

// expected-error @below {{has two stages on one IPU, [0, 0]; the schedule grouped takes that}}
"ipu.pipeline"() {sym_name = "p", stages = [@a, @b], devices = array<i64: 0, 0>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, count = 8 : i64, schedule = "interleaved", training} : () -> ()

// -----

// expected-error @below {{has gradients = [@c]; it names one for each of its stages, or none}}
"ipu.pipeline"() {sym_name = "p", stages = [@a, @b], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, count = 8 : i64, schedule = "grouped", gradients = [@c]} : () -> ()

// -----

// expected-error @below {{has groups = [0, 2]; they count the stages from 0, in their order}}
"ipu.pipeline"() {sym_name = "p", stages = [@a, @b], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, groups = array<i64: 0, 2>, count = 8 : i64, schedule = "grouped"} : () -> ()

// -----

// expected-error @below {{has results = ["all", "first"]; it is a list of all, sum, last, none}}
"ipu.pipeline"() {sym_name = "p", stages = [@a, @b], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, results = ["all", "first"], count = 8 : i64, schedule = "grouped"} : () -> ()

// -----

// expected-error @below {{has offload = unit; it is a list of stored, gradients, parameters}}
"ipu.pipeline"() {sym_name = "p", stages = [@a, @b], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, offload, count = 8 : i64, schedule = "grouped"} : () -> ()

// -----

// expected-error @below {{has accumulators = [i32]; it is a list of types of floats}}
"ipu.pipeline"() {sym_name = "p", stages = [@a, @b], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, accumulators = [i32], count = 8 : i64, schedule = "grouped"} : () -> ()

// -----

// expected-error @below {{has count = 0 : i64; it is a number above 0}}
"ipu.pipeline"() {sym_name = "p", stages = [@a, @b], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, count = 0 : i64, schedule = "grouped"} : () -> ()

// -----

// expected-error @below {{has data = [1, 0] and no count; data of so many micro-batches come from an ipu.infeed}}
"ipu.pipeline"() {sym_name = "p", stages = [@a, @b], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, results = ["sum"], schedule = "grouped"} : () -> ()

// -----

// expected-error @below {{has no count and gives all results; give results = [...] with sum, last or none for each of them}}
"ipu.pipeline"() {sym_name = "p", stages = [@a, @b], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 0, 0>, schedule = "grouped"} : () -> ()

// -----

// expected-error @below {{has serialized = 2, which the schedule grouped has not; sequential has it}}
"ipu.pipeline"() {sym_name = "p", stages = [@a, @b], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, serialized = 2 : i64, count = 8 : i64, schedule = "grouped"} : () -> ()

// -----

// expected-error @below {{has serialized = 3, of which 8 micro-batches are no multiple}}
"ipu.pipeline"() {sym_name = "p", stages = [@a, @b], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, serialized = 3 : i64, count = 8 : i64, schedule = "sequential"} : () -> ()

// -----

// expected-error @below {{has most_again = -1.000000e+00 : f64; it is a float from 0 on}}
"ipu.pipeline"() {sym_name = "p", stages = [@a, @b], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, recompute = "inputs", most_again = -1.0 : f64, count = 8 : i64,
                  schedule = "sequential"} : () -> ()

// -----

func.func @number() -> tensor<i64> {
  // expected-error @below {{gives tensor<i64>; the number of a micro-batch is a tensor<i32>}}
  %n = "ipu.micro_batch"() : () -> tensor<i64>
  return %n : tensor<i64>
}

// -----

func.func @kept(%x: tensor<4xf32>) -> tensor<4xf16> {
  // expected-error @below {{gives tensor<4xf16> for tensor<4xf32>; it keeps the type}}
  %n = "ipu.keep"(%x) : (tensor<4xf32>) -> tensor<4xf16>
  return %n : tensor<4xf16>
}
