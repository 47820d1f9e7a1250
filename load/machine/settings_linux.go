package machine

import (
	"golang.org/x/sys/unix"

	"tokenmeter/record/timeline"
)

// clockState asks the kernel what a time service made of the wall clock. The
// call only reads.
func clockState() (synced timeline.Opt[bool], errorMS timeline.Opt[float64]) {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	if err != nil {
		return synced, errorMS
	}
	good := state != unix.TIME_ERROR && t.Status&unix.STA_UNSYNC == 0
	if good && t.Maxerror >= 0 {
		errorMS = timeline.Some(float64(t.Maxerror) / 1000)
	}
	return timeline.Some(good), errorMS
}
