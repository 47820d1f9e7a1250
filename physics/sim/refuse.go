package sim

import (
	"cmp"
	"fmt"
)

// refusal says whether the request is answered with an error at once.
func (r *reply) refusal() (status int, message string) {
	cfg := &r.s.cfg
	for _, f := range r.faults {
		if s := f.status(); s != 0 {
			return s, fmt.Sprintf("simulated status %d", s)
		}
	}
	if cfg.Model != "" && cfg.Like != LikeLlama && r.ask.model != "" && r.ask.model != cfg.Model {
		return 404, fmt.Sprintf("the model %q does not exist; this server has %q", r.ask.model, cfg.Model)
	}
	if cfg.MaxContext > 0 && r.promptTokens >= cfg.MaxContext {
		return 400, fmt.Sprintf("the prompt has %d tokens, the context holds %d", r.promptTokens, cfg.MaxContext)
	}
	return 0, ""
}

var errorTypes = map[int]string{400: "BadRequestError", 401: "AuthenticationError", 404: "NotFoundError", 429: "RateLimitError"}

// refuse answers with an error. It may run on either goroutine, while no other
// writes to the connection.
func (r *reply) refuse(status int, message string) {
	kind := cmp.Or(errorTypes[status], "InternalServerError")
	body := errorBody(status, kind, message)
	if r.c.ws != nil {
		r.truth.Status, r.truth.Outcome, r.over = status, "refused", true
		r.c.out.write(appendErrorEvent(nil, status, kind, message), mark{r: r, end: true}, keepOpen)
		return
	}
	more := "X-Request-Id: " + r.truth.ID + "\r\n"
	if status == 429 || status == 503 {
		more += "Retry-After: 1\r\n"
	}
	b := wholeHead(status, "application/json", more, r.closing, len(body))
	r.truth.Status = status
	r.truth.Outcome = "refused"
	then := keepOpen
	if r.closing {
		then = closeIt
	}
	r.over = true
	r.c.out.write(append(b, body...), mark{r: r, head: true, end: true}, then)
}
