// Package api knows the dialects of inference servers: how a request is
// written and what the events of a reply mean. One file per API, one line in
// the table of apis.go. Which engine (vLLM, SGLang, …) answers is told by
// package engines.
package api

import (
	"net/http"
	"strings"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/framing"
)

// Message is one turn of a conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	// Images go in front of the content.
	Images []Image `json:"-"`
	// Sound is what is to be written down; nil: none.
	Sound *Sound `json:"-"`
	// ToolCalls are the tools that an assistant's message calls, and ToolCallID
	// is the call whose result a tool's message brings.
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

// Request is what to ask, free of any dialect.
type Request struct {
	Model     string
	Messages  []Message           // a conversation; the last is the prompt
	MaxTokens timeline.Opt[int64] // output length to ask for
	Stream    bool
	IgnoreEOS bool
	// TellsUsage: the server tells a stream's usage though nobody asks, and may refuse to be asked.
	TellsUsage bool
	// MaxTokensField overrides the name of the length field (max_tokens or
	// max_completion_tokens) where an API has two; empty: the API's default.
	MaxTokensField string
	Extra          map[string]any // further body fields: temperature, tools, …
	// LeaveTokens hangs up once so many events of text came, as a user does who
	// has seen enough; 0: never.
	LeaveTokens int64
	// Header are further headers of this request only, as an id of its session is.
	// They replace none of the run's.
	Header http.Header
	// NoID sends no x-request-id: routers hash it where they find nothing better,
	// and send each request of a session elsewhere.
	NoID bool
	// OnHead is called with the head of the reply that counts, by the goroutine
	// that reads: it must not wait. Nil: nobody is told.
	OnHead func(http.Header)
	// FirstToken is called once, when the first token has come, by the goroutine
	// that reads: it must not wait. Nil: nobody is told.
	FirstToken func()

	pictured bool // the builder has written the images
	filmed   bool // the builder writes videos, or has
	tooled   bool // the builder writes tool messages, or has
	sized    bool // the builder writes MaxTokens, or has
	endless  bool // the builder writes IgnoreEOS, or has
}

// Prompt returns the conversation as one text, for APIs that know no roles.
func (r *Request) Prompt() string {
	return strings.Join(r.Texts(), "\n\n")
}

// Call is a request in an API's own form, ready to be sent.
type Call struct {
	Path   string      // below the base URL, with leading slash: /v1/chat/completions
	Header http.Header // headers the API needs besides content-type and authorization
	Body   []byte
}

// API is one dialect.
type API struct {
	Name string
	// Path is where completions are posted, for joining with a base URL. MODEL
	// stands for the model's name, where that is a part of it.
	Path string
	// Aliases are other ends of paths by which its endpoints are known.
	Aliases []string
	// Common says that its path without the version is too common a word to know
	// it by.
	Common bool
	// Build writes the request. Nil: the API is spoken over a WebSocket alone.
	Build func(*Request) (Call, error)
	// Create writes the messages that ask for a reply over a WebSocket, a line each;
	// previous is the response that they go on with, so that only what is new need be
	// in the request (empty: none). Nil: the API is not spoken over one.
	Create func(r *Request, previous string) (Call, error)
	// Begins reports whether a message of a WebSocket may be the first of a reply:
	// those before it tell of something else. Nil: any may.
	Begins func(message []byte) bool
	// Remembers says that a WebSocket's server keeps the conversation on the
	// connection, so that no other can be had there.
	Remembers bool
	// Decoder makes the decoder of one reply.
	Decoder func() Decoder
	// Events are how the types of its events begin, with blanks between; an event of another
	// is one that it does not have. Empty: its events have no types.
	Events string
	// Framer makes the framer of a streamed reply where the content type does
	// not tell; max is the size cap of an event. Nil: server-sent events.
	Framer func(max int) framing.Framer
	// Opening stands, without blanks, in the first line of a stream and in no whole
	// reply: by it a stream is known that comes as application/json. Empty: by nothing.
	Opening string
	// StreamsArray says that a body that is a JSON array is a stream of its
	// elements.
	StreamsArray bool
	// Summarises says that the reasoning in its replies is a summary of that which usage
	// counts, as the API's documentation has it.
	Summarises bool
	// Lists says that a whole reply to several prompts is a list of replies.
	Lists bool
	// Ends is how a streamed reply shows that it is whole.
	Ends Ending
	// StreamsByDefault says that a request without the field stream asks for one,
	// if its path does not tell; see ReadPath.
	StreamsByDefault bool
	// AuthHeader names the header that carries the key: "authorization" (as
	// Bearer) unless the API says otherwise.
	AuthHeader string
	// Signs finds the API's replies among others; see Recognise.
	Signs []Sign
}

// Product is what its replies bring.
//
// It is not inlined: the copies made the lean binary 4 kB larger.
//
//go:noinline
func (a *API) Product() timeline.Product { return timeline.ProductOf(a.Name) }

// Ending is how a streamed reply shows that it is whole.
type Ending uint8

const (
	// ByTerminator is the rule: an event says that no other follows.
	ByTerminator Ending = iota
	// ByFinish is a finish reason, after which the body just ends.
	ByFinish
	// ByBody is the end of the body alone: nothing else tells.
	ByBody
)
