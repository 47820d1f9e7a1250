// Package translate turns the command lines of other load generators into one of
// tokenmeter's, and says what has no equal. One table a tool; defaults of the tool
// that differ from ours are written out.
package translate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Command is what comes out.
type Command struct {
	Args  []string // without the program's name: bench URL --flag value …
	Notes []string // what has no equal, and what means something else here
}

// tool is one load generator.
type tool struct {
	names    []string // the words its command lines begin with, the longest first
	shortens bool     // Python's argparse: a flag may be shortened while one alone begins so
	// switches are flags without a value.
	switches []string
	// lists are flags that take several words.
	lists []string
	// flags say what becomes of each flag that is known. Names are without dashes, in
	// lower case, with - for _.
	flags map[string]func(c *call, value string)
	// end adds what the tool does without being told.
	end func(c *call)
}

var tools = []*tool{vllm, aiperf, genAIPerf, guideLLM, inferencePerf, sglang}

// Names lists the tools, for messages.
func Names() string {
	var all []string
	for _, t := range tools {
		all = append(all, t.names[len(t.names)-1])
	}
	return strings.Join(all, ", ")
}

// Of translates a command line, the program's name first. The error says which tools
// are known, or which argument can't be read.
func Of(args []string) (Command, error) {
	t, rest := toolOf(args)
	if t == nil {
		return Command{}, fmt.Errorf("%q begins with no tool that is known: %s", strings.Join(args, " "), Names())
	}
	c := &call{given: map[string]string{}}
	for len(rest) > 0 {
		arg := rest[0]
		rest = rest[1:]
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			return Command{}, fmt.Errorf("%q stands without a flag before it", arg)
		}
		name, value, inOne := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
		name = t.whole(name)
		do, known := t.flags[name]
		if !inOne && !slices.Contains(t.switches, name) && len(rest) > 0 && (known || !strings.HasPrefix(rest[0], "-")) {
			value, rest = rest[0], rest[1:]
			for slices.Contains(t.lists, name) && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
				value, rest = value+" "+rest[0], rest[1:]
			}
		}
		c.given[name] = value
		if !known {
			c.note("--%s: no equal here", name) // its value may be a key
			continue
		}
		do(c, value)
	}
	if len(c.body) > 0 {
		c.set("parameters", "{"+strings.Join(c.body, ", ")+"}")
	}
	t.end(c)
	url := c.url
	if url == "" {
		url = "http://localhost:8000"
		c.note("no address was given: %s stands for it", url)
	}
	command := "bench"
	if c.sweeps {
		command = "sweep"
	}
	return Command{Args: append([]string{command, url}, c.args...), Notes: c.notes}, nil
}

// whole is the only flag or switch that a shortened name can mean to a tool that takes
// such names; the name itself where there is none, or several.
func (t *tool) whole(name string) string {
	names := slices.AppendSeq(slices.Clone(t.switches), maps.Keys(t.flags))
	if !t.shortens || len(name) < 2 || slices.Contains(names, name) {
		return name
	}
	full := ""
	for _, known := range names {
		switch {
		case known == full || !strings.HasPrefix(known, name):
		case full != "":
			return name
		default:
			full = known
		}
	}
	return cmp.Or(full, name)
}

func toolOf(args []string) (*tool, []string) {
	for _, t := range tools {
		for _, name := range t.names {
			words := strings.Fields(name)
			if len(args) >= len(words) && slices.Equal(args[:len(words)], words) {
				return t, args[len(words):]
			}
		}
	}
	return nil, nil
}

// call is a command line being translated.
type call struct {
	url    string
	args   []string
	notes  []string
	given  map[string]string // flags of the tool, by name
	body   []string          // "field": value, of each request
	sweeps bool
}

// fields adds to the body of each request: an object's inside.
func (c *call) fields(object string) {
	inside := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(object), "{"), "}"))
	if inside != "" {
		c.body = append(c.body, inside)
	}
}

func body(c *call, v string) { c.fields(v) }

func (c *call) set(flag string, value string) { c.args = append(c.args, "--"+flag, value) }

func (c *call) on(flag string) { c.args = append(c.args, "--"+flag) }

func (c *call) note(format string, args ...any) {
	c.notes = append(c.notes, strings.ReplaceAll(fmt.Sprintf(format, args...), "  ", " "))
}

// has reports whether the tool was given one of some flags.
func (c *call) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { _, ok := c.given[name]; return ok })
}

// byDefault sets a flag of ours unless the tool was given one of some of its own.
func (c *call) byDefault(flag, value string, unless ...string) {
	if !c.has(unless...) {
		c.set(flag, value)
	}
}

// or is the first of some flags that was given, else a default.
func (c *call) or(fallback string, names ...string) string {
	for _, name := range names {
		if v, ok := c.given[name]; ok && v != "" {
			return v
		}
	}
	return fallback
}

// to gives a flag another name. It and its likes are not inlined: the tables of flags
// call them two hundred times, which would weigh 10 kB.
//
//go:noinline
func to(flag string) func(*call, string) { return func(c *call, v string) { c.set(flag, v) } }

// seconds gives a number of seconds another name.
//
//go:noinline
func seconds(flag string) func(*call, string) {
	return func(c *call, v string) { c.set(flag, v+"s") }
}

// same is for what needs no flag here, since it is always so, or is read at the end.
func same(*call, string) {}

// says is for what has no equal, with the reason.
//
//go:noinline
func says(why string) func(*call, string) { return func(c *call, _ string) { c.note("%s", why) } }

// apis chooses the API by the tool's name of it; otherwise is what is said of others.
func apis(otherwise string, names map[string]string) func(*call, string) {
	return func(c *call, v string) {
		if api := names[v]; api != "" {
			c.set("api", api)
		} else {
			c.note(otherwise, v)
		}
	}
}

func address(c *call, v string) {
	if !strings.Contains(v, "://") {
		v = "http://" + v
	}
	c.url = v
}

// key never repeats a secret.
func key(c *call, _ string) {
	c.note("--api-key: put the key into a variable and name it with --api-key-env NAME")
}

// limits are the objectives of a request: ttft:500 and the like, in ms.
func limits(names map[string]string) func(*call, string) {
	return func(c *call, v string) {
		for part := range strings.FieldsSeq(v) {
			name, limit, ok := strings.Cut(part, ":")
			ours := names[name]
			if !ok || ours == "" {
				c.note("--goodput %s: no equal here", part)
				continue
			}
			c.set("objective", ours+" < "+limit+"ms")
		}
	}
}

// lengths are a mean with a deviation, where there is one.
func lengths(c *call, flag, mean, deviation string) {
	switch {
	case mean == "":
	case deviation == "" || deviation == "0":
		c.set(flag, mean)
	default:
		c.set(flag, "normal:"+mean+","+deviation)
	}
}
