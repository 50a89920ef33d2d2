//go:build !linux

package envoy

import "syscall"

// processAttributes cannot make Envoy die with this program here.
func processAttributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
