//go:build linux || darwin || freebsd || netbsd || openbsd

package main

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

var brokenPipe = []os.Signal{syscall.SIGPIPE}

// terminalWidth reports whether f is a terminal, and its columns.
func terminalWidth(f *os.File) (int, bool) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	return int(size.Col), true
}

// utf8Console: without a locale only ASCII is sure.
func utf8Console() bool { return false }

// canMove: every terminal but a dumb one understands escape sequences.
func canMove(*os.File) bool { return true }
