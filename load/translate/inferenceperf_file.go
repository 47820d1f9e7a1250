package translate

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// inferencePerfFile reads the file that the command line names: its keys, with dots
// between them, are what the tool's own flags are called, and what stands on the command
// line goes before it (config.py, read_config). The error says what can't be read.
func inferencePerfFile(t *tool, c *call, args []string) ([]string, error) {
	path, rest, err := namedFile(args, "-c", "--config_file", "--config-file")
	if path == "" || err != nil {
		return args, err
	}
	doc, err := readConfiguration(path, "a configuration of inference-perf is one object: api, data, load, server")
	if err != nil {
		return nil, err
	}
	keys := fileKeys{tool: t, call: c}
	keys.add("", doc)
	if len(keys.quiet) > 0 {
		c.note("these change no load and need no flag here: %s", strings.Join(keys.quiet, ", "))
	}
	return behindFile(keys.args, rest, func(arg string) bool { return strings.HasSuffix(arg, "}") }), nil
}

// flagName is the name in an argument, as the tables have it.
func flagName(arg string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	return strings.ReplaceAll(strings.ToLower(name), "_", "-")
}

// fileKeys are the keys of a file: as flags, or named.
type fileKeys struct {
	tool  *tool
	call  *call
	args  []string
	quiet []string
}

// add goes into an object while one of the tool's flags lies deeper. What has no value is
// as if it wasn't there.
func (k *fileKeys) add(name string, v any) {
	if object, ok := v.(map[string]any); ok && k.deeper(name) {
		for _, key := range slices.Sorted(maps.Keys(object)) {
			k.add(strings.TrimPrefix(name+"."+strings.ReplaceAll(strings.ToLower(key), "_", "-"), "."), object[key])
		}
		return
	}
	f, _ := k.call.flag(name)
	switch {
	case v == nil:
	case f.quiet && k.tool.flags[name] == nil:
		k.quiet = append(k.quiet, name)
	default:
		k.args = append(k.args, "--"+name+"="+valueText(v))
	}
}

func (k *fileKeys) deeper(name string) bool {
	for known := range k.call.known {
		if name == "" || strings.HasPrefix(known, name+".") && known != name+"." {
			return true
		}
	}
	f, _ := k.call.flag(name + ".")
	_, whole := k.call.known[name]
	return !whole && f.quiet
}

// valueText is a value as the tool's command line takes it.
func valueText(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	data, err := json.Marshal(v)
	if err != nil { // of no value that YAML has but .inf and .nan
		return fmt.Sprint(v)
	}
	return string(data)
}

// expression is a length that the tool takes as one of SymPy: a number, or Normal, Uniform,
// LogNormal or Exponential, within Min and Max; false where it is another.
func expression(text string) (ours string, ok bool) {
	if text = strings.TrimSpace(text); len(text) > 200 { // none that anybody writes
		return "", false
	}
	if x, ok := quotient(text); ok {
		return fmt.Sprintf("%.0f", x), true
	}
	name, inside, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	a, b, two := cutArgument(inside)
	if bound := map[string]string{"Min": ",max=", "Max": ",min="}[name]; bound != "" && two {
		if _, isNumber := quotient(b); isNumber {
			a, b = b, a
		}
		_, isNumber := quotient(a)
		inner, ok := expression(b)
		return strings.TrimSuffix(inner, ",clip") + bound + a + ",clip", ok && isNumber && strings.Contains(inner, ":") && !strings.HasPrefix(inner, "uniform")
	}
	x, okX := quotient(a)
	y, okY := quotient(b)
	switch {
	case !okX || two != okY:
	case name == "Normal" && two:
		return fmt.Sprintf("normal:%g,%g", x, y), true
	case name == "Uniform" && two:
		return fmt.Sprintf("uniform:%g,%g", x, y), true
	case name == "LogNormal" && two: // of the logarithm; ours of the lengths
		mean := math.Exp(x + y*y/2)
		return fmt.Sprintf("lognormal:%.4g,%.4g", mean, mean*math.Sqrt(math.Expm1(y*y))), true
	case name == "Exponential" && !two && x > 0:
		return fmt.Sprintf("exponential:%.4g", 1/x), true
	}
	return "", false
}

// cutArgument parts two arguments at the comma that no parenthesis holds.
func cutArgument(text string) (a, b string, two bool) {
	depth := 0
	for i, r := range text {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				return strings.TrimSpace(text[:i]), strings.TrimSpace(text[i+1:]), true
			}
		}
	}
	return strings.TrimSpace(text), "", false
}

// quotient is a number, or one over another.
func quotient(text string) (x float64, ok bool) {
	over, under, divided := strings.Cut(text, "/")
	x, err := strconv.ParseFloat(strings.TrimSpace(over), 64)
	if divided {
		y, errY := strconv.ParseFloat(strings.TrimSpace(under), 64)
		if errY != nil || y == 0 {
			return 0, false
		}
		x /= y
	}
	return x, err == nil
}

// expression sets a side's lengths by one.
func (c *call) expression(side, text string) {
	ours, ok := expression(text)
	if !ok {
		c.note("--data.%s_distribution %s: no equal here", side, text)
		return
	}
	c.set(side+"-tokens", ours)
}
