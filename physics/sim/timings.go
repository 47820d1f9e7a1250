package sim

import "strconv"

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
	b = append(b, `,"metrics":{"time_to_first_token_ms":`...)
	b = appendMS(b, t.PrefillNS) // vLLM counts it from when the request was scheduled
	b = append(b, `,"queue_time_ms":`...)
	b = appendMS(b, t.QueueNS)
	b = append(b, `,"generation_time_ms":`...)
	b = appendMS(b, last-first)
	if n > 1 && last > first {
		b = append(b, `,"mean_itl_ms":`...)
		b = strconv.AppendFloat(b, float64(last-first)/1e6/float64(n-1), 'f', 3, 64)
		b = append(b, `,"tokens_per_second":`...)
		b = strconv.AppendFloat(b, float64(n-1)/float64(last-first)*1e9, 'f', 3, 64)
	} else {
		b = append(b, `,"mean_itl_ms":null,"tokens_per_second":null`...)
	}
	return append(b, '}')
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

func appendMS(b []byte, ns int64) []byte {
	return strconv.AppendFloat(b, float64(ns)/1e6, 'f', 3, 64)
}
