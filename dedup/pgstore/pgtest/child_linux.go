package pgtest

import "syscall"

// child ends with the test's process, however that ends. SIGQUIT is
// PostgreSQL's immediate shutdown, which leaves nothing behind.
func child() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT} }
