// Package capture reads and writes raw replies with their arrival times, and
// turns them back into timelines: the same reply, measured again without a
// server and without a clock.
//
// A capture (*.capture.jsonl) is JSON lines. Times are milliseconds since the
// request was due, with up to three decimals: whole microseconds.
//
// The first line describes the request and the response's head:
//
//	{"capture":"tokenmeter/v1","api":"openai-chat","status":200,"head_ms":5,
//	 "headers":{"content-type":"text/event-stream"},"request":{…}}
//
// Everything but "capture" may be missing. "api" is found from the bytes then;
// "status" 0 or none means that no response came; "head_ms" defaults to the
// first read; a header is a string or a list of strings; "request" is the
// request's JSON body or null, and tells whether a stream was asked for and how
// many tokens. Further fields carry what a live measurement knows, so that the
// timeline of a capture is the live one:
//
//	due_s, start_s               on the run's clock, with up to six decimals
//	dns_ms, connect_ms, tls_ms   durations
//	sent_ms                      the request was written, since due
//	reused, remote               the connection
//	attempts, conn_retries, redirects, retry_after_ms
//	clock                        kernel or user: where arrivals were stamped
//	ordinal, id, phase, worker, session, turn, task, step, parent, model
//	asked, requested_tokens      where the request does not tell
//	flags                        flags that the client set
//
// Then one line a read, in order, as the bytes were received: after transfer
// decoding and before content decoding. "lag_ms" is how long after its arrival
// the read was picked up.
//
//	{"t_ms":214,"data":"data: {…}\n\n"}
//	{"t_ms":215.25,"lag_ms":0.04,"b64":"…"}      bytes that are no UTF-8
//
// The last line tells how the body ended: "eof", "cut", "reset",
// "timeout_ttft", "timeout_idle", "timeout_total" (or "timeout"),
// "cancelled_user" (or "cancelled") or "cancelled_run_end".
//
//	{"t_ms":255,"end":"eof","trailers":{…}}
//
// It may carry "cause", the words of a network error, "clock_step_ms", and
// "error" ({"class","message"}) for a request that failed outside the reply,
// as a refused connection does. A capture without a last line, of a client that
// was killed, is read as cut at its last read.
package capture

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"

	"tokenmeter/timeline"
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

// micros are microseconds, written as milliseconds.
type micros int64

// MarshalJSON writes milliseconds with up to three decimals.
func (m micros) MarshalJSON() ([]byte, error) { return decimal(int64(m), 3), nil }

// UnmarshalJSON rounds to whole microseconds.
func (m *micros) UnmarshalJSON(data []byte) error {
	return parseDecimal(data, 1e3, (*int64)(m))
}

// seconds are microseconds, written as seconds.
type seconds int64

// MarshalJSON writes seconds with up to six decimals.
func (s seconds) MarshalJSON() ([]byte, error) { return decimal(int64(s), 6), nil }

// UnmarshalJSON rounds to whole microseconds.
func (s *seconds) UnmarshalJSON(data []byte) error {
	return parseDecimal(data, 1e6, (*int64)(s))
}

// opt is a duration that may not have been measured.
type opt = timeline.Opt[micros]

func fromOpt(v timeline.Opt[int64]) opt {
	if n, ok := v.Get(); ok {
		return timeline.Some(micros(n))
	}
	return opt{}
}

func toOpt(v opt) timeline.Opt[int64] {
	if n, ok := v.Get(); ok {
		return timeline.Some(int64(n))
	}
	return timeline.Opt[int64]{}
}

// decimal writes n / 10^places exactly, without trailing zeros.
func decimal(n int64, places int) []byte {
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	unit := int64(math.Pow10(places))
	s := fmt.Sprintf("%s%d.%0*d", sign, n/unit, places, n%unit)
	return []byte(strings.TrimRight(strings.TrimRight(s, "0"), "."))
}

func parseDecimal(data []byte, scale float64, to *int64) error {
	var f float64
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	f = math.Round(f * scale)
	if !(math.Abs(f) < 1<<53) {
		return fmt.Errorf("%s is out of range", data)
	}
	*to = int64(f)
	return nil
}

// headers are HTTP headers; a value may be a string or a list.
type headers http.Header

// MarshalJSON writes a single value as a string.
func (h headers) MarshalJSON() ([]byte, error) {
	m := make(map[string]any, len(h))
	for name, values := range h {
		if len(values) == 1 {
			m[strings.ToLower(name)] = values[0]
		} else {
			m[strings.ToLower(name)] = values
		}
	}
	return json.Marshal(m)
}

// UnmarshalJSON accepts strings and lists.
func (h *headers) UnmarshalJSON(data []byte) error {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	out := make(http.Header, len(m))
	for name, raw := range m {
		var one string
		if json.Unmarshal(raw, &one) == nil {
			out.Add(name, one)
			continue
		}
		var list []string
		if err := json.Unmarshal(raw, &list); err != nil {
			return fmt.Errorf("header %q is neither a string nor a list of strings", name)
		}
		for _, v := range list {
			out.Add(name, v)
		}
	}
	*h = headers(out)
	return nil
}

// ends are the names that a last line may have, with the older plain ones.
var ends = map[string]timeline.End{
	"eof": timeline.EOF, "cut": timeline.Cut, "reset": timeline.Reset,
	"timeout":      timeline.EndTimeoutTotal,
	"timeout_ttft": timeline.EndTimeoutTTFT, "timeout_idle": timeline.EndTimeoutIdle,
	"timeout_total": timeline.EndTimeoutTotal,
	"cancelled":     timeline.EndUser, "cancelled_user": timeline.EndUser,
	"cancelled_run_end": timeline.EndRunEnd,
}
