//go:build !unix && !windows

package machine

import "time"

// RaiseFiles does nothing where there is no such limit.
func RaiseFiles() (limit uint64, raised bool) { return 0, false }

func processTime() time.Duration { return 0 }
