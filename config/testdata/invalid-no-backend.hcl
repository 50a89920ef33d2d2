watch = true
