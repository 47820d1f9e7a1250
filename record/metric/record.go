// Package metric turns timelines into values: one file per family of
// definitions, each a pure function of what was recorded. The same figures
// under other tools' definitions are lenses.
package metric

import "tokenmeter/record/timeline"

// Record is one request as files and scripts see it: a line of
// `export --as jsonl`. Names and units are public interface (docs/metrics.md).
// What was not measured is null.
type Record struct {
	Request     int64               `json:"request"`
	Phase       timeline.Phase      `json:"phase"`
	Worker      int                 `json:"worker"`
	Session     *string             `json:"session"`
	Turn        timeline.Opt[int64] `json:"turn"`
	Task        *string             `json:"task"`
	Step        timeline.Opt[int64] `json:"step"`
	Parent      *string             `json:"parent"`
	Agent       *string             `json:"agent"`
	Class       *string             `json:"workload_class"`
	ID          string              `json:"id"`
	API         string              `json:"api"`
	Model       string              `json:"model"`
	ServedModel *string             `json:"served_model"`
	Evidence    timeline.Evidence   `json:"evidence"`
	Outcome     timeline.Outcome    `json:"outcome"`
	Good        timeline.Opt[bool]  `json:"good"`
	Error       *timeline.Error     `json:"error"`

	HTTPStatus   timeline.Opt[int64] `json:"http_status"`
	FinishReason *string             `json:"finish_reason"`
	ServiceTier  *string             `json:"service_tier"`
	AnsweredBy   *string             `json:"answered_by"`
	Unread       *string             `json:"unread"`

	DueS    float64 `json:"due_s"`
	StartS  float64 `json:"start_s"`
	DelayMS float64 `json:"delay_ms"`

	DNSMS            timeline.Opt[float64] `json:"dns_ms"`
	ConnectMS        timeline.Opt[float64] `json:"connect_ms"`
	TLSMS            timeline.Opt[float64] `json:"tls_ms"`
	ConnectionReused timeline.Opt[bool]    `json:"connection_reused"`
	Remote           *string               `json:"remote"`
	SentMS           timeline.Opt[float64] `json:"sent_ms"`
	FirstByteMS      timeline.Opt[float64] `json:"first_byte_ms"`
	TTFTMS           timeline.Opt[float64] `json:"ttft_ms"`
	TTFOMS           timeline.Opt[float64] `json:"ttfo_ms"`
	TTFAMS           timeline.Opt[float64] `json:"ttfa_ms"`
	TTFIMS           timeline.Opt[float64] `json:"ttfi_ms"`
	E2EMS            timeline.Opt[float64] `json:"e2e_ms"`
	CloseMS          timeline.Opt[float64] `json:"close_ms"`

	TPOTMS    timeline.Opt[float64] `json:"tpot_ms"`
	TPOTAdjMS timeline.Opt[float64] `json:"tpot_adj_ms"`
	ICLMS     []float64             `json:"icl_ms"` // [] when there is one generation event, null when none is known
	ITLMS     []float64             `json:"itl_ms"` // null without a pace, or when tokens per event are unknown
	MaxGapMS  timeline.Opt[float64] `json:"max_gap_ms"`
	Stalls    timeline.Opt[int64]   `json:"stalls"`
	DecodeTPS timeline.Opt[float64] `json:"decode_tps"`
	E2ETPS    timeline.Opt[float64] `json:"e2e_tps"`

	AudioS         timeline.Opt[float64] `json:"audio_s"`
	AudioBytesPerS timeline.Opt[int64]   `json:"audio_bytes_per_s"`
	RTF            timeline.Opt[float64] `json:"rtf"`
	StarvedMS      timeline.Opt[float64] `json:"starved_ms"`
	Starvations    timeline.Opt[int64]   `json:"starvations"`

	Images    timeline.Opt[int64] `json:"images"`
	ImageSize *string             `json:"image_size"`

	InputImages     timeline.Opt[int64] `json:"input_images"`
	InputVideos     timeline.Opt[int64] `json:"input_videos"`
	InputMediaBytes timeline.Opt[int64] `json:"input_media_bytes"`
	MediaTokens     timeline.Opt[int64] `json:"media_tokens"`

	InputChars      timeline.Opt[int64] `json:"input_chars"`
	Inputs          timeline.Opt[int64] `json:"inputs"`
	InputTokens     timeline.Opt[int64] `json:"input_tokens"`
	CachedTokens    timeline.Opt[int64] `json:"cached_tokens"`
	ReusableTokens  timeline.Opt[int64] `json:"reusable_tokens"`
	OutputTokens    timeline.Opt[int64] `json:"output_tokens"`
	ReasoningTokens timeline.Opt[int64] `json:"reasoning_tokens"`
	RequestedTokens timeline.Opt[int64] `json:"requested_tokens"`
	Chunks          timeline.Opt[int64] `json:"chunks"`
	TokenSource     *string             `json:"token_source"` // usage | ids | tokenizer | chunks

	OutputWords timeline.Opt[int64]   `json:"output_words"`
	WordsPerS   timeline.Opt[float64] `json:"words_per_s"`

	Flags timeline.FlagSet `json:"flags"`

	Attempts     int                   `json:"attempts"`
	ConnRetries  int                   `json:"conn_retries"`
	RetryAfterMS timeline.Opt[float64] `json:"retry_after_ms"`

	ServiceTTFTMS timeline.Opt[float64] `json:"service_ttft_ms"`
	ServiceE2EMS  timeline.Opt[float64] `json:"service_e2e_ms"`
	NetworkMS     timeline.Opt[float64] `json:"network_ms"`
	// DeliveredTTFTMS is when the caller of a proxy had the first token. Only live
	// requests have it, and write it among what only they have.
	DeliveredTTFTMS timeline.Opt[float64] `json:"-"`

	NormTokens    timeline.Opt[int64]   `json:"norm_tokens"`
	NormDecodeTPS timeline.Opt[float64] `json:"norm_decode_tps"`
	NormE2ETPS    timeline.Opt[float64] `json:"norm_e2e_tps"`
	NormTokenizer *string               `json:"norm_tokenizer"`

	OutputText *string               `json:"output_text"`
	Server     map[string]float64    `json:"server"`
	Clock      timeline.Clock        `json:"clock"`
	CostUSD    timeline.Opt[float64] `json:"cost_usd"`
	Check      *string               `json:"check"` // pass | fail
}

// SessionName is the conversation, task or session of an agent that a request is part of;
// empty for none.
func (r *Record) SessionName() string {
	for _, name := range []*string{r.Session, r.Task} {
		if name != nil && *name != "" {
			return *name
		}
	}
	return ""
}

// Unsent reports whether the request was never sent, as Timeline.Unsent does.
func (r *Record) Unsent() bool {
	return r.Outcome.Cancelled() && r.Attempts == 0 && !r.SentMS.OK() && !r.FirstByteMS.OK()
}
