package slo

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The files in testdata/table are scripts: they load counts, let time pass and
// say what must come out.
//
//	yaml … end              the objectives, as in a file
//	refused TEXT            the yaml before is refused with this text in the error
//	start TIME              where time begins
//	load NAME SRC G/V[/X] [group=G] every STEP for D   counts at each step while time passes
//	once NAME SRC G/V[/X] [group=G]                    counts now
//	slices NAME SRC OVER/UNDER every STEP for D        sums for the slices of NAME
//	idle D                  time passes, the sources are watched and nothing happens
//	silence D               time passes and nobody watches
//	expect NAME SRC [group=G] KEY=VALUE…
func TestTables(t *testing.T) {
	files, _ := filepath.Glob("testdata/table/*.slo")
	if len(files) == 0 {
		t.Fatal("no tables")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".slo"), func(t *testing.T) {
			data, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer data.Close()
			s := script{t: t, memory: &Memory{}}
			lines := bufio.NewScanner(data)
			for lines.Scan() {
				s.line++
				s.do(lines.Text())
			}
			if s.expected == 0 {
				t.Error("the table expects nothing")
			}
		})
	}
}

type script struct {
	t          *testing.T
	line       int
	yaml       []string
	inYAML     bool
	objectives []*Objective
	err        error
	memory     *Memory
	slicers    map[string]*Slicer
	begun, now time.Time
	expected   int
}

func (s *script) fail(format string, args ...any) {
	s.t.Helper()
	s.t.Errorf("line %d: %s", s.line, fmt.Sprintf(format, args...))
}

func (s *script) do(line string) {
	switch {
	case strings.TrimSpace(line) == "end":
		s.inYAML = false
		s.objectives, _, s.err = Load("table.yaml", []byte(strings.Join(s.yaml, "\n")))
		return
	case s.inYAML:
		s.yaml = append(s.yaml, line)
		return
	}
	if s.err != nil && !strings.HasPrefix(line, "refused") && !strings.HasPrefix(line, "yaml") && strings.TrimSpace(line) != "" && line[0] != '#' {
		s.t.Fatalf("line %d: %v", s.line, s.err)
	}
	words := strings.Fields(line)
	if len(words) == 0 || words[0][0] == '#' {
		return
	}
	switch words[0] {
	case "yaml":
		s.inYAML, s.yaml, s.memory, s.slicers = true, nil, &Memory{}, map[string]*Slicer{}
	case "refused":
		want := strings.TrimSpace(strings.TrimPrefix(line, "refused"))
		s.expected++
		if s.err == nil || !strings.Contains(s.err.Error(), want) {
			s.fail("got the error %v, want %q", s.err, want)
		}
	case "start":
		begun, err := time.Parse(time.RFC3339, words[1])
		if err != nil {
			s.t.Fatal(err)
		}
		s.begun, s.now = begun, begun
		for _, o := range s.objectives {
			if o.Kind == Slices {
				s.slicers[o.Name] = NewSlicer(o, Live, begun)
			}
		}
	case "idle", "silence":
		d := s.duration(words[1])
		if words[0] == "idle" {
			s.watch(d)
		}
		s.now = s.now.Add(d)
		s.close()
	case "once":
		s.memory.Add(Key{s.find(words[1]).Hash, Source(words[2]), group(words[4:])}, s.now.Add(-time.Second), 0, s.counts(words[3]))
	case "load", "slices":
		s.load(words)
	case "expect":
		s.expect(words)
	default:
		s.t.Fatalf("line %d: unknown word %q", s.line, words[0])
	}
}

func group(words []string) string {
	for _, w := range words {
		if g, ok := strings.CutPrefix(w, "group="); ok {
			return g
		}
	}
	return ""
}

func (s *script) watch(d time.Duration) {
	for _, source := range Sources() {
		s.memory.Watch(source, s.now, s.now.Add(d))
	}
}

func (s *script) close() {
	for _, slicer := range s.slicers {
		for _, i := range slicer.Close(s.now) {
			s.memory.Add(i.Key, i.At, 0, i.Counts)
		}
	}
}

func (s *script) find(name string) *Objective {
	i := slices.IndexFunc(s.objectives, func(o *Objective) bool { return o.Name == name })
	if i < 0 {
		s.t.Fatalf("line %d: no objective %q", s.line, name)
	}
	return s.objectives[i]
}

func (s *script) duration(text string) time.Duration {
	var d Duration
	if err := d.UnmarshalText([]byte(text)); err != nil {
		s.t.Fatalf("line %d: %v", s.line, err)
	}
	return time.Duration(d)
}

func (s *script) counts(text string) Counts {
	var n [3]int64
	for i, part := range strings.Split(text, "/") {
		n[i], _ = strconv.ParseInt(part, 10, 64)
	}
	return Counts{Good: n[0], Valid: n[1], Excluded: n[2]}
}

func (s *script) count(o *Objective, source Source, c Counts, group string) {
	s.memory.Add(Key{o.Hash, source, group}, s.now, 0, c)
}

func (s *script) load(words []string) {
	o, source := s.find(words[1]), Source(words[2])
	step, length := s.duration(words[len(words)-3]), s.duration(words[len(words)-1])
	for end := s.now.Add(length); s.now.Before(end); s.now = s.now.Add(step) {
		if words[0] == "load" {
			s.count(o, source, s.counts(words[3]), group(words))
		} else {
			over, under, _ := strings.Cut(words[3], "/")
			x, _ := strconv.ParseFloat(over, 64)
			y, _ := strconv.ParseFloat(under, 64)
			s.slicers[o.Name].Add("", s.now, x, y)
		}
		s.watch(step)
		s.close()
	}
	s.close()
}

var pairForm = regexp.MustCompile(`^([a-z_]+)(?:\[([^\]]+)\])?=(.*)$`)

func (s *script) expect(words []string) {
	s.expected++
	o, source := s.find(words[1]), Source(words[2])
	var groups []string
	if len(o.By) > 0 {
		groups = s.memory.Groups(o.Hash, source)
	}
	if g := group(words); g != "" {
		groups = []string{g}
	}
	r := o.Evaluate(s.memory, source, groups, s.now)
	for _, word := range words[3:] {
		m := pairForm.FindStringSubmatch(word)
		if m == nil {
			s.t.Fatalf("line %d: %q is no key=value", s.line, word)
		}
		if m[1] == "group" {
			continue
		}
		got, want := s.value(&r, m[1], m[2]), m[3]
		if x, err := strconv.ParseFloat(want, 64); err == nil {
			if y, ok := got.(opt); ok {
				v, measured := y.Get()
				if !measured || math.Abs(v-x) > 1e-9*math.Max(1, math.Abs(x)) {
					s.fail("%s is %v, want %s (%+v)", word[:len(word)-len(want)-1], y.Ptr(), want, r.Counts)
				}
				continue
			}
		}
		if y, ok := got.(opt); ok {
			if want != "null" || y.OK() {
				s.fail("%s is %v, want %s", m[1], y, want)
			}
			continue
		}
		if fmt.Sprint(got) != want {
			s.fail("%s is %v, want %s: %s", word[:len(word)-len(want)-1], got, want, r.Says)
		}
	}
}

func (s *script) value(r *Result, key, index string) any {
	switch key {
	case "good":
		return r.Good
	case "valid":
		return r.Valid
	case "excluded":
		return r.Excluded
	case "cut":
		return r.Corrected.Valid
	case "sli":
		return r.SLI
	case "raw_sli":
		return r.RawSLI
	case "left":
		return r.BudgetRemaining
	case "spent":
		return r.BudgetConsumed
	case "budget":
		return r.BudgetEvents
	case "method":
		return r.BudgetMethod
	case "burn":
		return r.Burn[index]
	case "exhaustion":
		return r.ExhaustionS
	case "watched":
		return r.Watched
	case "state":
		return string(r.State)
	case "flag":
		return slices.Contains(r.Flags, index)
	case "alerts":
		return len(r.Alerts)
	case "alert":
		for _, a := range r.Alerts {
			if a.Name == index {
				switch {
				case a.Firing:
					return "firing"
				case a.Frozen:
					return "frozen"
				}
				return a.Reason
			}
		}
		return "unknown"
	}
	s.t.Fatalf("line %d: unknown key %q", s.line, key)
	return nil
}
