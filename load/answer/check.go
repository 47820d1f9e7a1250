// Package answer says whether an answer is right, where the right answer is
// known: quality beside speed. A server that answers faster because it answers
// worse is no faster.
package answer

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"tokenmeter/base/pattern"
)

// Spec is what a user writes: what must hold of an answer. What is given must
// hold together; an empty one checks nothing.
type Spec struct {
	Exact    string  `yaml:"exact" json:"exact,omitempty" doc:"the answer is this text; case, white space and a full stop at the end do not matter"`
	Contains string  `yaml:"contains" json:"contains,omitempty" doc:"the answer holds this text; case and white space do not matter"`
	Regex    string  `yaml:"regex" json:"regex,omitempty" doc:"the answer matches this regular expression (RE2) somewhere"`
	Number   *Number `yaml:"number" json:"number,omitempty" doc:"the last number of the answer is this one"`
	JSON     any     `yaml:"json_schema" json:"json_schema,omitempty" doc:"the answer is a JSON text, alone or in a code block, that this JSON Schema describes"`
	Judge    *Judge  `yaml:"judge" json:"judge,omitempty" doc:"another model says whether the answer is right"`
}

// Number is an expected number.
type Number struct {
	Value     float64 `yaml:"value" json:"value" doc:"the expected number" required:"true"`
	Tolerance float64 `yaml:"tolerance" json:"tolerance,omitempty" doc:"how far the answer may be from it; default: equal to 9 digits"`
}

// Check is a compiled Spec. Safe for concurrent use.
type Check struct {
	tests []func(answer string) bool
	text  string
	judge *Judge // compiled; nil: nobody is asked
}

// Compile reads a specification; nil for one that checks nothing.
func Compile(s Spec) (*Check, error) {
	c := &Check{}
	var errs []error
	add := func(kind, text string, err error, test func(string) bool) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", kind, err))
			return
		}
		c.tests = append(c.tests, test)
		c.text += strings.TrimSpace(" " + kind + " " + text)
	}
	if s.Exact != "" {
		want := plain(s.Exact)
		add("exact", s.Exact, nil, func(a string) bool { return plain(a) == want })
	}
	if s.Contains != "" {
		want := fold(s.Contains)
		add("contains", s.Contains, nil, func(a string) bool { return strings.Contains(fold(a), want) })
	}
	if s.Regex != "" {
		re, err := regexp.Compile(s.Regex)
		add("regex", s.Regex, err, func(a string) bool { return re.MatchString(a) })
	}
	if n := s.Number; n != nil {
		var err error
		if math.IsNaN(n.Value) || math.IsInf(n.Value, 0) || !(n.Tolerance >= 0) {
			err = errors.New("want a finite value and a tolerance of at least 0")
		}
		add("number", strconv.FormatFloat(n.Value, 'g', -1, 64), err, n.holds)
	}
	if s.JSON != nil {
		schema, err := compileSchema(s.JSON)
		add("json_schema", "", err, func(a string) bool { return schema.holds(a) })
	}
	if s.Judge != nil {
		judge, err := s.Judge.compile()
		if err != nil {
			errs = append(errs, fmt.Errorf("judge: %w", err))
		}
		c.judge = judge
	}
	if err := errors.Join(errs...); err != nil || len(c.tests) == 0 && c.judge == nil {
		return nil, err
	}
	return c, nil
}

// Passes reports whether an answer is right, as far as that can be told without
// a judge. A nil check has nothing against it.
func (c *Check) Passes(answer string) bool {
	if c == nil {
		return true
	}
	return !slices.ContainsFunc(c.tests, func(passes func(string) bool) bool { return !passes(answer) })
}

// String names the tests.
func (c *Check) String() string {
	if c == nil {
		return ""
	}
	return c.text
}

// fold makes texts that differ in case and white space equal.
func fold(s string) string {
	return strings.ToLower(strings.Join(strings.Fields(s), " "))
}

// plain is fold without quotes around and a full stop behind.
func plain(s string) string {
	s = strings.TrimRight(fold(s), ".!")
	return strings.Trim(s, "\"'`*“”„‘’ ")
}

// number finds numbers as people and models write them: a sign, thousands
// separated by commas, decimals, an exponent.
var number = pattern.Lazy(`[-−+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?|[-−+]?\.\d+`)

// last is the last number of a text. A sign counts only where it does not
// follow a letter, a digit or a closing bracket ("x-4", "3-1").
func last(s string) (float64, bool) {
	all := number().FindAllStringIndex(s, -1)
	for i := len(all) - 1; i >= 0; i-- {
		text := s[all[i][0]:all[i][1]]
		if before := []rune(s[:all[i][0]]); len(before) > 0 && (text[0] == '-' || text[0] == '+' || strings.HasPrefix(text, "−")) {
			if r := before[len(before)-1]; unicode.IsLetter(r) || unicode.IsDigit(r) || r == ')' || r == ']' {
				text = strings.TrimLeft(text, "-−+")
			}
		}
		text = strings.ReplaceAll(strings.ReplaceAll(text, ",", ""), "−", "-")
		if x, err := strconv.ParseFloat(text, 64); err == nil {
			return x, true
		}
	}
	return 0, false
}

func (n *Number) holds(answer string) bool {
	x, ok := last(answer)
	tolerance := cmp.Or(n.Tolerance, 1e-9*max(math.Abs(n.Value), 1))
	return ok && math.Abs(x-n.Value) <= tolerance
}

// jsonOf is the JSON text of an answer: the whole, or the last code block.
func jsonOf(answer string) (any, bool) {
	candidates := []string{strings.TrimSpace(answer)}
	if parts := strings.Split(answer, "```"); len(parts) >= 3 {
		block := parts[len(parts)-2]
		if first, rest, ok := strings.Cut(block, "\n"); ok && !strings.ContainsAny(first, "{[\"") {
			block = rest
		}
		candidates = append(candidates, block)
	}
	for _, c := range candidates {
		if v, ok := decodeAnswer(c); ok {
			return v, true
		}
	}
	return nil, false
}
