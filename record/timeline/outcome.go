package timeline

// Outcome is the class of a request's end. Exactly one holds.
type Outcome string

// The outcome classes. Everything but OK is a failure, except the two
// cancelled ones: CancelledRunEnd leaves every sample, CancelledUser is neutral.
const (
	OK              Outcome = "ok"
	ConnectRefused  Outcome = "connect_refused"
	DNS             Outcome = "dns"
	TLS             Outcome = "tls"
	TimeoutConnect  Outcome = "timeout_connect"
	TimeoutTTFT     Outcome = "timeout_ttft"
	TimeoutIdle     Outcome = "timeout_idle"
	TimeoutTotal    Outcome = "timeout_total"
	HTTP429         Outcome = "http_429"
	HTTP4xx         Outcome = "http_4xx"
	HTTP5xx         Outcome = "http_5xx"
	RedirectRefused Outcome = "redirect_refused"
	BadContentType  Outcome = "bad_content_type"
	Parse           Outcome = "parse"
	StreamError     Outcome = "stream_error"
	StreamTruncated Outcome = "stream_truncated"
	ConnReset       Outcome = "conn_reset"
	EmptyOutput     Outcome = "empty_output"
	CancelledRunEnd Outcome = "cancelled_run_end"
	CancelledUser   Outcome = "cancelled_user"
	ClientResource  Outcome = "client_resource"
	Untold          Outcome = "untold" // of another tool's file alone, which doesn't say how
)

// Outcomes lists every class, success first, in the order of docs/metrics.md.
var Outcomes = []Outcome{
	OK, ConnectRefused, DNS, TLS, TimeoutConnect, TimeoutTTFT, TimeoutIdle,
	TimeoutTotal, HTTP429, HTTP4xx, HTTP5xx, RedirectRefused, BadContentType,
	Parse, StreamError, StreamTruncated, ConnReset, EmptyOutput,
	CancelledRunEnd, CancelledUser, ClientResource, Untold,
}

// Failed reports whether the outcome counts as a failure of the request.
func (o Outcome) Failed() bool { return o != OK && !o.Cancelled() }

// Cancelled reports whether the request was ended from our side on purpose.
func (o Outcome) Cancelled() bool { return o == CancelledRunEnd || o == CancelledUser }

// End says how the bytes of a response ended.
type End string

// The ends of a body; the names are those of a capture's last line.
const (
	EOF             End = "eof"   // a clean end: terminal chunk, or Content-Length reached
	Cut             End = "cut"   // the connection closed before the body was complete
	Reset           End = "reset" // the connection was reset
	EndTimeoutTTFT  End = "timeout_ttft"
	EndTimeoutIdle  End = "timeout_idle"
	EndTimeoutTotal End = "timeout_total"
	EndUser         End = "cancelled_user"
	EndRunEnd       End = "cancelled_run_end"
	EndLeftOpen     End = "left_open" // the reply was complete; we waited for its body's end, and ended it
)

// CutWords begin the message of a stream that ended because its connection was closed
// in the middle of the body, and not because the body ended.
const CutWords = "the connection was closed in the middle of the reply"
