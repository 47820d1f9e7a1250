//go:build !linux

// Package pinned starts the processes of a benchmark on a core each.
package pinned

import (
	"errors"
	"os/exec"
)

// Start refuses.
func Start(*exec.Cmd, int) error {
	return errors.New("this program needs Linux: other systems do not tell both processes the same clock")
}
