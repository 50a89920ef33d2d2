package envoy

import "syscall"

// processAttributes puts Envoy in a process group of its own, so that an
// interrupt at the terminal reaches this program alone, which drains first.
//
// When this program is killed Envoy is told to end, and not killed: with the
// filter dead it lets creates pass for that moment, and its last log names them.
func processAttributes(dieWithParent bool) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if dieWithParent {
		attr.Pdeathsig = syscall.SIGTERM
	}
	return attr
}
