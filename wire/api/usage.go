package api

import (
	"strconv"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/jsonscan"
)

// usage is a usage object as it was sent. Whether its parts stand within the
// prompt's and the answer's counts or beside them is settled at the reply's end.
type usage struct {
	timeline.Usage
	parts [nParts]int64 // what is counted beside text; 0: nothing, or not told
	tier  jsonscan.Text // the class of service, by which the counts are billed
	media int64         // of the prompt's pictures and videos, within it; 0: none, or not told

	// How the prompt's counts lie to each other:
	allPrompt   timeline.Opt[int64] // the prompt by OpenAI's name, which has the cache within it
	uncached    timeline.Opt[int64] // what of the prompt did not come from the cache (DeepSeek)
	maybeBeside bool                // the cache has names by which it may be beside the prompt: Anthropic's and Amazon's
	billedOnly  bool                // prompt and total are what is billed of them, without the cache (GigaChat)
	secondsOnly bool                // sound of the prompt is told in seconds, its tokens are not told
}

// part is something that a usage counts and that some servers leave out of the
// counts of prompt and answer.
type part uint8

const (
	promptTool part = iota
	promptImage
	promptAudio
	promptVideo
	promptOther
	answerImage
	answerAudio
	answerVideo
	nParts

	firstOfAnswer = answerImage
	others        = 4 // counts that may stand beside their whole and have fields of their own
)

// usage reads a usage object: the names of OpenAI and of those who extend them, of
// Amazon's Bedrock and of Google's two APIs.
func (s *scan) usage(u *usage, t *serverTimings) {
	var besides, passes *usage
	var fast jsonscan.Text
	for name := range s.Members {
		switch string(name) {
		case "prompt_tokens":
			s.count(&u.allPrompt)
			rise(&u.Input, u.allPrompt)
		case "input_tokens", "inputTokens", "promptTokenCount", "total_input_tokens":
			s.count(&u.Input)
		case "completion_tokens", "output_tokens", "outputTokens", "candidatesTokenCount", "total_output_tokens":
			s.count(&u.Output)
		case "total_tokens", "totalTokens", "totalTokenCount":
			s.count(&u.Total)
		case "prompt_tokens_details", "prompt_token_details", "input_tokens_details", "input_token_details":
			for name := range s.Members {
				s.usageDetail(name, u, promptTool)
			}
		case "completion_tokens_details", "output_tokens_details", "output_token_details":
			for name := range s.Members {
				s.usageDetail(name, u, firstOfAnswer)
			}
		case "billing_usage": // new-api's, of the model's own server
			s.under("openai_usage", func() { s.original(u) })
		case "x_details": // Alibaba's, by kind of billing: cache writes stand there alone
			for range s.Elements {
				s.under("prompt_tokens_details", func() {
					for name := range s.Members {
						s.usageDetail(name, u, promptTool)
					}
				})
			}
		case "prompt_audio_seconds": // Mistral's
			seconds, _ := s.Float()
			u.secondsOnly = u.secondsOnly || seconds > 0
		case "queue_time":
			t.seconds(queueMS, s)
		case "prompt_time":
			t.seconds(prefillMS, s)
		case "completion_time":
			t.seconds(decodeMS, s)
		case "total_time":
			t.seconds(totalMS, s)
		case "service_tier", "serviceTier", "trafficType": // Anthropic, the Gemini API, Vertex AI
			s.tier(u)
		case "speed": // Anthropic's fast mode has prices of its own
			if t, ok := s.Text(); ok && t.Is("fast") {
				fast = t
			}
		case "iterations":
			var others bool
			if besides, passes, others = s.iterations(); others {
				fast = jsonscan.Text{Raw: []byte("other_model")}
			}
		case "cacheDetails": // Bedrock's, of each time to live
			for range s.Elements {
				var ttl jsonscan.Text
				n := none
				for name := range s.Members {
					switch string(name) {
					case "ttl":
						ttl, _ = s.Text()
					case "inputTokens":
						s.count(&n)
					}
				}
				if ttl.Is("1h") {
					rise(&u.CacheWrite1h, n)
				}
			}
		case "promptTokensDetails", "input_tokens_by_modality": // Google's
			s.modalities(u, promptAudio)
		case "candidatesTokensDetails", "output_tokens_by_modality":
			s.modalities(u, answerAudio)
		default:
			s.usageDetail(name, u, promptTool)
		}
	}
	if !fast.Empty() {
		u.tier = fast
	}
	switch {
	case besides == nil:
	case passes.Output == u.Output: // LiteLLM's counts have all passes in them
		plus(&u.Rejected, besides.Rejected)
	default:
		u.each(besides, plus)
	}
}

// iterations reads the passes that Anthropic tells of, as far as the counts of the
// message leave them out: a context that was summarised first. Its tokens were
// spent and are no part of the answer. all is what every pass wrote: by it is known whether
// the counts leave any out. others says that another model had a part in it:
// an advisor, whose tokens the message leaves out, or the one that a refused request
// fell back to. They have prices of their own.
func (s *scan) iterations() (sum, all *usage, others bool) {
	sum, all = new(usage), new(usage)
	for range s.Elements {
		var one usage
		compacts := false
		for name := range s.Members {
			switch string(name) {
			case "type":
				t, _ := s.Text()
				compacts = t.Is("compaction")
				others = others || t.Is("advisor_message") || t.Is("fallback_message")
			case "input_tokens":
				s.count(&one.Input)
			case "output_tokens":
				s.count(&one.Output)
			default:
				s.usageDetail(name, &one, promptTool)
			}
		}
		plus(&all.Output, one.Output)
		if one.Rejected = one.Output; compacts {
			sum.each(&one, plus)
		}
	}
	return sum, all, others
}

// original reads what the usage that a gateway translated tells beyond its translation: the
// whole prompt, which may stand there as the rest beside the cache, and the reasoning.
// Source: QuantumNous/new-api, buildClaudeUsageFromOpenAIUsage
func (s *scan) original(u *usage) {
	for name := range s.Members {
		switch string(name) {
		case "prompt_tokens":
			s.count(&u.allPrompt)
		case "completion_tokens_details":
			s.under("reasoning_tokens", func() { s.count(&u.Reasoning) })
		}
	}
}

// usageDetail reads one of the counts that stand in the details, or, with some
// vendors, beside them. side is the first part of the side that it belongs to.
func (s *scan) usageDetail(name []byte, u *usage, side part) {
	switch string(name) {
	case "cache_read_input_tokens", "cache_read_tokens", "cacheReadInputTokens", "cacheReadInputTokenCount":
		s.countBeside(&u.Cached, u)
	case "cached_tokens", "num_cached_tokens", "prompt_cache_hit_tokens", "cachedContentTokenCount", "total_cached_tokens", "cached_input_tokens":
		s.count(&u.Cached)
	case "precached_prompt_tokens":
		s.count(&u.Cached)
		u.billedOnly = true
	case "cache_creation_input_tokens", "cache_creation_tokens", "cache_write_input_tokens", "cacheWriteInputTokens", "cacheWriteInputTokenCount":
		s.countBeside(&u.CacheWrite, u)
	case "prompt_cache_miss_tokens":
		s.count(&u.uncached)
	case "cache_write_tokens", "cached_creation_tokens", "cached_write_tokens", "caching_tokens":
		s.count(&u.CacheWrite)
	case "cache_creation", "cache_creation_token_details": // Anthropic's, LiteLLM's
		s.under("ephemeral_1h_input_tokens", func() { s.count(&u.CacheWrite1h) })
	case "cached_write_token_details": // Bifrost's
		s.under("cached_write_tokens_1h", func() { s.count(&u.CacheWrite1h) })
	case "claude_cache_creation_1_h_tokens": // new-api's
		s.count(&u.CacheWrite1h)
	case "reasoning_tokens", "thinking_tokens", "thoughts_tokens", "thoughtsTokenCount", "total_thought_tokens", "total_reasoning_tokens":
		s.count(&u.Reasoning)
	case "rejected_prediction_tokens":
		s.count(&u.Rejected)
	case "tool_use_prompt_tokens", "tool_prompt_tokens", "tool_tokens", "toolUsePromptTokenCount", "total_tool_use_tokens":
		s.part(&u.parts[promptTool])
	case "citation_tokens", "search_tokens", "guard_tokens", "guardrails_tokens": // the last two: Snowflake's look at the prompt
		s.part(&u.parts[promptOther])
	case "image_tokens":
		s.part(&u.parts[side.or(promptImage, answerImage)])
	case "audio_tokens":
		s.part(&u.parts[side.or(promptAudio, answerAudio)])
	case "video_tokens":
		s.part(&u.parts[side.or(promptVideo, answerVideo)])
	default:
		s.leftCount(inUsage, name)
	}
}

func (p part) or(prompt, answer part) part {
	if p >= firstOfAnswer {
		return answer
	}
	return prompt
}

// modalities reads Google's counts by kind of content; heard is the part that sound is.
func (s *scan) modalities(u *usage, heard part) {
	for range s.Elements {
		var kind jsonscan.Text
		var n int64
		for name := range s.Members {
			switch string(name) {
			case "modality":
				kind = s.enum("", "TEXT", "IMAGE", "VIDEO", "AUDIO")
			case "tokenCount", "tokens":
				s.part(&n)
			}
		}
		switch string(kind.Raw) {
		case "IMAGE", "VIDEO", "image", "video":
			if heard == promptAudio {
				u.media += n
			} else {
				u.parts[answerImage] += n
			}
		case "AUDIO", "audio":
			u.parts[heard] += n
		}
	}
}

// count reads a count; what is no count (null, negative) changes nothing, and
// neither does one that is smaller: see [usageState.merge].
func (s *scan) count(field *timeline.Opt[int64]) {
	if n, ok := s.number(); ok && n >= 0 {
		rise(field, timeline.Some(n))
	}
}

// countBeside reads a count of the cache that Anthropic and Amazon tell beside the prompt's.
func (s *scan) countBeside(field *timeline.Opt[int64], u *usage) {
	var n timeline.Opt[int64]
	s.count(&n)
	rise(field, n)
	u.maybeBeside = u.maybeBeside || n.Or(0) > 0
}

// tier reads a class of service.
func (s *scan) tier(u *usage) {
	if t, ok := s.Text(); ok && !t.Empty() {
		u.tier = t
	}
}

func (s *scan) part(field *int64) {
	if n, ok := s.number(); ok {
		*field = max(*field, n)
	}
}

// number reads a whole number, also one in quotes: JSON of protobuf messages has
// 64-bit numbers so. Other texts are none.
func (s *scan) number() (int64, bool) {
	if s.Peek() != '"' {
		return s.Integer()
	}
	t, ok := s.Text()
	n, err := strconv.ParseInt(string(t.Raw), 10, 64)
	return n, ok && err == nil && n < 1<<53
}

// rise takes a count that is larger than the one before. Counts of a reply are
// cumulative: a smaller one, or a 0 at the end, is a placeholder.
func rise(field *timeline.Opt[int64], v timeline.Opt[int64]) {
	if n, ok := v.Get(); ok && (!field.OK() || n > field.Or(0)) {
		*field = v
	}
}

// reconcile puts every count on its side, so that Input holds all that was read
// and Output all that was written. A part stands beside its whole where
//
//   - it is larger than the whole it would be a part of, or is so by its name, or
//   - it makes up, alone or with others, exactly what the total has more than
//     prompt and answer.
//
// A surplus that no part explains is the prompt's sound where that is told in seconds
// alone, as by Mistral, whose total has its tokens and whose prompt has not. Else it
// stays: it is hidden reasoning where no reasoning is told (package metric). exclusive says that the API counts the
// cache beside the prompt in any case.
func (u *usage) reconcile(exclusive bool) {
	told := func(v timeline.Opt[int64]) int64 { return v.Or(0) }
	cacheBeside := exclusive || u.billedOnly || u.Input.OK() && max(told(u.Cached), told(u.CacheWrite)) > told(u.Input)
	if u.billedOnly && u.Total.OK() && told(u.Total) == told(u.Input)+told(u.Output) {
		u.Total = timeline.Some(told(u.Total) + told(u.Cached))
	}
	if cacheBeside && u.Input.OK() {
		u.Input = timeline.Some(told(u.Input) + told(u.Cached) + told(u.CacheWrite))
	}
	thoughtBeside := u.Output.OK() && told(u.Reasoning) > told(u.Output)
	rejectedBeside := u.Output.OK() && told(u.Rejected) > told(u.Output)
	if thoughtBeside {
		u.Output = timeline.Some(told(u.Output) + told(u.Reasoning))
	}
	if rejectedBeside {
		u.Output = timeline.Some(told(u.Output) + told(u.Rejected))
	}
	if !u.Input.OK() || !u.Output.OK() || !u.Total.OK() {
		return
	}
	sides := [others + nParts]int64{0: told(u.Reasoning), 1: told(u.Rejected), 2: told(u.Cached), 3: told(u.CacheWrite)}
	copy(sides[others:], u.parts[:])
	if thoughtBeside {
		sides[0] = 0
	}
	if rejectedBeside {
		sides[1] = 0
	}
	if cacheBeside {
		sides[2], sides[3] = 0, 0
	}
	surplus := told(u.Total) - told(u.Input) - told(u.Output)
	for i := range explained(sides[:], surplus) {
		surplus -= sides[i]
		if i <= 1 || i >= others+int(firstOfAnswer) {
			u.Output = timeline.Some(told(u.Output) + sides[i])
		} else {
			u.Input = timeline.Some(told(u.Input) + sides[i])
		}
	}
	if u.secondsOnly && surplus > 0 {
		u.Input = timeline.Some(told(u.Input) + surplus)
	}
}

// explained yields the fewest of the parts that make up the surplus exactly;
// none where no choice of them does.
func explained(parts []int64, surplus int64) func(yield func(int) bool) {
	best, fewest := 0, len(parts)+1
	for set := 1; surplus > 0 && set < 1<<len(parts); set++ {
		sum, n := int64(0), 0
		for i, v := range parts {
			if set&(1<<i) != 0 {
				if sum, n = sum+v, n+1; v == 0 {
					sum = -1 << 62 // what is not there explains nothing
				}
			}
		}
		if sum == surplus && n < fewest {
			best, fewest = set, n
		}
	}
	return func(yield func(int) bool) {
		for i := range parts {
			if best&(1<<i) != 0 && !yield(i) {
				return
			}
		}
	}
}
