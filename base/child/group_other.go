//go:build !unix

package child

import "os/exec"

// Group knows no groups here: the program alone is ended.
func Group(cmd *exec.Cmd) (kill func() error) {
	return func() error { return cmd.Process.Kill() }
}
