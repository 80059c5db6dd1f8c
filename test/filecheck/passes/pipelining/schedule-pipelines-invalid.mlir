// RUN: ipu-opt %s --ipu-schedule-pipelines --split-input-file --verify-diagnostics

// expected-error @below {{runs @p, and there is no such ipu.pipeline}}
func.func private @run(tensor<4xf32>) -> tensor<4xf32> attributes {ipu.pipeline = @p}

// -----

"ipu.pipeline"() {sym_name = "p", stages = [@first, @last], devices = array<i64: 0, 1>, parameters = array<i64: 1, 1>,
                  data = array<i64: 1, 0>, count = 8 : i64, schedule = "grouped"} : () -> ()
func.func private @first(%w: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @last(%w: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// expected-error @below {{has the type (tensor<4xf32>) -> tensor<4xf32>, and runs a pipeline of type (tensor<4xf32>, tensor<4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>}}
func.func private @run(tensor<4xf32>) -> tensor<4xf32> attributes {ipu.pipeline = @p}

// -----

module attributes {ipu.target = #ipu.target<{ipus = 2, tiles_per_ipu = 4}>} {
  // expected-error @below {{has a stage on IPU 2, counted from 0, and the target has 2 IPUs; compile for 4, or let devices= name those that there are}}
  "ipu.pipeline"() {sym_name = "p", stages = [@stage, @stage], devices = array<i64: 0, 2>, parameters = array<i64: 0, 0>,
                    data = array<i64: 1, 0>, count = 8 : i64, schedule = "grouped"} : () -> ()
  func.func private @stage(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
  func.func private @run(tensor<8x4xf32>) -> tensor<8x4xf32> attributes {ipu.pipeline = @p}
}
