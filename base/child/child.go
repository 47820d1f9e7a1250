// Package child ends a program together with all that it started.
package child

import (
	"errors"
	"os/exec"
	"sync"
)

// Run runs a program in a group of its own: what it started ends with it, when its
// context does, and what keeps its output open beyond WaitDelay. Ctrl-C at our terminal
// does not reach it; who leaves at once calls EndAll.
func Run(cmd *exec.Cmd) error {
	kill := group(cmd)
	cmd.Cancel = kill
	if err := cmd.Start(); err != nil {
		return err
	}
	running.Store(cmd, kill)
	defer running.Delete(cmd)
	err := cmd.Wait()
	if errors.Is(err, exec.ErrWaitDelay) {
		_ = kill() // what it left behind
	}
	return err
}

// EndAll ends every program that runs.
func EndAll() {
	for _, kill := range running.Range {
		_ = kill.(func() error)()
	}
}

var running sync.Map // of *exec.Cmd, how each is ended
