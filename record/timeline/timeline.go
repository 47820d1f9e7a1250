// Package timeline holds what happened to one request: when it was due, sent
// and answered, when every event of the reply arrived, and how it ended.
//
// It is the record everything else is computed from. A timeline states facts
// and never a metric: TTFT, TPOT and their like live in package metric.
// Times are integer microseconds; what was not measured is an empty [Opt],
// never zero.
package timeline

// Phase says whether a request counts.
type Phase string

// The phases of a run. Only measured requests enter a summary.
const (
	Warmup  Phase = "warmup"
	Measure Phase = "measure"
	// Cooldown is load that goes on until what was measured has ended.
	Cooldown Phase = "cooldown"
)

// Counts reports whether requests of the phase enter a summary.
func (p Phase) Counts() bool { return p != Warmup && p != Cooldown }

// Evidence says how much is known about a request.
type Evidence string

// Levels of evidence, best first.
const (
	Arrivals    Evidence = "arrivals" // the arrival of every event
	RequestOnly Evidence = "request"  // values of the request, no arrivals (another tool's file)
	SummaryOnly Evidence = "summary"  // only values of the whole run
)

// Clock names what stamped the arrivals.
type Clock string

// Kernel stamps are taken by the network stack when the bytes came in; user
// stamps when the read returned.
const (
	Kernel Clock = "kernel"
	User   Clock = "user"
)

// Timeline is everything recorded about one request. Its fields are filled by
// the client (or a capture, an importer, the proxy) and are then read-only.
// All *US fields are microseconds; "since due" counts from DueUS.
type Timeline struct {
	Request int64  // ordinal in the run, from 0, over all phases
	ID      string // the x-request-id that was sent; ties the record to a server's log
	Phase   Phase
	Worker  int
	Session string // empty: not part of a conversation
	Turn    Opt[int64]
	Task    string // empty: not part of an agent's task
	Step    Opt[int64]
	Parent  string
	Agent   string // of a session, whose request it is; empty: the session's own
	Class   string // of a mixed workload; empty without classes
	API     string
	Model   string

	Evidence Evidence
	Clock    Clock

	DueUS   int64 // on the run's clock (0 = the run's start)
	StartUS int64 // when the client began: DueUS plus its own lateness and any wait for a slot

	DNSUS     Opt[int64] // durations; empty when the step did not happen
	ConnectUS Opt[int64]
	TLSUS     Opt[int64]
	Reused    Opt[bool] // the connection had served a request before
	Remote    string    // address really used

	Attempts     int        // tries in all, 1 without retries; 0: never sent
	ConnRetries  int        // dead idle connections replaced before anything was answered
	RetryAfterUS Opt[int64] // asked by the server, of the last answer that had it
	Redirects    int

	SentUS  Opt[int64] // since due: last byte of the (last) request written
	HeadUS  Opt[int64] // since due: first byte of the response's head
	CloseUS Opt[int64] // since due: the body ended, for whatever reason

	HTTPStatus   int    // 0: no response
	FinishReason string // as the server said it; empty: never said
	ServedModel  string // the model that the server says answered; empty: never said
	ServiceTier  string // the class that the server says it served the request in (flex, priority, …); empty: never said
	// AnsweredBy is what the server called itself in this answer: its Server header,
	// then system_fingerprint; empty: it said neither.
	AnsweredBy string
	Unread     Unread // what of the reply no reader knows, by its names
	Streamed   bool   // the answer came as a stream of events
	Asked      bool   // a stream was asked for

	Events Events
	Usage  Usage
	// Counted is the number of output tokens by ids or logprobs in the stream.
	Counted Opt[int64]
	// Tokenized is the number of output tokens by a local tokenizer, special tokens off.
	Tokenized Opt[int64]
	// TokenizedInput is the number of input tokens by the count of the tool whose file was
	// imported, which may differ from the server's.
	TokenizedInput Opt[int64]
	// Requested is the output length that was asked for (max_tokens and its like).
	Requested Opt[int64]

	Flags       FlagSet    // what parser and client noticed; metric adds derived ones
	ClockStepUS Opt[int64] // how far the wall clock moved against the monotonic one
	Outcome     Outcome
	Error       *Error
	Text        string             // the answer, only when it was asked to be kept
	Thought     string             // the reasoning, likewise
	Calls       string             // names and arguments of tool calls, likewise
	Server      map[string]float64 // as the server reported it: queue_ms, prefill_ms, decode_ms, …; nil if nothing
	CheckPassed Opt[bool]          // quality check; empty without one
	// Norm is the output in tokens of the tokenizer NormBy, which a run counts
	// by beside the server's own, to compare models.
	Norm    Opt[int64]
	NormBy  string
	CostUSD Opt[float64]
	// Reusable is how many of the prompt's tokens earlier requests of its session
	// had, as far as what was sent tells: what a prefix cache without a limit knows.
	Reusable Opt[int64]
	// Inputs is how many texts the request had answered at once: texts to embed, or
	// documents to rank. Empty for requests that are answered with text.
	Inputs Opt[int64]
	// Chars is how many characters of text were to be spoken; empty for requests of
	// another kind, and through a proxy, which does not read them.
	Chars Opt[int64]
	// AudioUS is how long the sound is that was made, or sent. Empty without any, and
	// where its format does not tell.
	AudioUS Opt[int64]
	// AudioRate is how many of its bytes play for a second, where that is the same
	// throughout: then the bytes of the events are times.
	AudioRate Opt[int64]
	// Images is how many pictures were made, those on the way to them not counted. Empty
	// for requests of another kind.
	Images Opt[int64]
	// ImageSize is how large each is, in pixels: 1024x768. Empty where that is not
	// known, or they differ.
	ImageSize string
	// InputImages is how many pictures were sent to be looked at. Empty for requests
	// without any, and through a proxy, which does not read them.
	InputImages Opt[int64]
	// Videos is how many were sent to be looked at; empty like InputImages.
	Videos Opt[int64]
	// MediaBytes is how large the files are of what was sent to be looked at, before
	// they were written as text; empty like InputImages.
	MediaBytes Opt[int64]
}

// Usage is the server's own count, normalised: Input includes cached tokens
// whatever the API's convention, Output includes reasoning tokens.
type Usage struct {
	Input      Opt[int64] `json:"input,omitzero"`
	Cached     Opt[int64] `json:"cached,omitzero"`      // read from the prefix cache; part of Input
	CacheWrite Opt[int64] `json:"cache_write,omitzero"` // written to it; part of Input
	// CacheWrite1h is what was written to stay for an hour, at a price of its own; part
	// of CacheWrite.
	CacheWrite1h Opt[int64] `json:"cache_write_1h,omitzero"`
	Output       Opt[int64] `json:"output,omitzero"`
	Reasoning    Opt[int64] `json:"reasoning,omitzero"` // part of Output
	Rejected     Opt[int64] `json:"rejected,omitzero"`  // predicted by the caller and not taken: part of Output, never streamed
	Total        Opt[int64] `json:"total,omitzero"`     // as reported, to check the others
	Media        Opt[int64] `json:"media,omitzero"`     // of pictures and videos that were sent; part of Input
}

// OnlyReasoning reports whether all output tokens are reasoning, be it that the usage
// says so or that its total alone has them. Of a reply without an event none was
// streamed: the asked length was too short for an answer.
func (u *Usage) OnlyReasoning() bool {
	if out := u.Output.Or(0); out > 0 {
		return u.Reasoning.Or(0) == out
	}
	return u.Input.OK() && u.Total.Or(0) > u.Input.Or(0)
}

// Error says why a request failed, in words fit to be shown: secrets removed.
type Error struct {
	Class   Outcome `json:"class"`
	Message string  `json:"message"` // never empty; has the server's own code and type
}

// New returns a timeline in which nothing has been measured yet.
func New() *Timeline {
	return &Timeline{Phase: Measure, Evidence: Arrivals, Clock: User}
}

// Unsent reports whether the request was never sent: the end came before a place
// was free for it, or before its time.
func (t *Timeline) Unsent() bool {
	return t.Outcome.Cancelled() && t.Attempts == 0 && !t.SentUS.OK() && !t.HeadUS.OK()
}

// Fail sets outcome and error together, so that no failure goes without words.
func (t *Timeline) Fail(class Outcome, message string) {
	if message == "" {
		message = string(class)
	}
	t.Outcome = class
	t.Error = &Error{Class: class, Message: message}
}

// Unanswered reports whether the run ended before the request had a first
// token, be it that no connection came up for it.
func (t *Timeline) Unanswered() bool {
	if t.Outcome != CancelledRunEnd {
		return false
	}
	for ev := range t.Events.All() {
		if ev.Kind.Bears() {
			return false
		}
	}
	return true
}
