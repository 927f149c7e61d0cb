package main

import (
	"os"
	"os/exec"
	"syscall"
)

// alone has a command run with a folder as its root, as nobody. It is false where that is not permitted.
func alone(cmd *exec.Cmd, root string) bool {
	if os.Geteuid() != 0 {
		return false
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	return true
}
