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
	if err := start(cmd, kill); err != nil {
		return err
	}
	defer forget(cmd)
	err := cmd.Wait()
	if errors.Is(err, exec.ErrWaitDelay) {
		_ = kill() // what it left behind
	}
	return err
}

// EndAll ends every program that runs. One that is being started is started first, so
// that it ends, too.
func EndAll() {
	mu.Lock()
	defer mu.Unlock()
	for _, kill := range running {
		_ = kill()
	}
}

var (
	mu      sync.Mutex
	running = map[*exec.Cmd]func() error{} // how each is ended
)

func start(cmd *exec.Cmd, kill func() error) error {
	mu.Lock()
	defer mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	running[cmd] = kill
	return nil
}

func forget(cmd *exec.Cmd) {
	mu.Lock()
	defer mu.Unlock()
	delete(running, cmd)
}
