package capture

import (
	"encoding/json"

	"tokenmeter/record/timeline"
)

// Version is what the first line's "capture" says.
const Version = "tokenmeter/v1"

// head is the first line.
type head struct {
	Capture string          `json:"capture"`
	API     string          `json:"api,omitempty"`
	Status  int             `json:"status"`
	Head    opt             `json:"head_ms,omitzero"`
	Headers headers         `json:"headers,omitempty"`
	Request json.RawMessage `json:"request"`

	Due     *seconds `json:"due_s,omitempty"`
	Start   *seconds `json:"start_s,omitempty"`
	DNS     opt      `json:"dns_ms,omitzero"`
	Connect opt      `json:"connect_ms,omitzero"`
	TLS     opt      `json:"tls_ms,omitzero"`
	Sent    opt      `json:"sent_ms,omitzero"`

	Reused      timeline.Opt[bool] `json:"reused,omitzero"`
	Remote      string             `json:"remote,omitempty"`
	Attempts    int                `json:"attempts,omitempty"`
	ConnRetries int                `json:"conn_retries,omitempty"`
	Redirects   int                `json:"redirects,omitempty"`
	RetryAfter  opt                `json:"retry_after_ms,omitzero"`
	Clock       timeline.Clock     `json:"clock,omitempty"`

	Ordinal   int64               `json:"ordinal,omitempty"`
	ID        string              `json:"id,omitempty"`
	Phase     timeline.Phase      `json:"phase,omitempty"`
	Worker    int                 `json:"worker,omitempty"`
	Session   string              `json:"session,omitempty"`
	Turn      timeline.Opt[int64] `json:"turn,omitzero"`
	Task      string              `json:"task,omitempty"`
	Step      timeline.Opt[int64] `json:"step,omitzero"`
	Parent    string              `json:"parent,omitempty"`
	Model     string              `json:"model,omitempty"`
	Asked     timeline.Opt[bool]  `json:"asked,omitzero"`
	Requested timeline.Opt[int64] `json:"requested_tokens,omitzero"`
	Inputs    timeline.Opt[int64] `json:"inputs,omitzero"`
	Chars     timeline.Opt[int64] `json:"input_chars,omitzero"`
	Images    timeline.Opt[int64] `json:"images,omitzero"` // that were asked for
	ImageSize string              `json:"image_size,omitempty"`
	Pictures  timeline.Opt[int64] `json:"input_images,omitzero"`
	Videos    timeline.Opt[int64] `json:"input_videos,omitzero"`
	Media     timeline.Opt[int64] `json:"input_media_bytes,omitzero"`
	Audio     timeline.Opt[int64] `json:"audio_us,omitzero"` // that was sent; what came is in the reads
	Flags     timeline.FlagSet    `json:"flags,omitzero"`
}

// line is any further line: a read, or the end.
type line struct {
	T    *micros `json:"t_ms"`
	Lag  micros  `json:"lag_ms,omitempty"`
	Data *string `json:"data,omitempty"`
	B64  []byte  `json:"b64,omitempty"`

	End       string          `json:"end,omitempty"`
	Trailers  headers         `json:"trailers,omitempty"`
	Cause     string          `json:"cause,omitempty"`
	ClockStep opt             `json:"clock_step_ms,omitzero"`
	Error     *timeline.Error `json:"error,omitempty"`
}

// ends are the names that a last line may have, with the older plain ones.
var ends = map[string]timeline.End{
	"eof": timeline.EOF, "cut": timeline.Cut, "reset": timeline.Reset,
	"timeout":      timeline.EndTimeoutTotal,
	"timeout_ttft": timeline.EndTimeoutTTFT, "timeout_idle": timeline.EndTimeoutIdle,
	"timeout_total": timeline.EndTimeoutTotal,
	"cancelled":     timeline.EndUser, "cancelled_user": timeline.EndUser,
	"cancelled_run_end": timeline.EndRunEnd, "left_open": timeline.EndLeftOpen,
}
