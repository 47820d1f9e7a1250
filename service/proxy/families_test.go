package proxy

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
)

// place says where a server puts the usage of a stream.
type place uint8

const (
	ownEvent   place = iota // with choices []
	emptyDelta              // in an event of its own, in which a choice says nothing
	emptyRole               // the same, in which it says who speaks
	withFinish              // in the event with the finish reason
	everyEvent
	inChoice  // in the choice with the finish reason
	afterDone // an event of its own behind [DONE]
	nowhere
)

// when says which requests a server's answer holds for.
type when uint8

const (
	never when = iota
	ifAsked
	ifNotRefused // unless the client says false
	always
)

// family is how servers of one kind answer on OpenAI's paths, as their documents and
// captures have it.
type family struct {
	name      string
	tells     when
	at        place
	nulls     when   // the other events say "usage":null
	every     string // members of each event
	opening   string // an event before the first
	last      string // members of the event with the usage; without one, of that with the finish reason
	mayRepeat bool   // continuous_usage_stats is known
	byOptions bool   // stream_options without include_usage asks, too
	refuses   bool   // stream_options is an unknown field
	crlf      bool
	comments  bool
	unended   bool // no blank line ends the stream
	noDone    bool
	kind      string // content type
	head      string // further lines
	trailer   string
	zips      when // compresses: ifAsked is where the client takes it
	sized     bool // the stream comes with its length
	// differ is how many of the first replies to one model may differ by usage and last.
	differ int
	hides  bool // its clients that did not ask don't get the usage that they would get
	// blind: to leave clients what they get there tokens are counted in chunks.
	blind bool
}

var families = []family{
	{name: "vLLM", tells: ifAsked, mayRepeat: true, byOptions: true},
	{name: "vLLM 0.5", tells: ifAsked, mayRepeat: true, nulls: ifAsked},
	{name: "vLLM that includes usage for all", tells: always, hides: true},
	{name: "SGLang", tells: ifAsked, nulls: always, mayRepeat: true},
	{name: "llama.cpp", tells: ifAsked, last: `"timings":{"cache_n":7,"prompt_n":3,"prompt_ms":1.5,"predicted_n":2,"predicted_ms":9.5}`, differ: 1},
	{name: "llama.cpp of 2024", tells: ifAsked, last: `"timings":{"prompt_n":3,"prompt_ms":1.5,"predicted_n":2,"predicted_ms":9.5}`, differ: 1},
	{name: "TGI", tells: ifAsked, nulls: ifAsked, every: `"system_fingerprint":"3.3.4-native"`},
	{name: "Ollama", tells: ifAsked, every: `"system_fingerprint":"fp_ollama"`},
	{name: "LiteLLM", tells: ifAsked, at: emptyDelta},
	{name: "a gateway like OpenRouter", tells: ifAsked, at: emptyRole},
	{name: "LiteLLM that includes usage for all", tells: always, at: emptyDelta, differ: 1},
	{name: "OpenAI", tells: ifAsked, nulls: ifAsked, every: `"service_tier":"default","system_fingerprint":null,"obfuscation":"aB3"`, head: "openai-processing-ms: 12\r\nopenai-version: 2020-10-01\r\n"},
	{name: "Azure", tells: ifAsked, nulls: ifAsked, opening: `{"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0}]}`, head: "x-ms-region: Sweden Central\r\n"},
	{name: "Azure's strict models", tells: never, refuses: true},
	{name: "OpenRouter", tells: always, at: emptyRole, every: `"provider":"X"`, comments: true, differ: 1},
	{name: "Mistral", tells: always, at: withFinish, refuses: true},
	{name: "DeepSeek", tells: always, at: withFinish, nulls: always, comments: true, differ: 1},
	{name: "Groq", tells: ifAsked, last: `"x_groq":{"id":"r","usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12}}`, differ: 1},
	{name: "Together", tells: always, at: withFinish, nulls: always, differ: 1},
	{name: "Fireworks", tells: always, at: withFinish, last: `"perf_metrics":{"server-ttft":0.1}`, differ: 1},
	{name: "Perplexity", tells: always, at: everyEvent, every: `"citations":["a"]`, crlf: true, noDone: true, differ: 1},
	{name: "xAI", tells: always, at: everyEvent, differ: 1},
	{name: "Gemini", tells: ifAsked, at: everyEvent},
	{name: "Moonshot", tells: always, at: inChoice},
	{name: "Cerebras", tells: always, at: withFinish, last: `"time_info":{"queue_time":0.1}`, differ: 1},
	{name: "Cohere", tells: ifNotRefused, at: withFinish, differ: 1},
	{name: "DashScope", tells: ifAsked, nulls: always},
	{name: "Dynamo", tells: ifAsked, last: `"nvext":{"worker_id":{"prefill":1}}`, blind: true, differ: 1},
	{name: "usage behind [DONE]", tells: ifAsked, at: afterDone},
	{name: "usage of nobody", tells: never, at: nowhere},
	{name: "CRLF and comments", tells: ifAsked, crlf: true, comments: true},
	{name: "no blank line at the end", tells: ifAsked, unended: true, noDone: true},
	{name: "another content type", tells: ifAsked, kind: "text/plain; charset=utf-8"},
	{name: "no content type", tells: ifAsked, kind: "-"},
	{name: "trailers", tells: ifAsked, trailer: "x-checksum: abc\r\nserver-timing: total;dur=9\r\n"},
	{name: "many fields", tells: ifAsked, head: "set-cookie: a=1\r\nset-cookie: b=2\r\nx-ratelimit-remaining-tokens: 9\r\ncache-control: no-cache\r\netag: \"a\"\r\n"},
	{name: "compressed where it is wanted", tells: ifAsked, zips: ifAsked},
	{name: "compressed for all", tells: ifAsked, zips: always, differ: 1, blind: true},
	{name: "length known", tells: always, at: withFinish, sized: true, differ: 1},
}

const toldUsage = `"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12}`

// of reports whether something holds of a request.
func (w when) of(include *bool) bool {
	switch w {
	case ifAsked:
		return include != nil && *include
	case ifNotRefused:
		return include == nil || *include
	}
	return w == always
}

// options is what a request says of its usage.
type options struct {
	Stream  bool
	Options *struct {
		Include    *bool `json:"include_usage"`
		Continuous bool  `json:"continuous_usage_stats"`
	} `json:"stream_options"`
	Usage struct{ Include *bool }
}

// answers is what the family sends for a request, but for what its framing needs.
func (f *family) answers(body string) (status int, kind, text string) {
	var o options
	_ = json.Unmarshal([]byte(body), &o)
	if !o.Stream {
		return 200, "application/json", `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],` + toldUsage + `}`
	}
	if f.refuses && strings.Contains(body, `"stream_options"`) {
		return 422, "application/json", `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"]}]}`
	}
	include, continuous := o.Usage.Include, false
	if o.Options != nil {
		include, continuous = o.Options.Include, o.Options.Continuous && f.mayRepeat
		if include == nil && f.byOptions && !strings.Contains(body, `"include_usage":null`) {
			include = new(true)
		}
	}
	told, null := f.tells.of(include), f.nulls.of(include)
	own := told && (f.at == ownEvent || f.at == emptyDelta || f.at == emptyRole || f.at == afterDone)
	var b strings.Builder
	data := func(s string) { b.WriteString("data: " + s + "\n\n") }
	event := func(choices string, usage, last bool) {
		members := []string{`"id":"x","object":"chat.completion.chunk","created":1,"model":"m"`, `"choices":[` + choices + `]`}
		if f.every != "" {
			members = append(members, f.every)
		}
		switch {
		case usage:
			members = append(members, toldUsage)
		case null:
			members = append(members, `"usage":null`)
		}
		if last && f.last != "" {
			members = append(members, f.last)
		}
		data("{" + strings.Join(members, ",") + "}")
	}
	if f.comments {
		b.WriteString(": PROCESSING\n\n")
	}
	if f.opening != "" {
		data(f.opening)
	}
	each := told && (f.at == everyEvent || continuous)
	event(`{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}`, each, false)
	for _, w := range []string{"Hel", "lo"} {
		event(`{"index":0,"delta":{"content":"`+w+`"},"finish_reason":null}`, each, false)
	}
	if f.comments {
		b.WriteString(": PROCESSING\n\n")
	}
	if told && f.at == inChoice {
		event(`{"index":0,"delta":{},"finish_reason":"stop",`+toldUsage+`}`, false, true)
	} else {
		event(`{"index":0,"delta":{},"finish_reason":"stop"}`, each || told && f.at == withFinish, !own)
	}
	end := func() {
		switch {
		case !own:
		case f.at == emptyDelta:
			event(`{"index":0,"delta":{},"finish_reason":null}`, true, true)
		case f.at == emptyRole:
			event(`{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}`, true, true)
		default:
			event("", true, true)
		}
	}
	if f.at != afterDone {
		end()
	}
	if !f.noDone {
		b.WriteString("data: [DONE]\n\n")
	}
	if f.at == afterDone {
		end()
	}
	text = b.String()
	if f.crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if f.unended {
		text = strings.TrimRight(text, "\r\n")
	}
	return 200, "text/event-stream", text
}

// serve answers as the family does, in two parts that cut an event.
func (f *family) serve(c net.Conn, r *received) bool {
	body := r.body
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(strings.NewReader(body))
		if err != nil {
			panic(err)
		}
		plain, _ := io.ReadAll(z)
		body = string(plain)
	}
	status, kind, text := f.answers(body)
	head := fmt.Sprintf("HTTP/1.1 %d Status\r\nserver: s\r\n", status) + f.head
	if f.kind != "" && kind == "text/event-stream" {
		kind = f.kind
	}
	if kind != "-" {
		head += "content-type: " + kind + "\r\n"
	}
	if wants := strings.Contains(r.Header.Get("Accept-Encoding"), "gzip"); f.zips == always || f.zips == ifAsked && wants {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, text)
		_ = z.Close()
		text = b.String()
		head += "content-encoding: gzip\r\nvary: accept-encoding\r\n"
	}
	half := len(text) * 7 / 8
	switch {
	case r.Method == "HEAD":
		return play("1ms "+head+"content-length: 5\r\n\r\n")(c, r)
	case f.sized || kind == "application/json":
		return play(fmt.Sprintf("1ms %scontent-length: %d\r\n\r\n%s", head, len(text), text[:half]), "2ms "+text[half:])(c, r)
	case r.ProtoMinor == 0:
		return play("1ms "+head+"\r\n"+text[:half], "2ms "+text[half:], "3ms CUT")(c, r)
	}
	if f.trailer != "" {
		head += "trailer: x-checksum, server-timing\r\n"
	}
	return play("1ms "+head+"transfer-encoding: chunked\r\n\r\n"+chunk(text[:half]), "2ms "+chunk(text[half:])+"0\r\n"+f.trailer+"\r\n")(c, r)
}
