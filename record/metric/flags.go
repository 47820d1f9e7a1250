package metric

import "tokenmeter/record/timeline"

// tokenFlags are the flags that follow from the counts.
func tokenFlags(tl *timeline.Timeline, s *seen, c *counted) timeline.FlagSet {
	var f timeline.FlagSet
	streamed := c.streamed.Or(0)
	if s.n > 0 {
		if tl.Evidence == timeline.Arrivals && c.events > 0 && float64(streamed) >= 1.5*float64(c.events) {
			f |= timeline.MultiTokenChunks
		}
		if c.source == FromTokenizer || c.source == FromChunks {
			f |= timeline.Estimated
		}
		if !s.answer {
			f |= timeline.NoAnswer
		}
	}
	if mismatch(tl, s, c) {
		f |= timeline.TokenCountMismatch
	}
	if c.hidden > 0 {
		f |= timeline.HiddenReasoning
	}
	if c.beside != 0 {
		f |= timeline.UsageInconsistent
	}
	if tl.Usage.Cached.Or(0) > 0 {
		f |= timeline.PrefixCacheActive
	}
	return f
}

// mismatch reports that text and count cannot both be right: fewer bytes than
// tokens, fewer tokens than events, or a local tokenizer more than 10 % away. The
// tokenizer saw what was streamed: hidden reasoning is in neither count, a summary of
// reasoning in its alone, so beside one they are not compared. Other tools' files tell
// no bytes.
func mismatch(tl *timeline.Timeline, s *seen, c *counted) bool {
	streamed := c.streamed.Or(0)
	if c.short || s.bytes > 0 && s.media == 0 && s.bytes < streamed {
		return true
	}
	local, ok := tl.Tokenized.Get()
	if !ok || c.summary || !c.streamed.OK() || c.source == FromTokenizer || c.source == FromChunks {
		return false
	}
	return 10*max(local-streamed, streamed-local) > streamed
}

// deliveryFlags are the flags that follow from how the stream arrived.
func deliveryFlags(tl *timeline.Timeline, s *seen, c *counted) timeline.FlagSet {
	var f timeline.FlagSet
	if !tl.Streamed && tl.Outcome == timeline.OK && tl.Evidence == timeline.Arrivals && (!tl.Wordless() || tl.Asked) {
		f |= timeline.NonStreaming
		if tl.Asked {
			f |= timeline.StreamIgnored
		}
	}
	if s.n == 0 {
		return f
	}
	n := c.output.Or(0)
	if n >= 3 && s.deliveries == 1 || n >= 5 && s.spanUS() <= burstUS {
		f |= timeline.Burst
	}
	if s.coalesced {
		f |= timeline.Coalesced
	}
	return f
}
