package main

import "syscall"

// child ties a process to this one: it must not outlive a test that is killed.
func child() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
