//go:build !unix

package scrape

import "os/exec"

// inGroup knows no groups here: the program alone is ended.
func inGroup(cmd *exec.Cmd) (kill func() error) {
	return func() error { return cmd.Process.Kill() }
}
