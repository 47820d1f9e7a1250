package workload

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"tokenmeter/base/limitio"
	"tokenmeter/base/random"
	"tokenmeter/record/timeline"
)

// Shape is a joint distribution of the lengths of a request: tokens in, tokens
// to ask for.
type Shape struct {
	text   string
	parts  []shapePart
	choose choice
	pairs  [][2]int64 // measured ones; nil: parts
}

type shapePart struct {
	input, output Lengths // an empty output: the server's choice
}

// ParseShape reads the distributions of input and output. The input may hold
// both: "40%:512/128,60%:4096/512", or a measured list, "file:lengths.csv",
// with one length or a pair in each line. open opens such a file; nil: none can
// be read.
func ParseShape(input, output string, open func(name string) (io.ReadCloser, error)) (Shape, error) {
	input, output = strings.TrimSpace(input), strings.TrimSpace(output)
	s := Shape{text: input}
	if name, ok := strings.CutPrefix(input, "file:"); ok {
		return s.measured(name, output, open)
	}
	pieces, err := parseMix(input)
	if err != nil {
		return s, fmt.Errorf("lengths %q: %w", input, err)
	}
	if pieces == nil {
		pieces = []mixPiece{{100, input}}
	}
	var shares []float64
	joint := 0
	for _, p := range pieces {
		in, out, both := strings.Cut(p.text, "/")
		if !both {
			out = output
		} else {
			joint++
		}
		part := shapePart{}
		if part.input, err = ParseLengths(in); err == nil && out != "" {
			part.output, err = ParseLengths(out)
		}
		if err != nil {
			return s, err
		}
		s.parts, shares = append(s.parts, part), append(shares, p.share)
	}
	if joint > 0 && output != "" {
		return s, fmt.Errorf("lengths %q hold the output's already; leave %q out", input, output)
	}
	s.choose = newChoice(shares)
	return s, nil
}

// measured reads a list of lengths.
func (s Shape) measured(name, output string, open func(string) (io.ReadCloser, error)) (Shape, error) {
	if open == nil {
		return s, errors.New("lengths from a file are not possible here")
	}
	f, err := open(name)
	if err != nil {
		return s, err
	}
	defer f.Close()
	var two bool
	if s.pairs, two, err = readPairs(f, name); err != nil {
		return s, err
	}
	if two && output != "" {
		return s, fmt.Errorf("%s holds output lengths already; leave %q out", name, output)
	}
	part := shapePart{}
	if output != "" {
		if part.output, err = ParseLengths(output); err != nil {
			return s, err
		}
	}
	s.parts = []shapePart{part}
	return s, nil
}

// OpenLengths opens a file of lengths on this machine, for ParseShape.
func OpenLengths(name string) (io.ReadCloser, error) { return limitio.Open(name) }

// readPairs reads lines of one or two whole numbers, separated by a comma, a
// tab or spaces. A first line of words is a heading.
func readPairs(r io.Reader, name string) (pairs [][2]int64, two bool, err error) {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		fields := strings.FieldsFunc(lines.Text(), func(r rune) bool { return r == ',' || r == ';' || r == '\t' || r == ' ' || r == '\r' })
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		var pair [2]int64
		for i, f := range fields {
			x, convErr := strconv.ParseInt(f, 10, 64)
			switch {
			case convErr != nil && len(pairs) == 0 && n == 1:
				pair[0] = -1 // a heading
			case convErr != nil || i > 1:
				return nil, false, fmt.Errorf("%s:%d: %q is not one or two whole numbers", name, n, lines.Text())
			case x < 1 || x > MaxTokens:
				return nil, false, fmt.Errorf("%s:%d: a length of %d; want 1 to %d", name, n, x, MaxTokens)
			default:
				pair[i] = x
			}
		}
		if pair[0] < 0 {
			continue
		}
		if len(pairs) > 0 && two != (len(fields) == 2) {
			return nil, false, fmt.Errorf("%s:%d: %d numbers, where the lines before have %d", name, n, len(fields), len(fields)%2+1)
		}
		two = len(fields) == 2
		pairs = append(pairs, pair)
	}
	if err := lines.Err(); err != nil {
		return nil, false, fmt.Errorf("%s: %w", name, err)
	}
	if len(pairs) == 0 {
		return nil, false, fmt.Errorf("%s: no lengths in the file; want a number, or two, in each line", name)
	}
	return pairs, two, nil
}

// String returns the input part as it was written.
func (s Shape) String() string { return s.text }

// Output returns the distribution of output lengths in words; empty where it is
// part of the input's, or there is none.
func (s Shape) Output() string {
	if len(s.parts) == 1 {
		return s.parts[0].output.String()
	}
	return ""
}

// Draw returns the lengths of request i. Input and output have streams of
// random numbers of their own, so that changing one keeps the other.
func (s Shape) Draw(seed uint64, i int64) (input int64, output timeline.Opt[int64]) {
	part := &s.parts[0]
	if s.pairs != nil {
		src := random.New(seed, shapeKey, uint64(i))
		pair := s.pairs[src.Between(0, int64(len(s.pairs)-1))]
		if input = pair[0]; pair[1] > 0 {
			return input, timeline.Some(pair[1])
		}
		return input, outputLength(part.output, seed, i)
	}
	if len(s.parts) > 1 {
		src := random.New(seed, shapeKey, uint64(i))
		part = &s.parts[s.choose.draw(&src)]
	}
	src := random.New(seed, inputKey, uint64(i))
	return part.input.Draw(&src), outputLength(part.output, seed, i)
}

// Fixed returns the input length when it is always the same.
func (s Shape) Fixed() (int64, bool) {
	if s.pairs != nil || len(s.parts) != 1 {
		return 0, false
	}
	return s.parts[0].input.Fixed()
}

func outputLength(l Lengths, seed uint64, i int64) timeline.Opt[int64] {
	if l.IsZero() {
		return timeline.Opt[int64]{}
	}
	src := random.New(seed, outputKey, uint64(i))
	return timeline.Some(l.Draw(&src))
}

const shapeKey = 0x7368617065
