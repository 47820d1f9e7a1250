package metric

// FlagMeaning explains a flag of a record.
type FlagMeaning struct {
	Name string
	When string // the exact condition
	Says string // what it means for the figures
}

// Text is the meaning in a few lines, for a terminal.
func (f FlagMeaning) Text() string {
	return Paragraph(f.Name+" (flag of a record)", [][2]string{{"set when", f.When}, {"means", f.Says}})
}

// FlagMeanings has one entry for every flag, in their order.
var FlagMeanings = []FlagMeaning{
	{"burst", "N ≥ 3 and all generation events in one read, or N ≥ 5 and all of them within 5 ms",
		"something held the stream back and delivered it at once; the pace cannot be measured, TPOT and ITL are null"},
	{"coalesced_bursts", "at least 80 % of the gaps < 1 ms and every other gap ≥ 10 × TPOT",
		"a proxy flushes every few tokens; TTFT is late, TPOT flatters, tpot_adj_ms is nearer the server's pace"},
	{"coalesced", "some read held two or more generation events",
		"gaps of 0 ms are made by the delivery; ITL is null, ICL shows them as they came"},
	{"multi_token_chunks", "S / chunks ≥ 1.5",
		"an event holds several tokens (speculative decoding, a stream interval); a gap between chunks is no gap between tokens"},
	{"estimated", "N comes from a tokenizer or from the chunk count",
		"the server gave no count; token figures are approximate"},
	{"token_count_mismatch", "the streamed text has fewer UTF-8 bytes than S says tokens, a local tokenizer's count differs from S by more than 10 %, or there are fewer tokens than generation events",
		"text and count cannot both be right: special tokens, held-back tool calls, or a wrong count. With fewer tokens than events TPOT counts the events"},
	{"hidden_reasoning", "S < N, but for pictures and the token that ends the text, or sealed reasoning, or a summary of it, came that no usage counts, or another tool's file does not tell how much came",
		"tokens were spent that never appeared in the stream; the pace is that of the streamed ones"},
	{"usage_inconsistent", "total_tokens is not prompt + completion",
		"the server's own numbers do not add up; a surplus is counted as hidden reasoning where no reasoning is told"},
	{"no_answer", "only reasoning came",
		"the answer never began; an objective on TTFO is missed"},
	{"prefix_cache_active", "usage counts cached prompt tokens",
		"part of the prompt was not computed; TTFT is not that of a new prompt"},
	{"malformed_event", "the data of an event was no JSON; it is skipped, or read line by line where no empty line parted events",
		"a proxy rewrites the stream, or the server has a defect"},
	{"no_done", "finish_reason came, [DONE] did not",
		"complete all the same"},
	{"dirty_close", "the answer was complete, but the connection ended without the terminal chunk",
		"complete all the same; the server or a proxy closes carelessly"},
	{"non_streaming", "the answer was one body",
		"only E2E is known"},
	{"stream_ignored", "the same, although a stream was asked for",
		"the server or the path cannot stream"},
	{"compressed", "the body had a content encoding",
		"a compressor may hold back small events"},
	{"clock_step", "the wall clock moved against the monotonic clock during the request",
		"times are unaffected, they come from the monotonic clock"},
	{"arrivals_capped", "not every arrival was kept",
		"of a run: chunks and gaps are null. The proxy counts what it does not keep: its figures are there (proxy.md)"},
	{"no_finish_reason", "the terminator came, a finish reason did not",
		"whether the answer is whole is not told: a length limit or an error may have ended it"},
	{"left_open", "the answer was complete and the server left the body open for 250 ms more",
		"complete all the same; we closed the connection, so the next request opens another"},
	{"wrong_content_type", "a stream of events, or a whole answer of JSON, came under another content type",
		"read all the same; other clients may refuse it"},
	{"repeated_text", "the last delta said the whole text again (seen where texts are kept)",
		"it is no token; without --keep-text it would be the last one"},
	{"reasoning_summary", "a summary, or no more than the head, was streamed of reasoning whose tokens usage counts",
		"how many tokens the streamed part has is not known; S and TPOT are the answer's, without the time before it"},
	{"inline_reasoning", "the text of the answer began with <think>, [THINK] or a like mark, or </think> came alone",
		"the server does not part reasoning from text; TTFO is the first text behind the closing mark"},
	{"unread_text", "where generated text may stand, text stood under a name that is not known (`unread` has it)",
		"it is in no figure: the first token, their number and the pace may be another's, and an `empty_output` may be none"},
}
