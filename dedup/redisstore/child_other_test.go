//go:build !linux

package redisstore_test

import "syscall"

// child: only Linux ends a process with its parent.
func child() *syscall.SysProcAttr { return nil }
