package bench

import (
	"strings"
	"sync/atomic"

	"tokenmeter/timeline"
)

// lengthField knows under which name the server takes the output length. Some
// servers refuse the older name, others ignore the newer one without a word, so
// the API's default is used until a refusal names it.
type lengthField struct{ newer atomic.Bool }

const (
	olderField = "max_tokens"
	newerField = "max_completion_tokens"
)

// name is what to put into a request; empty means the API's default.
func (f *lengthField) name() string {
	if f.newer.Load() {
		return newerField
	}
	return ""
}

// learn looks at the answer to a request that used the given field, and
// switches when the server refused just that. It reports whether the request
// would now be written differently.
func (f *lengthField) learn(used string, tl *timeline.Timeline, log *logger) bool {
	if used == newerField || tl.Error == nil || tl.HTTPStatus != 400 && tl.HTTPStatus != 422 {
		return false
	}
	if !refusesField(tl.Error.Message) {
		return false
	}
	if f.newer.CompareAndSwap(false, true) {
		log.notice("length_field", timeline.Opt[float64]{},
			"The server refused %s; %s was sent from then on.", olderField, newerField)
	}
	return true
}

// refusesField tells a refused name from a refused value ("max_tokens is too large").
func refusesField(message string) bool {
	m := strings.ToLower(message)
	if !strings.Contains(m, olderField) {
		return false
	}
	for _, word := range []string{newerField, "unsupported", "not supported", "unrecognized", "unrecognised",
		"unknown", "not permitted", "unexpected", "deprecated"} {
		if strings.Contains(m, word) {
			return true
		}
	}
	return false
}
