// RUN: ipu-opt %s | ipu-opt | filecheck %s

// CHECK: "ipu.pipeline"() {count = 8 : i64, data = array<i64: 1, 0>, devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>, recompute = "elementwise", reduction = "mean", schedule = "grouped", stages = [@first, @last], sym_name = "p", training}
"ipu.pipeline"() {sym_name = "p", stages = [@first, @last], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, count = 8 : i64, schedule = "grouped", training, reduction = "mean",
                  recompute = "elementwise"} : () -> ()
