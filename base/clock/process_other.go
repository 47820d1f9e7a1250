//go:build !unix && !windows

package clock

import "time"

// ProcessTime is 0: this system does not tell.
func ProcessTime() time.Duration { return 0 }
