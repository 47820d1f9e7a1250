//go:build !linux

package sim

import "time"

// pin does nothing where threads cannot be held to a core.
func pin() pinned { return unpinned }

func stolen(int) (time.Duration, bool) { return 0, false }
