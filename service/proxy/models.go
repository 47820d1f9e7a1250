package proxy

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// besides is a model that a request names beside the one that it asks for.
type besides struct {
	name string
	in   string // the part of the request that names it
}

// barred is what else a request may ask for that is none of a route's models. What only reads
// asks for nothing. Without such a thing ok is false.
func (c *call) barred(r *route) (what besides, ok bool) {
	if slices.Contains(r.Models, "*") || slices.Contains(reading, c.in.Method) {
		return what, false
	}
	take := func(in string) func(string) {
		return func(names string) {
			for name := range strings.SplitSeq(names, ",") { // LiteLLM asks each of such a list
				if name = plainModel(name); !ok && name != "" && !matchesAny(r.Models, name) {
					what, ok = besides{name[:min(len(name), mostShown)], in}, true
				}
			}
		}
	}
	for _, name := range r.unread(c.in.URL.Path) {
		take("path")(name)
	}
	body := c.body
	if c.plain != nil {
		body = c.plain
	}
	take("body")(c.asked.model)
	if at := skipSpace(body, 0); at < len(body) && !eachModel(body, span{at, len(body)}, ofNone, 0, take("body")) && !ok {
		return besides{"", "body"}, true
	}
	for name, values := range c.in.Header {
		for _, v := range values {
			if namesModel(name) && !strings.HasPrefix(name, "Sec-") { // those are of browsers: Sec-CH-UA-Model
				take("header " + name)(v)
			} else if v = strings.TrimSpace(v); strings.HasPrefix(v, "{") || strings.HasPrefix(v, "[") { // a gateway's settings
				eachModel([]byte(v), span{0, len(v)}, ofNone, 0, take("header "+name))
			}
		}
	}
	if c.in.URL.RawQuery != "" {
		for name, values := range c.in.URL.Query() {
			for _, v := range values {
				if namesModel(name) {
					take("query")(v)
				}
			}
		}
	}
	return what, ok
}

// mostShown is how much of such a name is told to its client, in bytes.
const mostShown = 100

// plainModel is a model's name without what Google's clients may put before it.
func plainModel(name string) string {
	name = strings.TrimSpace(name)
	if strings.HasPrefix(name, "projects/") || strings.HasPrefix(name, "publishers/") {
		name = name[max(strings.LastIndex(name, "/models/"), 0):]
	}
	return strings.TrimPrefix(strings.TrimPrefix(name, "/"), "models/")
}

// namesModel reports whether a member, a header or a parameter of this name says which
// model is to answer, or to answer where that fails: OpenRouter's models, LiteLLM's
// fallbacks and deployment_id, watsonx' model_id, the header of a deployment at Azure's machine learning or
// of a part of an endpoint at SageMaker.
func namesModel(name string) bool {
	word := wordOf([]byte(name))
	return word.model() || word.adapter() || word.points() && bytes.Contains(word.bytes(), []byte("adapter")) // of vLLM on SageMaker
}

// word is a name in small letters, without what parts its words; empty: it is too long for
// any that matters. A body may have millions of them, so none is allocated.
type word struct {
	n    int
	text [48]byte
}

func wordOf(name []byte) (w word) {
	if len(name) > len(w.text) {
		return w
	}
	for _, c := range name {
		if c == '_' || c == '-' {
			continue
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		w.text[w.n] = c
		w.n++
	}
	return w
}

func (w *word) bytes() []byte { return w.text[:w.n] }

var modelEnds = [][]byte{[]byte("model"), []byte("models"), []byte("modelid"), []byte("modelids"), []byte("modelname"), []byte("modelnames"), []byte("deployment"), []byte("deploymentid"),
	[]byte("fallback"), []byte("fallbacks"), []byte("inferencecomponent"), []byte("targetvariant")}

func (w *word) model() bool {
	return w.n > 0 && strings.IndexByte("lsdetk", w.text[w.n-1]) >= 0 && slices.ContainsFunc(modelEnds, func(end []byte) bool { return bytes.HasSuffix(w.bytes(), end) })
}

// adapter reports whether a member of this name says which weights are to answer, be the
// model's name the same: SGLang's lora_path, the adapter_id of TGI and LoRAX, llama.cpp's
// lora.
func (w *word) adapter() bool {
	name := w.bytes()
	return bytes.HasPrefix(name, []byte("lora")) || bytes.HasPrefix(name, []byte("adapter"))
}

// pointers end the names of what tells one thing from others.
var pointers = [][]byte{[]byte("id"), []byte("ids"), []byte("name"), []byte("names"), []byte("path"), []byte("paths"), []byte("source"), []byte("identifier"), []byte("alias")}

// points reports whether a member of an adapter says which one it is, and not how it is
// mixed in, as LoRAX' merge_strategy.
func (w *word) points() bool {
	return slices.ContainsFunc(pointers, func(end []byte) bool { return bytes.HasSuffix(w.bytes(), end) })
}

// id reports whether numbers of this name stand for something.
func (w *word) id() bool {
	return bytes.HasSuffix(w.bytes(), []byte("id")) || bytes.HasSuffix(w.bytes(), []byte("ids"))
}

func (w *word) fallback() bool { return bytes.Contains(w.bytes(), []byte("fallback")) }

// said are members in which nobody names a model that is to answer, as wordOf writes them:
// what the model reads, forms of answers and of tools, and notes of the client's own.
var said = func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(`messages message input inputs prompt prompts content contents system systeminstruction instructions documents texts stop
		chathistory toolresults parameters parameterdefinitions inputschema parametersjsonschema responseformat responseschema responsejsonschema format jsonschema
		guidedjson structuredoutputs schema properties patternproperties $defs definitions dependentrequired dependentschemas dependencies
		metadata examples inputexamples example default const enum chattemplatekwargs`) {
		words[word] = true
	}
	return words
}()

// naming is what the strings of a value are.
type naming uint8

const (
	ofNone      naming = iota
	ofModels           // each is one
	inFallbacks        // in a list of fallbacks: those in lists of its objects are, LiteLLM's {"cheap": ["dear"]}
	ofFallbacks        // of fallbacks: those of its object are, too
	ofAdapters         // each is one, and in objects what says which
	ofNumbers          // as of adapters, and so are numbers
)

// mostNested is how deep lists and objects may lie in each other where models are looked for.
const mostNested = 16

// eachModel tells of all models that a value names, at any depth: tools and fallbacks have
// some of their own. It is not ok where that can't be read.
func eachModel(data []byte, v span, as naming, nested int, take func(name string)) (ok bool) {
	if nested > mostNested {
		return false
	}
	ok = true
	switch data[v.from] {
	case '"':
		if as != ofNone {
			var name string
			if ok = json.Unmarshal(data[v.from:v.to], &name) == nil; ok {
				take(name)
			}
		}
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if as == ofNumbers {
			take(string(data[v.from:v.to]))
		}
	case '[':
		if as == ofFallbacks {
			as = inFallbacks
		}
		return eachElement(data[:v.to], v.from, func(v span) { ok = ok && eachModel(data, v, as, nested+1, take) }) && ok
	case '{':
		_, err := eachMember(data[:v.to], v.from, func(key []byte, v span) {
			name, is := wordOf(key), ofNone
			switch {
			case said[string(name.bytes())] && !(nested == 0 && string(name.bytes()) == "parameters"): // TGI's own options, and no tool's
				return
			case name.id() && (as >= ofAdapters || name.adapter()):
				is = ofNumbers
			case as >= ofAdapters && (name.points() || data[v.from] == '{'), name.adapter():
				is = ofAdapters
			case name.fallback():
				is = ofFallbacks
			case name.model(), as == ofFallbacks, as == inFallbacks && data[v.from] == '[':
				is = ofModels
			}
			ok = ok && eachModel(data, v, is, nested+1, take)
		})
		return ok && err == nil
	}
	return ok
}

// eachElement calls f with the elements of the list that begins at from.
func eachElement(data []byte, from int, f func(value span)) (ok bool) {
	i := skipSpace(data, from+1)
	if i < len(data) && data[i] == ']' {
		return true
	}
	for i < len(data) {
		to := skipValue(data, i)
		if to < 0 {
			return false
		}
		f(span{i, to})
		if i = skipSpace(data, to); i >= len(data) || data[i] != ',' {
			return i < len(data) && data[i] == ']'
		}
		i = skipSpace(data, i+1)
	}
	return false
}

// unread are the names in a path that are not those of its API, nor written out in the
// paths of the route: servers have models there (/engines/NAME/chat/completions,
// /serving-endpoints/NAME/invocations, /NAME/v1/chat/completions). Names that stand side
// by side are one, with slashes. What ends a path is what is done, but behind a word for models.
func (r *route) unread(path string) (names []string) {
	var run []string
	before, opened := "", ""
	end := func() {
		if len(run) > 0 {
			names, run = append(names, strings.Join(run, "/")), nil
		}
	}
	segments := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	for i, segment := range segments {
		low := strings.ToLower(segment)
		if at := strings.LastIndexByte(low, ':'); i == len(segments)-1 && at >= 0 && r.plain(low[at+1:]) {
			segment, low = segment[:at], low[:at] // models/NAME:generateContent
			segments = append(segments, "")
		}
		switch {
		case low == "" || !namesAnyModel(before, low) && (pathWords[before]&ofThing != 0 || r.plain(low)):
			end()
		default:
			if len(run) == 0 {
				opened = before
			}
			run = append(run, segment)
		}
		before = low
	}
	if len(run) > 0 && (len(segments) > 0 && segments[len(segments)-1] == "" || pathWords[opened]&ofModel != 0) {
		end()
	}
	return names
}

// isVersion reports whether a word is one like v1, v4.1 or v1beta2.
func isVersion(word string) bool {
	number, ok := strings.CutPrefix(word, "v")
	rest := strings.TrimLeft(number, "0123456789.")
	rest, _ = strings.CutPrefix(strings.TrimPrefix(rest, "alpha"), "beta")
	return ok && number != "" && number[0] != '.' && strings.Trim(rest, "0123456789") == "" && !strings.HasPrefix(number, "alpha") && !strings.HasPrefix(number, "beta")
}

// plain reports whether a word of a path, in small letters, names no model.
func (r *route) plain(word string) bool {
	if isVersion(word) || pathWords[word]&(ofThing|ofModel|noModel) != 0 || defaultWords()[word] {
		return true
	}
	return slices.ContainsFunc(r.rules, func(rule pathRule) bool {
		return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(rule.pattern), func(r rune) bool { return r == '/' || r == ':' }), func(s string) bool { return s == word })
	})
}
