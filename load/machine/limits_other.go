//go:build !unix && !windows

package machine

import (
	"time"

	"tokenmeter/record/timeline"
)

// RaiseFiles does nothing where there is no such limit.
func RaiseFiles() (limit uint64, raised bool) { return 0, false }

func files() (soft, hard timeline.Opt[int64]) { return soft, hard }

func processTime() time.Duration { return 0 }
