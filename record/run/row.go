package run

// row is one request in requests.parquet. Up to check the columns are those of
// a record (`export --as jsonl`), under the same names. Then come the events
// as lists of equal length, and the facts that a record does not show but the
// timeline needs. Nullable columns are pointers, nullable lists are nil. The tag
// says is for docs/run-folder.md.
type row struct {
	Request  int64   `parquet:"request,delta"`
	Phase    string  `parquet:"phase,dict"`
	Worker   int64   `parquet:"worker,dict"`
	Session  *string `parquet:"session,dict"`
	Turn     *int64  `parquet:"turn"`
	Task     *string `parquet:"task,dict"`
	Step     *int64  `parquet:"step"`
	Parent   *string `parquet:"parent,dict"`
	Agent    *string `parquet:"agent,dict"`
	Class    *string `parquet:"workload_class,dict"`
	ID       string  `parquet:"id"`
	API      string  `parquet:"api,dict"`
	Model    string  `parquet:"model,dict"`
	Served   *string `parquet:"served_model,dict"`
	Evidence string  `parquet:"evidence,dict"`
	Outcome  string  `parquet:"outcome,dict"`
	Good     *bool   `parquet:"good"`
	Error    *reason `parquet:"error"`

	HTTPStatus   *int64  `parquet:"http_status,dict"`
	FinishReason *string `parquet:"finish_reason,dict"`
	ServiceTier  *string `parquet:"service_tier,dict"`
	AnsweredBy   *string `parquet:"answered_by,dict"`
	Unread       *string `parquet:"unread,dict"`

	DueS    float64 `parquet:"due_s"`
	StartS  float64 `parquet:"start_s"`
	DelayMS float64 `parquet:"delay_ms"`

	DNSMS            *float64 `parquet:"dns_ms"`
	ConnectMS        *float64 `parquet:"connect_ms"`
	TLSMS            *float64 `parquet:"tls_ms"`
	ConnectionReused *bool    `parquet:"connection_reused"`
	Remote           *string  `parquet:"remote,dict"`
	SentMS           *float64 `parquet:"sent_ms"`
	FirstByteMS      *float64 `parquet:"first_byte_ms"`
	TTFTMS           *float64 `parquet:"ttft_ms"`
	TTFOMS           *float64 `parquet:"ttfo_ms"`
	TTFAMS           *float64 `parquet:"ttfa_ms"`
	TTFIMS           *float64 `parquet:"ttfi_ms"`
	E2EMS            *float64 `parquet:"e2e_ms"`
	CloseMS          *float64 `parquet:"close_ms"`

	TPOTMS    *float64  `parquet:"tpot_ms"`
	TPOTAdjMS *float64  `parquet:"tpot_adj_ms"`
	ICLMS     []float64 `parquet:"icl_ms,optional,list" parquet-element:",dict"`
	ITLMS     []float64 `parquet:"itl_ms,optional,list" parquet-element:",dict"`
	MaxGapMS  *float64  `parquet:"max_gap_ms"`
	Stalls    *int64    `parquet:"stalls"`
	DecodeTPS *float64  `parquet:"decode_tps"`
	E2ETPS    *float64  `parquet:"e2e_tps"`

	AudioS         *float64 `parquet:"audio_s"`
	AudioBytesPerS *int64   `parquet:"audio_bytes_per_s"`
	RTF            *float64 `parquet:"rtf"`
	StarvedMS      *float64 `parquet:"starved_ms"`
	Starvations    *int64   `parquet:"starvations"`

	Images    *int64  `parquet:"images"`
	ImageSize *string `parquet:"image_size,dict"`

	InputImages     *int64 `parquet:"input_images"`
	InputVideos     *int64 `parquet:"input_videos"`
	InputMediaBytes *int64 `parquet:"input_media_bytes"`
	MediaTokens     *int64 `parquet:"media_tokens"`

	InputChars      *int64  `parquet:"input_chars"`
	Inputs          *int64  `parquet:"inputs"`
	InputTokens     *int64  `parquet:"input_tokens"`
	CachedTokens    *int64  `parquet:"cached_tokens"`
	ReusableTokens  *int64  `parquet:"reusable_tokens"`
	OutputTokens    *int64  `parquet:"output_tokens"`
	ReasoningTokens *int64  `parquet:"reasoning_tokens"`
	RequestedTokens *int64  `parquet:"requested_tokens"`
	Chunks          *int64  `parquet:"chunks"`
	TokenSource     *string `parquet:"token_source,dict"`

	OutputWords *int64   `parquet:"output_words"`
	WordsPerS   *float64 `parquet:"words_per_s"`

	Flags []string `parquet:"flags,list" parquet-element:",dict"`

	Attempts     int64    `parquet:"attempts,dict"`
	ConnRetries  int64    `parquet:"conn_retries,dict"`
	RetryAfterMS *float64 `parquet:"retry_after_ms"`

	ServiceTTFTMS *float64 `parquet:"service_ttft_ms"`
	ServiceE2EMS  *float64 `parquet:"service_e2e_ms"`
	NetworkMS     *float64 `parquet:"network_ms"`

	NormTokens    *int64   `parquet:"norm_tokens"`
	NormDecodeTPS *float64 `parquet:"norm_decode_tps"`
	NormE2ETPS    *float64 `parquet:"norm_e2e_tps"`
	NormTokenizer *string  `parquet:"norm_tokenizer,dict"`

	OutputText *string            `parquet:"output_text"`
	Server     map[string]float64 `parquet:"server,optional"`
	Clock      string             `parquet:"clock,dict"`
	CostUSD    *float64           `parquet:"cost_usd"`
	Check      *string            `parquet:"check,dict"`

	eventLists
	facts
}

// eventLists are the events of a request, in lists of one length.
type eventLists struct {
	EvUS     []int64  `parquet:"ev_us,list" parquet-element:",delta" says:"arrival since due, µs"`
	EvKind   []string `parquet:"ev_kind,list" parquet-element:",dict" says:"what the event was"`
	EvTokens []*int64 `parquet:"ev_tokens,list" parquet-element:",dict" says:"output tokens in it; null where the protocol does not tell"`
	EvChoice []int32  `parquet:"ev_choice,list" parquet-element:",dict" says:"which choice (n > 1) it belongs to"`
	EvBytes  []int64  `parquet:"ev_bytes,list" parquet-element:",dict" says:"UTF-8 bytes of generated text in it, or bytes of sound or of a picture"`
	EvRead   []int64  `parquet:"ev_read,list" parquet-element:",delta" says:"which read completed it, counted from 0; events of one read share a stamp"`
	EvLagUS  []int64  `parquet:"ev_lag_us,list" parquet-element:",dict" says:"from the kernel's stamp to the client's read, µs; 0 with the user clock"`
}

// emptied are lists of no events, with the memory of these.
func (e *eventLists) emptied() eventLists {
	return eventLists{e.EvUS[:0], e.EvKind[:0], e.EvTokens[:0], e.EvChoice[:0], e.EvBytes[:0], e.EvRead[:0], e.EvLagUS[:0]}
}

// facts are what a timeline has and no record shows.
type facts struct {
	Redirects       int64    `parquet:"redirects,dict" says:"redirects that were followed"`
	Streamed        bool     `parquet:"streamed" says:"the reply was a stream"`
	Asked           bool     `parquet:"stream_asked" says:"a stream was asked for"`
	UsageInput      *int64   `parquet:"usage_input" says:"prompt tokens by the usage that the server sent"`
	UsageCached     *int64   `parquet:"usage_cached" says:"of these, read from its cache"`
	UsageCacheWrite *int64   `parquet:"usage_cache_write" says:"of these, written to its cache"`
	UsageWrite1h    *int64   `parquet:"usage_cache_write_1h" says:"of these, written to stay for an hour"`
	UsageOutput     *int64   `parquet:"usage_output" says:"output tokens by usage"`
	UsageReasoning  *int64   `parquet:"usage_reasoning" says:"of these, reasoning"`
	UsageRejected   *int64   `parquet:"usage_rejected" says:"of these, predicted by the caller and not taken: never streamed"`
	UsageTotal      *int64   `parquet:"usage_total" says:"total by usage"`
	CountedTokens   *int64   `parquet:"counted_tokens" says:"output tokens counted from ids or logprobs"`
	TokenizedTokens *int64   `parquet:"tokenized_tokens" says:"output tokens counted by --tokenizer"`
	TokenizedInput  *int64   `parquet:"tokenized_input" says:"input tokens as the tool counted them whose file was imported"`
	ClockStepUS     *int64   `parquet:"clock_step_us" says:"how far the wall clock was set meanwhile, µs"`
	NoticedFlags    []string `parquet:"noticed_flags,list" parquet-element:",dict" says:"flags that the reader of the stream set, before others were derived"`
}

type reason struct {
	Class   string `parquet:"class,dict"`
	Message string `parquet:"message,dict"`
}
