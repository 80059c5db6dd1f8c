// RUN: ipu-opt %s --split-input-file --verify-diagnostics --ipu-check-calls

// expected-error @below {{@main has 3,145,724 ops when its calls are inlined, and at most 200,000 are compiled; mark the calls of @f10, @f1 with {ipu.outlined}, so that the code of each exists once}}
func.func @main(%x: f32) -> f32 {
  %a = func.call @f1(%x) : (f32) -> f32
  %b = func.call @f1(%a) : (f32) -> f32
  return %b : f32
}

func.func private @f1(%x: f32) -> f32 {
  %a = func.call @f2(%x) : (f32) -> f32
  %b = func.call @f2(%a) : (f32) -> f32
  return %b : f32
}

func.func private @f2(%x: f32) -> f32 {
  %a = func.call @f3(%x) : (f32) -> f32
  %b = func.call @f3(%a) : (f32) -> f32
  return %b : f32
}

func.func private @f3(%x: f32) -> f32 {
  %a = func.call @f4(%x) : (f32) -> f32
  %b = func.call @f4(%a) : (f32) -> f32
  return %b : f32
}

func.func private @f4(%x: f32) -> f32 {
  %a = func.call @f5(%x) : (f32) -> f32
  %b = func.call @f5(%a) : (f32) -> f32
  return %b : f32
}

func.func private @f5(%x: f32) -> f32 {
  %a = func.call @f6(%x) : (f32) -> f32
  %b = func.call @f6(%a) : (f32) -> f32
  return %b : f32
}

func.func private @f6(%x: f32) -> f32 {
  %a = func.call @f7(%x) : (f32) -> f32
  %b = func.call @f7(%a) : (f32) -> f32
  return %b : f32
}

func.func private @f7(%x: f32) -> f32 {
  %a = func.call @f8(%x) : (f32) -> f32
  %b = func.call @f8(%a) : (f32) -> f32
  return %b : f32
}

func.func private @f8(%x: f32) -> f32 {
  %a = func.call @f9(%x) : (f32) -> f32
  %b = func.call @f9(%a) : (f32) -> f32
  return %b : f32
}

func.func private @f9(%x: f32) -> f32 {
  %a = func.call @f10(%x) : (f32) -> f32
  %b = func.call @f10(%a) : (f32) -> f32
  return %b : f32
}

func.func private @f10(%x: f32) -> f32 {
  %a = func.call @f11(%x) : (f32) -> f32
  %b = func.call @f11(%a) : (f32) -> f32
  return %b : f32
}

func.func private @f11(%x: f32) -> f32 {
  %a = func.call @f12(%x) : (f32) -> f32
  %b = func.call @f12(%a) : (f32) -> f32
  return %b : f32
}

func.func private @f12(%x: f32) -> f32 {
  %a = func.call @f13(%x) : (f32) -> f32
  %b = func.call @f13(%a) : (f32) -> f32
  return %b : f32
}

func.func private @f13(%x: f32) -> f32 {
  %a = func.call @f14(%x) : (f32) -> f32
  %b = func.call @f14(%a) : (f32) -> f32
  return %b : f32
}

func.func private @f14(%x: f32) -> f32 {
  %a = func.call @f15(%x) : (f32) -> f32
  %b = func.call @f15(%a) : (f32) -> f32
  return %b : f32
}

func.func private @f15(%x: f32) -> f32 {
  %a = func.call @f16(%x) : (f32) -> f32
  %b = func.call @f16(%a) : (f32) -> f32
  return %b : f32
}

func.func private @f16(%x: f32) -> f32 {
  %a = func.call @f17(%x) : (f32) -> f32
  %b = func.call @f17(%a) : (f32) -> f32
  return %b : f32
}

func.func private @f17(%x: f32) -> f32 {
  %a = func.call @f18(%x) : (f32) -> f32
  %b = func.call @f18(%a) : (f32) -> f32
  return %b : f32
}

func.func private @f18(%x: f32) -> f32 {
  %a = func.call @f19(%x) : (f32) -> f32
  %b = func.call @f19(%a) : (f32) -> f32
  return %b : f32
}

func.func private @f19(%x: f32) -> f32 {
  return %x : f32
}
