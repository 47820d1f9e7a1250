package proxy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// asked is what a request's body says, as far as the proxy must know it. It is
// read once and never written anew: what is not understood is passed on.
type asked struct {
	model     string
	also      []string // models that the path names besides, Azure's by their deployments
	vague     bool     // it can't be told which model is asked for
	user      string
	stream    bool
	named     bool // the field model is there
	says      bool // the field stream is there
	maxTokens timeline.Opt[int64]
	nothing   bool // no answer is asked for here: a cache is to be warmed, a prompt scored, an answer fetched later
	later     bool // the answer is to be fetched later, where it is not streamed
	prompted  bool // there is a prompt
	messages  bool // it names the version of Anthropic's API that it is in

	usage    usageAsk
	options  span // of the value of stream_options
	opts     bool // that is an object
	end      int  // of the closing brace
	members  int
	repeated bool // a field that matters is there twice

	added span   // of what withUsage put into its copy of the body
	was   string // what stood there
}

type usageAsk uint8

const (
	usageUnsaid usageAsk = iota
	usageWanted
	usageRefused
)

// span is a part of the body; empty: it is not there.
type span struct{ from, to int }

var errNoObject = errors.New("the body is no JSON object")

// mostName is how long a name may be that is kept for as long as a request lasts, in bytes.
const mostName = 1 << 10

// name takes a member that names the model. Servers differ in which of two they believe,
// and in whether the case of a member's letters matters.
func (a *asked) name(raw []byte) {
	var name string
	err := json.Unmarshal(raw, &name)
	a.vague = a.vague || err != nil || len(name) > mostName || a.named && name != a.model
	if a.named = true; !a.vague {
		a.model = name
	}
}

// readAsked reads the members of the body's object.
func readAsked(body []byte) (asked, error) {
	a := asked{}
	var err error
	a.end, err = eachMember(body, 0, func(key []byte, v span) {
		a.members++
		raw := body[v.from:v.to]
		switch string(key) {
		case "user":
			if len(raw) <= mostName {
				_ = json.Unmarshal(raw, &a.user)
			}
		case "stream":
			a.repeated = a.repeated || a.says
			a.says, a.stream = true, string(raw) == "true"
		case "max_tokens", "max_completion_tokens", "max_output_tokens", "n_predict":
			a.length(raw)
		case "generationConfig", "generation_config", "inferenceConfig", "sampling_params", "options", "parameters":
			a.lengthWithin(body, v) // Gemini, Bedrock, SGLang, Ollama, TGI
		case "prompt_cache_options":
			_, _ = eachMember(body[:v.to], v.from, func(key []byte, v span) {
				a.nothing = a.nothing || string(key) == "prewarm" && string(body[v.from:v.to]) == "true"
			})
		case "background", "deferred": // OpenAI's, xAI's
			a.later = a.later || string(raw) == "true"
		case "prompt", "messages":
			a.prompted = a.prompted || len(raw) > 2 && string(raw) != "null"
		case "anthropic_version":
			a.messages = true
		case "stream_options":
			a.repeated = a.repeated || a.options.to > 0
			a.options, a.opts = v, raw[0] == '{'
			a.usage = cmp.Or(usageOf(body, v, "include_usage"), a.usage)
		case "usage": // OpenRouter's way to ask
			a.usage = cmp.Or(a.usage, usageOf(body, v, "include"))
		default:
			if bytes.EqualFold(key, []byte("model")) {
				a.name(raw)
			}
		}
	})
	return a, err
}

// noAnswer reports whether a reply without a token may be all that was asked for. Without
// a prompt Ollama loads or unloads a model, and nobody may have spoken in a recording.
func (a *asked) noAnswer(of *api.API) bool {
	return of == api.Transcription || a.nothing || a.later && !a.stream || !a.prompted && (of == api.OllamaChat || of == api.OllamaGenerate)
}

// length takes how many tokens the answer may have. 0 asks for no answer: Anthropic,
// llama.cpp and SGLang read the prompt into their caches then.
func (a *asked) length(raw []byte) {
	switch n, err := strconv.ParseInt(string(raw), 10, 64); {
	case err == nil && n > 0:
		a.maxTokens = timeline.Some(n)
	case err == nil && n == 0:
		a.nothing = true
	}
}

func (a *asked) lengthWithin(body []byte, v span) {
	_, _ = eachMember(body[:v.to], v.from, func(key []byte, v span) {
		switch string(key) {
		case "maxOutputTokens", "max_output_tokens", "maxTokens", "max_new_tokens", "num_predict":
			a.length(body[v.from:v.to])
		}
	})
}

// readPath takes what the path says. Where the API has the model's name there, that is
// the one that answers, whatever the body says; deployments have it there beside the
// body, which some servers believe. of is nil for what is of no known API.
func (a *asked) readPath(of *api.API, path string) {
	segments := strings.Split(path, "/")
	for i, name := range segments[1:] {
		if strings.EqualFold(segments[i], "deployments") && name != "" {
			a.also = append(a.also, name)
			a.model = cmp.Or(a.model, name)
		}
	}
	if of == nil {
		a.model = cmp.Or(modelBeside(path), a.model)
	} else if model, stream, ok := of.ReadPath(path); ok {
		a.stream, a.says = stream, true
		a.model = cmp.Or(model, a.model)
	}
}

// modelBeside is the model of an operation beside the completions: Google's are
// models/NAME:predict, Bedrock's model/NAME/count-tokens. A name may have slashes, as
// Bedrock's ARNs and the versions of TensorFlow Serving do. Empty: the path names none.
func modelBeside(path string) string {
	if _, rest, ok := strings.Cut(path, "/models/"); ok {
		if name := rest[:max(strings.LastIndexByte(rest, ':'), 0)]; name != "" && name != "count-tokens" { // Anthropic's SDK counts there at Vertex AI
			return name
		}
	}
	if _, rest, ok := strings.Cut(path, "/model/"); ok {
		return rest[:max(strings.LastIndexByte(rest, '/'), 0)]
	}
	return ""
}

// usageOf reads a member that says whether usage is wanted.
func usageOf(body []byte, v span, name string) usageAsk {
	found := usageUnsaid
	_, _ = eachMember(body[:v.to], v.from, func(key []byte, v span) {
		if string(key) != name {
			return
		}
		switch string(body[v.from:v.to]) {
		case "true":
			found = usageWanted
		case "false":
			found = usageRefused
		}
	})
	return found
}

// withUsage returns the body with include_usage asked for, every other byte as
// it was; ok is false when that can't be done.
func (a *asked) withUsage(body []byte) (out []byte, ok bool) {
	if !a.stream || a.repeated || a.usage != usageUnsaid {
		return body, false
	}
	const member = `"include_usage":true`
	put := func(at int, text string, skip int) []byte {
		a.added, a.was = span{at, at + len(text)}, string(body[at:at+skip])
		out := make([]byte, 0, len(body)+len(text))
		out = append(append(out, body[:at]...), text...)
		return append(out, body[at+skip:]...)
	}
	comma := func(any bool) string {
		if any {
			return ","
		}
		return ""
	}
	if a.options.to == 0 {
		return put(a.end, comma(a.members > 0)+`"stream_options":{`+member+`}`, 0), true
	}
	v := a.options
	if string(body[v.from:v.to]) == "null" {
		return put(v.from, `{`+member+`}`, v.to-v.from), true
	}
	n := 0
	end, err := eachMember(body[:v.to], v.from, func(key []byte, _ span) {
		n++
		if string(key) == "include_usage" || string(key) == "continuous_usage_stats" {
			n = -1 << 30 // null, or what without it is nonsense
		}
	})
	if err != nil || n < 0 {
		return body, false
	}
	return put(end, comma(n > 0)+member, 0), true
}

// withoutUsage is the body that withUsage was given, made of the one that it gave.
func (a *asked) withoutUsage(body []byte) []byte {
	return slices.Concat(body[:a.added.from], []byte(a.was), body[a.added.to:])
}

// eachMember calls f with the members of the object that begins at or after
// from, and returns where its closing brace is.
func eachMember(data []byte, from int, f func(key []byte, value span)) (end int, err error) {
	i := skipSpace(data, from)
	if i >= len(data) || data[i] != '{' {
		return 0, errNoObject
	}
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == '}' {
		return i, nil
	}
	for {
		if i >= len(data) || data[i] != '"' {
			return 0, errNoObject
		}
		keyEnd := skipString(data, i)
		if keyEnd < 0 {
			return 0, errNoObject
		}
		raw := data[i:keyEnd]
		i = skipSpace(data, keyEnd)
		if i >= len(data) || data[i] != ':' {
			return 0, errNoObject
		}
		i = skipSpace(data, i+1)
		to := skipValue(data, i)
		if to < 0 {
			return 0, errNoObject
		}
		f(keyOf(raw), span{i, to})
		i = skipSpace(data, to)
		if i >= len(data) {
			return 0, errNoObject
		}
		switch data[i] {
		case '}':
			return i, nil
		case ',':
			i = skipSpace(data, i+1)
		default:
			return 0, errNoObject
		}
	}
}

func keyOf(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	var key string
	_ = json.Unmarshal(raw, &key)
	return []byte(key)
}

func skipSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\t' || data[i] == '\r') {
		i++
	}
	return i
}

// skipString returns what follows the string that begins at i, or -1.
func skipString(data []byte, i int) int {
	for i++; i < len(data); {
		j := bytes.IndexByte(data[i:], '"')
		if j < 0 {
			return -1
		}
		i += j
		slashes := 0
		for k := i - 1; data[k] == '\\'; k-- {
			slashes++
		}
		i++
		if slashes%2 == 0 {
			return i
		}
	}
	return -1
}

// skipValue returns what follows the value that begins at i, or -1. It does not
// check what is inside.
func skipValue(data []byte, i int) int {
	depth := 0
	for i < len(data) {
		switch c := data[i]; c {
		case '"':
			if i = skipString(data, i); i < 0 {
				return -1
			}
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return -1
			}
		case ' ', '\n', '\t', '\r', ',', ':':
			if depth == 0 {
				return -1
			}
		default:
			if depth == 0 {
				from := i
				for i < len(data) && !bytes.ContainsRune([]byte(" \n\t\r,:{}[]\""), rune(data[i])) {
					i++
				}
				if i == from {
					return -1
				}
				return i
			}
		}
		i++
	}
	return -1
}
