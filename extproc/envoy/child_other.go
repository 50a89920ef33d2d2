//go:build !linux

package envoy

import (
	"os/exec"
	"syscall"
)

func command(path string, args []string) *exec.Cmd { return exec.Command(path, args...) }

// processAttributes cannot make Envoy die with this program here.
func processAttributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
