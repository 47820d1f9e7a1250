//go:build !unix

package machine

import "tokenmeter/record/timeline"

// RaiseFiles does nothing: there is no such limit, or, on Windows, none to speak of.
func RaiseFiles() (limit uint64, raised bool) { return 0, false }

func files() (soft, hard timeline.Opt[int64]) { return soft, hard }
