package redisstore_test

import "syscall"

// child ends with the test's process, however that ends.
func child() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
