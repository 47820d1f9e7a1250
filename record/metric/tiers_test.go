package metric

import (
	"fmt"
	"strings"
	"testing"
)

// Requests that were served in different classes are a mixture; in one class, or
// with nothing told, there is no word of it.
func TestServiceTiersAreTold(t *testing.T) {
	for _, c := range []struct {
		tiers []string
		says  string // part of the warning; empty: none
	}{
		{[]string{"", ""}, ""},
		{[]string{"flex", "flex"}, ""},
		{[]string{"priority", "default", "priority"}, `1 as "default", 2 as "priority"`},
	} {
		c1, c2 := NewCollector(CollectorOpts{}), NewCollector(CollectorOpts{})
		for i, tier := range c.tiers {
			tl := made{request: int64(i), events: 3, gap: 10}.timeline()
			tl.ServiceTier = tier
			if i%2 == 0 {
				c1.Add(tl)
			} else {
				c2.Add(tl)
			}
		}
		c1.Merge(c2)
		s := c1.Summary()
		says := ""
		for _, w := range s.Warnings {
			if w.Name == "service_tiers" {
				says = w.Says
			}
		}
		if (says == "") != (c.says == "") || !strings.Contains(says, c.says) {
			t.Errorf("%q: %q, want %q", c.tiers, says, c.says)
		}
	}
	many := map[string]int64{}
	for i := range 1000 {
		CountName(many, fmt.Sprint(i))
	}
	if len(many) > 17 || many["others"] != 984 {
		t.Errorf("%d classes, %d others", len(many), many["others"])
	}
}

// A request whose class nobody named is in no class, however many there are.
func TestCountName(t *testing.T) {
	tiers := map[string]int64{}
	for i := range 20 {
		CountName(tiers, fmt.Sprint(i))
		CountName(tiers, "")
	}
	if tiers["others"] != 4 || tiers[""] != 0 || len(tiers) != 17 {
		t.Errorf("%v", tiers)
	}
}
