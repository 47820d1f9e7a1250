package client

import (
	"errors"

	"tokenmeter/record/timeline"
)

var errSeenEnough = errors.New("the user left: enough had come")

// watched looks at a reply after each read: it tells about the first token, and
// reports whether the user has seen enough and hangs up.
func (x *exchange) watched() bool {
	if x.mode != deliver {
		return false
	}
	if x.first != nil && x.sink.HasToken() {
		x.first()
		x.first = nil
	}
	if x.leaveAt <= 0 || x.sink.Tokens() < x.leaveAt || x.enoughNS > 0 {
		return false
	}
	x.end(x.lastNS, timeline.EndUser, errSeenEnough)
	return true
}
