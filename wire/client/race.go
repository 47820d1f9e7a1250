//go:build race && linux

package client

import "syscall"

// syncRead tells the race detector that a read on fd happened: it knows the
// standard library's reads only. A read of nothing takes nothing.
func syncRead(fd uintptr) { _, _ = syscall.Read(int(fd), nil) }

// syncWrite does the same for a write.
func syncWrite(fd uintptr) { _, _ = syscall.Write(int(fd), nil) }
