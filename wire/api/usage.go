package api

import "tokenmeter/record/timeline"

// usage reads a usage object with the names of OpenAI and of those who extend
// them. Input and output include what the details count.
func (c *scan) usage(u *timeline.Usage, t *serverTimings) {
	for name := range c.members {
		switch string(name) {
		case "prompt_tokens", "input_tokens":
			c.count(&u.Input)
		case "completion_tokens", "output_tokens":
			c.count(&u.Output)
		case "total_tokens":
			c.count(&u.Total)
		case "prompt_tokens_details", "input_tokens_details":
			c.usageDetails(u)
		case "completion_tokens_details", "output_tokens_details":
			c.usageDetails(u)
		case "cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens":
			c.count(&u.Cached)
		case "cache_creation_input_tokens":
			c.count(&u.CacheWrite)
		case "reasoning_tokens":
			c.count(&u.Reasoning)
		case "queue_time":
			t.seconds(queueMS, c)
		case "prompt_time":
			t.seconds(prefillMS, c)
		case "completion_time":
			t.seconds(decodeMS, c)
		case "total_time":
			t.seconds(totalMS, c)
		default:
			c.skip()
		}
	}
}

func (c *scan) usageDetails(u *timeline.Usage) {
	for name := range c.members {
		switch string(name) {
		case "cached_tokens":
			c.count(&u.Cached)
		case "reasoning_tokens":
			c.count(&u.Reasoning)
		default:
			c.skip()
		}
	}
}

// count reads a count; what is no count (null, negative) changes nothing.
func (c *scan) count(field *timeline.Opt[int64]) {
	if n, ok := c.integer(); ok && n >= 0 {
		*field = timeline.Some(n)
	}
}
