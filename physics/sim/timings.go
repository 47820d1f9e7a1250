package sim

import (
	"fmt"
	"strconv"
)

// appendTimings adds what the server tells about its own times inside a reply,
// in the way of the server it is like. n tokens are out; end marks the chunk in
// which a server tells them without being asked for every token.
func (r *reply) appendTimings(b []byte, n int, end bool) []byte {
	if r.s.cfg.Like == LikeLlama {
		if n > 0 && (end || r.timings) {
			return r.appendLlamaTimings(b, n)
		}
		return b
	}
	if !end || !r.metrics || n == 0 {
		return b
	}
	t := r.truth
	first, last := t.DueNS[0], t.DueNS[n-1]
	// vLLM counts the time to the first token from when the request was scheduled.
	b = fmt.Appendf(b, `,"metrics":{"time_to_first_token_ms":%.3f,"queue_time_ms":%.3f,"generation_time_ms":%.3f`,
		float64(t.PrefillNS)/1e6, float64(t.QueueNS)/1e6, float64(last-first)/1e6)
	if n == 1 || last <= first {
		return append(b, `,"mean_itl_ms":null,"tokens_per_second":null}`...)
	}
	return fmt.Appendf(b, `,"mean_itl_ms":%.3f,"tokens_per_second":%.3f}`, float64(last-first)/1e6/float64(n-1), float64(n-1)/float64(last-first)*1e9)
}

// appendLlamaTimings adds the timings of llama-server: prompt_n leaves cached
// tokens out, and the first token's time counts as the prompt's.
func (r *reply) appendLlamaTimings(b []byte, n int) []byte {
	t := r.truth
	prompt := float64(t.PrefillNS) / 1e6
	decode := float64(t.DueNS[n-1]-t.DueNS[0]) / 1e6
	fresh := r.promptTokens - r.cachedTokens
	num := func(name string, v float64, divisor float64) {
		b = append(b, name...)
		if divisor == 0 {
			b = append(b, "null"...) // as JSON writers do with what is no number
			return
		}
		b = strconv.AppendFloat(b, v/divisor, 'f', -1, 64)
	}
	num(`,"timings":{"cache_n":`, float64(r.cachedTokens), 1)
	num(`,"prompt_n":`, float64(fresh), 1)
	num(`,"prompt_ms":`, prompt, 1)
	num(`,"prompt_per_token_ms":`, prompt, float64(fresh))
	num(`,"prompt_per_second":`, float64(fresh)*1e3, prompt)
	num(`,"predicted_n":`, float64(n), 1)
	num(`,"predicted_ms":`, decode, 1)
	num(`,"predicted_per_token_ms":`, decode, float64(n))
	num(`,"predicted_per_second":`, float64(n)*1e3, decode)
	return append(b, '}')
}
