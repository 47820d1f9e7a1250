//go:build !unix

package child

import "os/exec"

// group knows no groups here: the program alone is ended.
func group(cmd *exec.Cmd) (kill func() error) {
	return func() error { return cmd.Process.Kill() }
}
