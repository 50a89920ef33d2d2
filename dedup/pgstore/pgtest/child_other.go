//go:build !linux

package pgtest

import "syscall"

// child: only Linux ends a process with its parent.
func child() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
