package harness

import (
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// Start starts a process on one core: a child inherits the mask of the thread
// that made it.
func Start(c *exec.Cmd, cpu int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	one.Set(cpu)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return err
	}
	defer unix.SchedSetaffinity(0, &before)
	return c.Start()
}
