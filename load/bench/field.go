package bench

import (
	"sync/atomic"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// lengthField knows under which name the server takes the output length. Some
// servers refuse the older name, others ignore the newer one without a word, so
// the API's default is used until a refusal names it.
type lengthField struct{ newer atomic.Bool }

// name is what to put into a request; empty means the API's default.
func (f *lengthField) name() string {
	if f.newer.Load() {
		return api.MaxCompletionTokens
	}
	return ""
}

// learn looks at the answer to a request that used the given field, and
// switches when the server refused just that. It reports whether the request
// would now be written differently.
func (f *lengthField) learn(used string, tl *timeline.Timeline, log *logger) bool {
	if used == api.MaxCompletionTokens || tl.Error == nil || tl.HTTPStatus != 400 && tl.HTTPStatus != 422 {
		return false
	}
	if !api.RefusesMaxTokens(tl.Error.Message) {
		return false
	}
	if f.newer.CompareAndSwap(false, true) {
		log.notice("length_field", timeline.Opt[float64]{},
			"The server refused %s; %s was sent from then on.", api.MaxTokens, api.MaxCompletionTokens)
	}
	return true
}
