//go:build unix

package child

import (
	"os/exec"
	"syscall"
)

// group gives a program a process group of its own: what it starts ends with it,
// and Ctrl-C at our terminal does not reach it.
func group(cmd *exec.Cmd) (kill func() error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
