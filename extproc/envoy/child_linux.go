package envoy

import "syscall"

// processAttributes puts Envoy in a process group of its own, so that an
// interrupt at the terminal reaches this program alone, which drains first.
func processAttributes(dieWithParent bool) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if dieWithParent {
		attr.Pdeathsig = syscall.SIGKILL
	}
	return attr
}
