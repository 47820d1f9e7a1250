package imports

import "tokenmeter/record/timeline"

// reply reads what a server wrote, in events or whole; nil where nothing of it is known.
func (in *Input) reply(body string) *timeline.Timeline {
	if in.Reply == nil || body == "" {
		return nil
	}
	return in.Reply(body)
}

// judge goes by the reply of a request that went well by its tool: clients of load
// generators take an error within a stream, and a stream that breaks off, for the end of
// an answer.
func (r *request) judge(reply *timeline.Timeline) {
	if reply == nil || r.failure != "" {
		return
	}
	if reply.Outcome == timeline.StreamError || reply.Outcome == timeline.StreamTruncated {
		r.failure, r.class = reply.Error.Message, reply.Outcome
	}
}

// thinks reports whether reasoning came under a name of its own, as a tool may pass over it.
func thinks(reply *timeline.Timeline) bool {
	if reply == nil || reply.Flags.Has(timeline.InlineReasoning) {
		return false
	}
	for ev := range reply.Events.Generation() {
		if ev.Kind == timeline.Reasoning {
			return true
		}
	}
	return false
}
