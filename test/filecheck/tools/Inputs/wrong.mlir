func.func @wrong() -> i32 {
  return
}
