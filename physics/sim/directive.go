package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// directive is what one request asks of the simulator besides the API: in the
// header X-Sim, or in the prompt between [[sim and ]]. Example:
//
//	X-Sim: ttft=50ms itl=10ms tokens=100 fault=stall:after=5:for=3s
type directive struct {
	ttft, itl time.Duration // −1: as configured
	tokens    int           // −1: as configured
	cached    int           // prompt tokens counted as cached; −1: as configured
	faults    []Fault
}

// parse adds the directives of a text.
func (d *directive) parse(text string) error {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ';' || r == ',' }) {
		key, value, _ := strings.Cut(word, "=")
		var err error
		switch key {
		case "ttft":
			d.ttft, err = parseNonNegative(value)
		case "itl":
			d.itl, err = parseNonNegative(value)
		case "tokens":
			d.tokens, err = strconv.Atoi(value)
		case "cached":
			d.cached, err = strconv.Atoi(value)
		case "fault":
			var f Fault
			if f, err = ParseFault(value); err == nil && f.Rate > 0 {
				d.faults = append(d.faults, f)
			}
		default:
			err = fmt.Errorf("unknown directive %q: ttft, itl, tokens, cached or fault", key)
		}
		if err != nil {
			return fmt.Errorf("sim: directive %q: %w", word, err)
		}
	}
	return nil
}

func parseNonNegative(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err == nil && (d < 0 || d > longest) {
		err = fmt.Errorf("%v is not between 0 and %v", d, longest)
	}
	return d, err
}

// promptDirective returns the text between [[sim and ]] of a prompt.
func promptDirective(prompt string) string {
	_, rest, ok := strings.Cut(prompt, "[[sim ")
	if !ok {
		return ""
	}
	text, _, ok := strings.Cut(rest, "]]")
	if !ok {
		return ""
	}
	return text
}
