// Package translate turns the command lines of other load generators into one of
// tokenmeter's, and says what has no equal. One table a tool; defaults of the tool
// that differ from ours are written out.
package translate

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"tokenmeter/base/secret"
)

// Command is what comes out.
type Command struct {
	Args  []string // without the program's name: bench URL --flag value …
	Notes []string // what has no equal, and what means something else here
}

// tool is one load generator.
type tool struct {
	names    []string // the words its command lines begin with
	shortens bool     // Python's argparse: a flag may be shortened while one alone begins so
	// table is what is known of its flags, a word each: name, or name=ours, or
	// name=ours:s for seconds; behind a ! it is a switch, behind a + it takes several
	// words. A bare name is read at the end, and is named if nothing reads it. A - at its
	// end says that there is no equal, a ~ that nothing of it is about what is sent: it is
	// about files, screens and the tool's inside. A name that ends in a dot is of all names
	// that begin so. Names are without dashes, in lower case, with - for _.
	table string
	// flags do more with a value, or with each of several words.
	flags map[string]func(c *call, value string)
	// read makes flags of a file that the command line names, and puts them in front.
	read func(t *tool, c *call, args []string) ([]string, error)
	// end adds what the tool does without being told.
	end func(c *call)
}

// flag is an entry of such a table.
type flag struct {
	bare, several, none, quiet, seconds bool
	ours                                string
}

func (t *tool) known() map[string]flag {
	all := map[string]flag{}
	for word := range strings.FieldsSeq(t.table) {
		var f flag
		word, f.bare = strings.CutPrefix(word, "!")
		word, f.several = strings.CutPrefix(word, "+")
		word, f.none = strings.CutSuffix(word, "-")
		word, f.quiet = strings.CutSuffix(word, "~")
		word, f.seconds = strings.CutSuffix(word, ":s")
		word, f.ours, _ = strings.Cut(word, "=")
		all[word] = f
	}
	for name := range t.flags {
		if _, ok := all[name]; !ok {
			all[name] = flag{}
		}
	}
	return all
}

// flag is what is known of one, and of all below it.
func (c *call) flag(name string) (f flag, ok bool) {
	for below := name; ; {
		if f, ok = c.known[below]; ok {
			return f, true
		}
		dot := strings.LastIndex(strings.TrimSuffix(below, "."), ".")
		if dot < 0 {
			return flag{}, false
		}
		below = below[:dot+1]
	}
}

var tools = []*tool{vllm, aiperf, genAIPerf, guideLLM, inferencePerf, sglang, benchmarkServing, llmPerf, genAIBench}

// Names lists the tools, for messages.
func Names() string {
	var all []string
	for _, t := range tools {
		all = append(all, t.names[0])
	}
	return strings.Join(all, ", ")
}

// Of translates a command line, the program's name first. The error says which tools
// are known, or which argument, or which file that they name, can't be read.
func Of(args []string) (Command, error) {
	t, rest := toolOf(args)
	if t == nil {
		return Command{}, fmt.Errorf("%q begins with no tool that is known: %s", strings.Join(args, " "), Names())
	}
	known := t.known()
	c := &call{tool: t.names[0], given: map[string]string{}, read: map[string]bool{}, known: known}
	var order []string
	rest = append(c.environment(t, args), rest...)
	if t.read != nil {
		var err error
		if rest, err = t.read(t, c, rest); err != nil {
			return Command{}, err
		}
	}
	for len(rest) > 0 {
		arg := rest[0]
		rest = rest[1:]
		if arg == "--" {
			c.note("what is behind -- has no equal here")
			break
		}
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			return Command{}, fmt.Errorf("%q stands without a flag before it", arg)
		}
		name := flagName(arg)
		_, value, inOne := strings.Cut(arg, "=")
		if t.shortens {
			name = whole(known, name)
		}
		f, ok := c.flag(name)
		f.several = f.several || !ok && t != guideLLM // which takes no lists
		words := []string{value}
		for i := 0; !inOne && !f.bare && len(rest) > 0 && !isFlag(rest[0]) && (i == 0 || f.several); i++ {
			words, rest = append(words[:i], rest[0]), rest[1:]
		}
		if f.bare && len(rest) > 0 && slices.Contains([]string{"true", "True", "false", "False"}, rest[0]) {
			words, rest = []string{rest[0]}, rest[1:]
		}
		if f.bare && strings.EqualFold(words[0], "false") {
			continue // a switch that is off
		}
		if !ok || f.none {
			c.note("--%s: no equal here", name) // its value may be a key
		}
		c.take(t, name, f, words)
		if order = append(order, name); ok && (f.none || f.quiet || f.ours != "" || t.flags[name] != nil) || !ok {
			c.read[name] = true
		}
	}
	t.end(c)
	c.ofFlags()
	c.ofAPI()
	c.ofDefaults()
	if c.url == "" {
		c.url = "http://localhost:8000"
		c.note("no address was given: %s stands for it", c.url)
	}
	c.path()
	c.tokenizer()
	if i := slices.Index(c.args, "--workload"); i >= 0 && c.arg("output-tokens") != "" {
		c.args[i] = "--prompts" // of which the length of the answers can be said
	}
	if strings.Contains(strings.Join(c.args, " "), secret.Mask) {
		c.note("%s stands for what may be a secret and is not repeated: fill it in, or put a key into a variable and name it with --api-key-env NAME", secret.Mask)
	}
	for _, name := range order {
		if !c.read[name] {
			c.note("--%s: changes nothing here, beside these other flags", name)
		}
	}
	command := "bench"
	if c.sweeps {
		command = "sweep"
	}
	return Command{Args: append([]string{command, c.url}, c.args...), Notes: c.notes}, nil
}

// isFlag: what begins like a flag is no value, but for negative numbers.
func isFlag(word string) bool {
	return len(word) > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9') && word[1] != '.'
}

// take does what a flag asks for.
func (c *call) take(t *tool, name string, f flag, words []string) {
	value := strings.Join(words, " ")
	if before := c.given[name]; before != "" && t == guideLLM {
		value = before + "," + value // it takes a flag several times, as a list
	}
	c.given[name] = value
	do := t.flags[name]
	switch {
	case do != nil:
		for _, word := range words {
			do(c, word)
		}
	case f.ours == "":
	case f.bare:
		c.on(f.ours)
	case f.seconds:
		c.seconds(f.ours, value)
	default:
		for _, word := range words {
			c.set(f.ours, word)
		}
	}
}

// whole is the only flag that a shortened name can mean to a tool that takes such
// names; the name itself where there is none, or several.
func whole(known map[string]flag, name string) string {
	if _, ok := known[name]; ok || len(name) < 2 {
		return name
	}
	full := ""
	for other := range known {
		if strings.HasPrefix(other, name) {
			if full != "" {
				return name
			}
			full = other
		}
	}
	return cmp.Or(full, name)
}

// toolOf finds the tool, and what stands behind its name. Settings of the environment, a
// program's folder and the Python that runs it are no part of a name.
func toolOf(args []string) (*tool, []string) {
	for len(args) > 0 && (args[0] == "env" || isSetting(args[0])) {
		args = args[1:]
	}
	if len(args) > 2 && args[0] == "uv" && args[1] == "run" {
		args = args[2:]
	}
	if len(args) > 1 && strings.HasPrefix(path.Base(args[0]), "python") {
		if args = args[1:]; args[0] == "-m" {
			args = args[1:]
		}
	}
	for _, t := range tools {
		for _, name := range t.names {
			words := strings.Fields(name)
			if len(args) >= len(words) && path.Base(args[0]) == words[0] && slices.Equal(args[1:len(words)], words[1:]) {
				return t, args[len(words):]
			}
		}
	}
	return nil, nil
}

// call is a command line being translated.
type call struct {
	tool   string // its first name
	url    string
	tail   string // the path of the operation, where the tool was given one
	args   []string
	notes  []string
	given  map[string]string // flags of the tool, by name
	read   map[string]bool   // of these, what had a say in the command or its notes
	known  map[string]flag
	body   []string // "field": value, of each request
	sweeps bool
}

// fields adds to the body of each request: an object's inside.
func (c *call) fields(object string) {
	inside := strings.TrimSpace(object)
	if strings.HasPrefix(inside, "{") {
		inside = strings.TrimSpace(strings.TrimSuffix(inside[1:], "}"))
	}
	if inside != "" {
		c.body = append(c.body, inside)
	}
}

// usually adds a field that the tool sends, unless the user asks for another value of it.
func (c *call) usually(field string) {
	name, _, _ := strings.Cut(field, ":")
	if !strings.Contains(strings.Join(c.body, ","), name) {
		c.fields(field)
	}
}

func body(c *call, v string) { c.fields(v) }

// number is a field of each request that is a number.
//
//go:noinline
func number(name string) func(*call, string) {
	return func(c *call, v string) { c.fields(fmt.Sprintf("%q: %s", name, v)) }
}

// set gives a flag of ours a value. Only some may stand twice: of others the last is
// what the tool takes too.
func (c *call) set(flag, value string) {
	switch flag {
	case "header", "tag":
	default:
		c.unset(flag)
	}
	c.args = append(c.args, "--"+flag, value)
}

// arg is what a flag of ours was set to.
func (c *call) arg(flag string) string {
	if i := slices.Index(c.args, "--"+flag); i >= 0 {
		return c.args[i+1]
	}
	return ""
}

// unset takes a flag back.
func (c *call) unset(flag string) {
	if i := slices.Index(c.args, "--"+flag); i >= 0 {
		c.args = slices.Delete(c.args, i, i+2)
	}
}

func (c *call) on(flag string) {
	if !slices.Contains(c.args, "--"+flag) {
		c.args = append(c.args, "--"+flag)
	}
}

// tokenizer leaves out one that is none of ours and no file: elsewhere it is a model's name,
// whose files are fetched.
func (c *call) tokenizer() {
	name := c.arg("tokenizer")
	if name == "cl100k_base" || name == "o200k_base" {
		return
	}
	if _, err := os.Stat(name); err == nil && name != "" {
		return
	}
	c.unset("tokenizer")
	var says []string
	if name != "" {
		says = append(says, "--tokenizer "+name+": no file here, and nothing is fetched")
	}
	switch made := c.arg("input-tokens") != ""; {
	case made && c.arg("warmup") == "0": // in which lengths are fitted
		says = append(says, "lengths are exact with the model's tokenizer.json (--tokenizer)", "without it they are fitted to what the server counts in a warm-up alone: leave --warmup 0 out")
	case made && name != "":
		says = append(says, "lengths are fitted to what the server counts, and exact with the model's tokenizer.json")
	}
	if len(says) > 0 {
		c.note("%s", strings.Join(says, "; "))
	}
}

// seconds sets a time. Without end is a day here.
func (c *call) seconds(flag, value string) {
	if value == "inf" {
		value = "86400"
	}
	if first, more, several := strings.Cut(value, ","); several {
		c.note("--%s: of the times %s, %s one is taken here", flag, first, more)
		value = first
	}
	c.set(flag, plain(value)+"s")
}

// plain is a number without zeros at its end, and without an exponent, which bench takes
// of no time; what is no number stays as it is.
func plain(value string) string {
	if x, err := strconv.ParseFloat(value, 64); err == nil {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return value
}

func (c *call) note(format string, args ...any) {
	if text := strings.ReplaceAll(fmt.Sprintf(format, args...), "  ", " "); !slices.Contains(c.notes, text) {
		c.notes = append(c.notes, text)
	}
}

// has reports whether the tool was given one of some flags. A switch has had its say then:
// of a flag with a value only `or` takes that.
func (c *call) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, ok := c.given[name]
		if ok && c.known[name].bare {
			c.read[name] = true
		}
		return ok
	})
}

// byDefault sets a flag of ours unless the tool was given one of some of its own.
func (c *call) byDefault(flag, value string, unless ...string) {
	if !c.has(unless...) {
		c.set(flag, value)
	}
}

// traceFile puts a workload file in place of a trace, for what its columns mean.
func (c *call) traceFile(unit, block string) {
	file := c.arg("workload")
	if file == "" {
		return
	}
	if block != "" {
		block = ", block: " + block
	}
	c.set("workload", "trace.yaml")
	c.note("trace.yaml is yours to write: {file: %q, time_in: %s%s}", file, unit, block)
}

// atItsTimes takes the streams from a load that is played by a file's times, which the
// flag sets aside here; in a workload file they are the cap that they are there.
func (c *call) atItsTimes() {
	streams := c.arg("concurrency")
	if streams == "" {
		return
	}
	c.unset("concurrency")
	most, more, _ := strings.Cut(streams, ",")
	c.note("--concurrency would set the file's times aside; beside them it is a cap: when: {trace: {}, concurrency: %s} beside file: in a workload file", most)
	if more != "" {
		c.note("--concurrency %s: a run for each there; here with a workload file of its own", streams)
	}
}

// or is the first of some flags that was given, else a default.
func (c *call) or(fallback string, names ...string) string {
	for _, name := range names {
		if v, ok := c.given[name]; ok && v != "" {
			c.read[name] = true
			return v
		}
	}
	return fallback
}

// says is for what has no equal, with the reason.
//
//go:noinline
func says(why string) func(*call, string) { return func(c *call, _ string) { c.note("%s", why) } }

// api chooses ours by the tool's name of it, of a table with a word each: name=ours.
func (c *call) api(flag, name, table string) {
	for word := range strings.FieldsSeq(table) {
		if theirs, ours, _ := strings.Cut(word, "="); theirs == name {
			c.set("api", ours)
			return
		}
	}
	c.note("--%s %s: no equal here; --api names what there is", flag, name)
}

func address(c *call, v string) {
	if !strings.Contains(v, "://") {
		v = "http://" + v
	}
	c.url = v
}

// endpoint is the path of the operation.
func endpoint(c *call, v string) { c.tail = "/" + strings.Trim(v, "/") }

// operations are the ends of a URL by which ours knows a whole endpoint, and the API
// that has it unasked.
const operations = "/v1/chat/completions=openai-chat /v1/completions=openai-completions /v1/responses=openai-responses /v1/messages=anthropic " +
	"/v1/embeddings=embeddings /v1/rerank=rerank /rerank=tei-rerank /generate=sglang /generate_stream=tgi /v1/audio/transcriptions=transcription"

// path puts the operation's path into the URL, where it isn't the usual one.
func (c *call) path() {
	if c.tail == "" || strings.Contains(operations+" ", c.tail+"="+c.arg("api")+" ") {
		return
	}
	if last := c.tail[strings.LastIndex(c.tail, "/"):]; strings.Contains(operations, last+"=") {
		c.url = strings.TrimSuffix(strings.TrimSuffix(c.url, "/"), "/v1") + c.tail
		return
	}
	c.note("--endpoint %s: no equal here, as the path ends in no operation of an API", c.tail)
}

// key never repeats a secret.
func key(c *call, _ string) {
	c.note("--api-key: put the key into a variable and name it with --api-key-env NAME")
}

// limits say which requests are good: ttft:500 and the like, in ms.
func limits(names map[string]string) func(*call, string) {
	return func(c *call, v string) {
		for part := range strings.FieldsSeq(v) {
			name, limit, ok := strings.Cut(part, ":")
			ours := names[name]
			if !ok || ours == "" {
				c.note("--goodput %s: no equal here", part)
				continue
			}
			c.good(ours, limit)
		}
	}
}

// good is a limit of the requests that count for goodput. The tools measure their share,
// and no run fails for it: so it is a limit here, and no promise.
func (c *call) good(metric, limit string) {
	all := strings.TrimSpace(c.arg("objective") + " " + metric + ":" + limit)
	c.unset("objective")
	c.set("objective", all)
}

// answers says how long they are where the tool asks for no length.
func (c *call) answers() {
	c.note("answers are as long as the model likes there; of made prompts ours asks for 128 tokens, unless --output-tokens says more")
}

// clipped are lengths whose bounds a length outside of them becomes, where some may lie
// there; without a least, one token.
func clipped(c *call, flag, mean, deviation, least, most string) {
	lengths(c, flag, mean, deviation)
	m, _ := strconv.ParseFloat(mean, 64)
	sd, _ := strconv.ParseFloat(deviation, 64)
	low, _ := strconv.ParseFloat(cmp.Or(least, "1"), 64)
	text := c.arg(flag)
	if !strings.Contains(text, ":") || most == "" && m-4*sd > low { // less than one in 30,000
		return
	}
	if least != "" {
		text += ",min=" + least
	}
	if most != "" {
		text += ",max=" + most
	}
	c.set(flag, text+",clip")
}

// lengths are a mean with a deviation, where there is one.
func lengths(c *call, flag, mean, deviation string) {
	switch {
	case mean == "":
	case deviation == "" || plain(deviation) == "0":
		c.set(flag, mean)
	default:
		c.set(flag, "normal:"+mean+","+plain(deviation))
	}
}
