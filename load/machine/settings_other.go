//go:build !linux

package machine

import "tokenmeter/record/timeline"

func clockState() (synced timeline.Opt[bool], errorMS timeline.Opt[float64]) { return synced, errorMS }
