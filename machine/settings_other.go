//go:build !linux

package machine

import "tokenmeter/timeline"

func clockState() (synced timeline.Opt[bool], errorMS timeline.Opt[float64]) { return synced, errorMS }
