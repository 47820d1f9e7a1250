package bench

import (
	"tokenmeter/client"
	"tokenmeter/timeline"
)

// capture returns where the raw reads of a request go, or nil.
func (r *runner) capture(tl *timeline.Timeline, request []byte) client.Recorder {
	return nil
}
