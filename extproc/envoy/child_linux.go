package envoy

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

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

// becomes is the name under which this program runs to become Envoy.
const becomes = "oneticket-becomes-envoy"

// command starts Envoy by way of this program, see init.
func command(path string, args []string) *exec.Cmd {
	found, err := exec.LookPath(path)
	if err != nil {
		return exec.Command(path, args...) // says so when it is started
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = append([]string{becomes, found}, args...)
	return cmd
}

// init lets Envoy begin with SIGTERM ignored. It takes the signal as soon as it
// runs, and gives it back as it was when it ends, before it has written its
// log. And the kernel sends the signal of a parent's death once for each thread
// that the parent had: with the default of a process, the second one is the
// death of an Envoy that is about to name what it let pass.
func init() {
	if os.Args[0] != becomes || len(os.Args) < 2 {
		return
	}
	signal.Ignore(syscall.SIGTERM)
	err := syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
	fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[1], err)
	os.Exit(127)
}
