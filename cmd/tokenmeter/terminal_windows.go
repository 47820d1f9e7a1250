package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// There is no signal for a broken pipe; the write fails.
var brokenPipe = []os.Signal{}

// terminalWidth reports whether f is a console, and its columns.
func terminalWidth(f *os.File) (int, bool) {
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info) != nil {
		return 0, false
	}
	return int(info.Window.Right - info.Window.Left + 1), true
}

// utf8Console asks the console for its code page.
func utf8Console() bool {
	const utf8 = 65001
	page, err := windows.GetConsoleOutputCP()
	return err == nil && page == utf8
}

// canMove turns on the console's understanding of escape sequences.
func canMove(f *os.File) bool {
	var mode uint32
	h := windows.Handle(f.Fd())
	if windows.GetConsoleMode(h, &mode) != nil {
		return false
	}
	return windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
