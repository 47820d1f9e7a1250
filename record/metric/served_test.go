package metric

import (
	"strings"
	"testing"
)

// Several models that answer for one are a mixture; a load that asks for several models
// is none, and neither is a name that a server gives to all (an alias and its date).
func TestServedModelsAreTold(t *testing.T) {
	for _, c := range []struct {
		requests [][2]string // asked, served
		says     string      // part of the warning; empty: none
	}{
		{[][2]string{{"a", ""}, {"a", ""}}, ""},
		{[][2]string{{"a", "a"}, {"a", ""}, {"a", "a"}}, ""},
		{[][2]string{{"a", "a-2025"}, {"a", "a-2025"}}, ""},
		{[][2]string{{"a", "a"}, {"b", "b"}, {"a", "a"}}, ""},
		{[][2]string{{"a", "a"}, {"a", "b"}, {"a", "a"}}, `2 as "a", 1 as "b"`},
		{[][2]string{{"router", "a"}, {"x", "x"}, {"router", "b"}}, `1 as "a", 1 as "b". They`},
	} {
		c1, c2 := NewCollector(CollectorOpts{}), NewCollector(CollectorOpts{})
		for i, r := range c.requests {
			tl := made{request: int64(i), events: 3, gap: 10}.timeline()
			tl.Model, tl.ServedModel = r[0], r[1]
			if i%2 == 0 {
				c1.Add(tl)
			} else {
				c2.Add(tl)
			}
		}
		c1.Merge(c2)
		says := ""
		for _, w := range c1.Summary().Warnings {
			if w.Name == "served_models" {
				says = w.Says
			}
		}
		if (says == "") != (c.says == "") || !strings.Contains(says, c.says) {
			t.Errorf("%q: %q, want %q", c.requests, says, c.says)
		}
	}
}

// The memory is bounded whatever is asked for.
func TestServedModelsAreBounded(t *testing.T) {
	s := served{}
	for i := range 1000 {
		s.add(strings.Repeat("a", i), "b")
	}
	if len(s) > 16 || len(s.mixed()) > 0 {
		t.Errorf("%d, mixed: %v", len(s), s.mixed())
	}
}
