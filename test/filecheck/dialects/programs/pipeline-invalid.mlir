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
