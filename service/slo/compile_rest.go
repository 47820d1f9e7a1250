package slo

import (
	"fmt"
	"slices"
	"time"
)

func (c *compiler) corrections(all []*Objective) {
	for i, s := range c.spec.Corrections {
		path := fmt.Sprintf("corrections[%d]", i)
		h := Correction{Reason: s.Reason, Sources: c.sources(s.Sources, path)}
		if s.From == "" || s.To == "" || s.Reason == "" {
			c.fail(path, "a correction has from, to and reason")
		}
		var okFrom, okTo bool
		h.From, okFrom = c.moment(s.From, path+".from")
		h.To, okTo = c.moment(s.To, path+".to")
		if okFrom && okTo && !h.To.After(h.From) {
			c.fail(path+".to", "it ends before it begins")
		}
		for j, name := range s.Objectives {
			if !slices.ContainsFunc(all, func(o *Objective) bool { return o.Name == name }) {
				c.fail(fmt.Sprintf("%s.objectives[%d]", path, j), "no objective is called %q", name)
			}
		}
		for _, o := range all {
			if len(s.Objectives) == 0 || slices.Contains(s.Objectives, o.Name) {
				o.Holes = append(o.Holes, h)
			}
		}
	}
}

func (c *compiler) moment(text, path string) (time.Time, bool) {
	if text == "" {
		return time.Time{}, false
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02"} {
		t, err := time.ParseInLocation(layout, text, c.zone)
		if err != nil {
			continue
		}
		if why := c.skippedOrTwice(t, layout, text); why != "" {
			c.fail(path, "%q %s in %s; write its offset too, like 2026-03-29T02:30:00+01:00", text, why, c.zone)
			return t, false
		}
		return t, true
	}
	c.fail(path, "%q is no time; write 2026-03-01T02:00:00+01:00 or 2026-03-01 02:00", text)
	return time.Time{}, false
}

// skippedOrTwice says what is wrong with a time of the day on which clocks are
// put forward or back.
func (c *compiler) skippedOrTwice(t time.Time, layout, text string) string {
	if layout == time.RFC3339 || layout == time.DateOnly {
		return "" // a day begins with its first moment
	}
	if t.Format(layout) != text {
		return "does not exist"
	}
	for _, by := range []time.Duration{-time.Hour, -30 * time.Minute, 30 * time.Minute, time.Hour} {
		if t.Add(by).Format(layout) == text {
			return "is there twice"
		}
	}
	return ""
}

func (c *compiler) notify() {
	for i, n := range c.spec.Notify {
		path := fmt.Sprintf("notify[%d]", i)
		given := 0
		for _, address := range []string{n.Alertmanager, n.Webhook, n.Slack, n.SlackEnv, n.Datadog} {
			if address != "" {
				given++
			}
		}
		if given != 1 {
			c.fail(path, "give exactly one of alertmanager, webhook, slack, slack_env and datadog")
		}
		if n.Datadog != "" && n.KeyEnv == "" {
			c.fail(path+".datadog", "it needs key_env, the environment variable with the API key")
		}
		for j, s := range n.Severities {
			if s != string(Page) && s != string(Ticket) {
				c.fail(fmt.Sprintf("%s.severities[%d]", path, j), "%q: choose page or ticket", s)
			}
		}
	}
}
