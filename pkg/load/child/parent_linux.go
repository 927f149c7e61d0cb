package child

import (
	"os/exec"
	"syscall"
)

// endWithParent has a program killed when the thread that starts it ends, which the process does not
// outlive.
func endWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
