package slo

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tokenmeter/config"
	"tokenmeter/objective"
)

// DefaultWindow is the window of objectives that name none.
const DefaultWindow = 28 * 24 * time.Hour

// Dimensions are what objectives can be restricted to or judged by. Their
// values come from the configuration, so they are few.
func Dimensions() []string { return []string{"api", "listener", "model", "route", "upstream"} }

// Load reads a file of objectives. A file with a top-level `slo:`, such as
// tokenmeter.yaml, is read from there and its other parts are left alone. The
// error has everything that is wrong, a line each.
func Load(name string, data []byte) ([]*Objective, *Spec, error) {
	var whole struct {
		SLO *Spec `yaml:"slo"`
	}
	var doc *config.Document
	at, spec := "", &Spec{}
	if part, ok := section(data); ok {
		doc, at = config.Decode(name, part, &whole), "slo"
		if whole.SLO != nil {
			spec = whole.SLO
		}
	} else if daemonForm.Match(data) {
		return nil, spec, fmt.Errorf("%s: there is no slo: part in this file of tokenmeter serve; objectives with budgets stand there (docs/slo.md), the objectives: beside it are only counted", name)
	} else {
		doc = config.Decode(name, data, spec)
	}
	objectives := Compile(spec, doc, at)
	return objectives, spec, doc.Err()
}

// daemonForm tells a configuration of the daemon from a file of objectives.
var daemonForm = regexp.MustCompile(`(?m)^["']?(listeners|upstreams)["']?\s*:`)

var sectionForm = regexp.MustCompile(`^["']?slo["']?\s*:`)

// section blanks every line outside the top-level slo, so that places stay.
func section(data []byte) ([]byte, bool) {
	lines := strings.SplitAfter(string(data), "\n")
	inside, found := false, false
	for i, line := range lines {
		if bare := strings.TrimPrefix(line, "\ufeff"); bare != "" && !strings.ContainsAny(bare[:1], " \t#\r\n-") {
			inside = sectionForm.MatchString(bare)
			found = found || inside
		}
		if !inside && strings.HasSuffix(line, "\n") {
			lines[i] = "\n"
		} else if !inside {
			lines[i] = ""
		}
	}
	return []byte(strings.Join(lines, "")), found
}

// Compile turns a specification into objectives. What is wrong is added to the
// document, at the place where the specification stands in it ("slo", or "" for
// a file of its own).
func Compile(spec *Spec, doc *config.Document, at string) []*Objective {
	c := compiler{spec: spec, doc: doc, at: at, zone: time.UTC}
	if spec.Timezone != "" {
		zone, err := time.LoadLocation(spec.Timezone)
		if err != nil || spec.Timezone == "Local" {
			c.fail("timezone", "%q is no time zone; write one like Europe/Berlin", spec.Timezone)
		} else {
			c.zone = zone
		}
	}
	if len(spec.Objectives) == 0 && (c.has("objectives") || at != "" || doc.Err() == nil) {
		c.fail("objectives", "there is no objective")
	}
	var all []*Objective
	names := map[string]bool{}
	for i := range spec.Objectives {
		path := fmt.Sprintf("objectives[%d]", i)
		o := c.objective(&spec.Objectives[i], path)
		if o.Name != "" && names[o.Name] {
			c.fail(path+".name", "there are two objectives called %q", o.Name)
		}
		names[o.Name] = true
		all = append(all, o)
	}
	c.corrections(all)
	c.notify()
	return all
}

type compiler struct {
	spec *Spec
	doc  *config.Document
	at   string
	zone *time.Location
}

func (c *compiler) path(p string) string {
	if c.at == "" {
		return p
	}
	return c.at + "." + p
}

func (c *compiler) fail(path, format string, args ...any) {
	c.doc.Addf(c.path(path), format, args...)
}

func (c *compiler) has(path string) bool { return c.doc.Has(c.path(path)) }

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

func (c *compiler) objective(s *ObjectiveSpec, path string) *Objective {
	o := &Objective{Name: s.Name, About: s.About, Slice: time.Duration(s.Slice), Idle: s.Idle, StaleAfter: 10 * time.Minute}
	if s.Name != "" && !nameForm.MatchString(s.Name) {
		c.fail(path+".name", "%q is no name; use small letters, digits, dots, dashes and underscores", s.Name)
	}
	if s.StaleAfter > 0 {
		o.StaleAfter = time.Duration(s.StaleAfter)
	}
	if o.Idle == "" {
		o.Idle = "exclude"
	}
	c.window(s, o, path)
	c.population(s, o, path)
	switch {
	case s.Name == "" && s.Objective == "" && s.About == "":
		c.fail(path, "there is nothing in it; an objective has a name and an objective")
	case s.Name == "" && c.has(path+".name"):
		c.fail(path+".name", "the name is empty")
	}
	if s.Objective == "" {
		if c.has(path + ".objective") {
			c.fail(path+".objective", "the objective is empty; write one like p99 tpot < 120ms")
		}
		return o
	}
	if !c.promise(s, o, path) {
		return o
	}
	o.Budget = decimal(1 - o.Target)
	o.MinEvents = s.MinEvents
	switch {
	case s.MinEvents < 0:
		c.fail(path+".min_events", "it can't be negative")
	case s.MinEvents == 0:
		o.MinEvents = atLeast(o.Budget)
	}
	o.hash()
	c.alerts(s, o, path)
	return o
}

func (c *compiler) window(s *ObjectiveSpec, o *Objective, path string) {
	o.Window = Window{Rolling: DefaultWindow, Location: c.zone}
	switch {
	case s.Calendar != "" && s.Window > 0:
		c.fail(path+".window", "a window is rolling or of the calendar, not both; leave out one of the two")
	case s.Calendar != "":
		o.Window = Window{Calendar: Calendar(s.Calendar), Location: c.zone}
	case s.Window > 0:
		o.Window.Rolling = time.Duration(s.Window)
		if o.Window.Rolling < time.Hour {
			c.fail(path+".window", "it must be at least 1h")
		}
	}
}

func (c *compiler) population(s *ObjectiveSpec, o *Objective, path string) {
	o.Sources = c.sources(s.Sources, path)
	if len(o.Sources) == 0 {
		o.Sources = []Source{Live}
	}
	for i, by := range s.By {
		if !slices.Contains(Dimensions(), by) || slices.Contains(s.By[:i], by) {
			c.fail(fmt.Sprintf("%s.by[%d]", path, i), "%q: choose among %s, each once", by, strings.Join(Dimensions(), ", "))
		}
	}
	o.By, o.Where = s.By, s.Where
	for _, name := range slices.Sorted(maps.Keys(s.Where)) {
		if !slices.Contains(Dimensions(), name) {
			c.fail(path+".where."+name, "%q: choose among %s", name, strings.Join(Dimensions(), ", "))
		}
	}
}

func (c *compiler) sources(names []string, path string) []Source {
	var list []Source
	for i, name := range names {
		if !slices.Contains(Sources(), Source(name)) || slices.Contains(list, Source(name)) {
			c.fail(fmt.Sprintf("%s.sources[%d]", path, i), "%q: choose among live, probe and run, each once", name)
			continue
		}
		list = append(list, Source(name))
	}
	return list
}

var availabilityForm = regexp.MustCompile(`^(?i)\s*availability\s*(>=|>)\s*([0-9]*\.?[0-9]+)\s*%\s*$`)

// promise reads the objective's text, and what it makes of target and slice.
func (c *compiler) promise(s *ObjectiveSpec, o *Objective, path string) bool {
	if f, ok := parseFigure(s.Objective); ok {
		o.Figure = f
		return c.figure(s, o, path)
	}
	text := s.Objective
	if m := availabilityForm.FindStringSubmatch(text); m != nil {
		up, err := strconv.ParseFloat(m[2], 64)
		if err != nil || up > 100 {
			c.fail(path+".objective", "a share of more than 100 %%")
			return false
		}
		op := map[string]string{">": "<", ">=": "<="}[m[1]]
		text = "error rate " + op + " " + strconv.FormatFloat(decimal(100-up), 'f', -1, 64) + "%"
	}
	parsed, err := objective.ParseAll([]string{text})
	if err != nil {
		c.badText(err, path)
		return false
	}
	main := slices.IndexFunc(parsed, func(p objective.Objective) bool { return !p.Criterion })
	switch {
	case len(parsed) == 1 && main < 0: // ttft:500 alone is every request's limit
		main = 0
	case main < 0:
		parsed = append([]objective.Objective{{Metric: "goodput", Text: "goodput"}}, parsed...)
		main = 0
		if s.Target == nil {
			c.fail(path+".objective", "limits need a target: write goodput > 99%% before them, or add target")
			return false
		}
	}
	parsed[0], parsed[main] = parsed[main], parsed[0]
	p := parsed[0]
	if len(parsed) > 1 && p.Metric != "goodput" {
		c.fail(path+".objective", "one objective has one promise; make several objectives, or a goodput of several limits")
		return false
	}
	o.Promises, o.Text = parsed, s.textOf(parsed)
	if f, ok := figureOf(p); ok {
		o.Figure, o.Promises = f, nil
		return c.figure(s, o, path)
	}
	if !p.OfRequests() && p.Metric != "task_success" {
		c.fail(path+".objective", "%s has no error budget: it is no share of requests and no figure of a slice", p.Metric)
		return false
	}
	return c.target(s, o, p, path)
}

// textOf is the normalised text of a promise and its criteria.
func (s *ObjectiveSpec) textOf(parsed []objective.Objective) string {
	texts := make([]string, len(parsed))
	for i, p := range parsed {
		texts[i] = p.Text
	}
	return strings.Join(texts, " and ")
}

func (c *compiler) badText(err error, path string) {
	var list objective.Errors
	if errors.As(err, &list) {
		for _, e := range list {
			c.badText(e, path)
		}
		return
	}
	var e *objective.Error
	if errors.As(err, &e) {
		what := e.What
		if e.Hint != "" {
			what += "; " + e.Hint
		}
		c.fail(path+".objective", "%s", what)
		return
	}
	c.fail(path+".objective", "%v", err)
}

// target works out which share must be good.
func (c *compiler) target(s *ObjectiveSpec, o *Objective, p objective.Objective, path string) bool {
	promised, has := p.Target()
	if p.Stat == "mean" {
		c.fail(path+".objective", "a mean has no error budget; promise a percentile, like p95 %s %s …", p.Metric, p.Op)
		return false
	}
	promised = decimal(promised)
	has = has && p.Op != "" // limits without a promise get their target from elsewhere
	if p.Metric == "itl" || p.Metric == "icl" {
		o.Kind = Tokens
	} else {
		o.Kind = Events
	}
	if s.Slice > 0 {
		o.Kind, o.SliceShare = Slices, promised
		if !has {
			o.SliceShare = 1
		}
		if !c.sliced(s, path) {
			return false
		}
		has = false
	} else if s.Idle != "" {
		c.fail(path+".idle", "only slices can be idle; add slice, like slice: 1m")
	}
	o.Target = promised
	switch {
	case s.Target != nil && has && decimal(float64(*s.Target)) != promised && p.Stat != "max" && p.Stat != "min":
		c.fail(path+".target", "the objective says %s already; leave out target, or write the limit without %s", percent(promised), p.Stat)
		return false
	case s.Target != nil:
		o.Target = float64(*s.Target)
	case !has:
		c.fail(path+".objective", "which share must be good? Write a percentile, like p99 %s, or add target: 99%%", strings.TrimPrefix(o.Text, p.Stat+" "))
		return false
	}
	if o.Target >= 1 || o.Target <= 0 {
		where := path + ".target"
		if s.Target == nil {
			where = path + ".objective"
		}
		c.fail(where, "a target of %s has no error budget; promise more than 0 and less than 100 %%", percent(o.Target))
		return false
	}
	return true
}

func (c *compiler) figure(s *ObjectiveSpec, o *Objective, path string) bool {
	o.Kind, o.Text = Slices, o.Figure.text
	switch {
	case s.Slice == 0:
		c.fail(path+".objective", "%s is judged in slices of time: add slice, like slice: 1m, and target, like target: 99%%", o.Figure.Name)
		return false
	case s.Target == nil:
		c.fail(path+".slice", "which share of the slices must be good? Add target, like target: 99%%")
		return false
	case *s.Target <= 0 || *s.Target >= 1:
		c.fail(path+".target", "promise more than 0 and less than 100 %%")
		return false
	}
	o.Target = float64(*s.Target)
	return c.sliced(s, path)
}

// sliced checks the length of slices: they must fit the tiers of history.
func (c *compiler) sliced(s *ObjectiveSpec, path string) bool {
	d := time.Duration(s.Slice)
	if d < 10*time.Second || d > time.Hour || time.Hour%d != 0 || d%(10*time.Second) != 0 {
		c.fail(path+".slice", "%s: choose 10s, 30s, 1m, 5m, 10m, 15m, 30m or 1h", span(d))
		return false
	}
	return true
}

// hash names the counters that the objective reads.
func (o *Objective) hash() {
	text := o.Text
	if o.Kind != Slices && o.Promises[0].Stat != "" && o.Kind == Tokens {
		text += "\ngaps"
	}
	for _, name := range slices.Sorted(maps.Keys(o.Where)) {
		text += "\n" + name + "=" + o.Where[name]
	}
	if len(o.By) > 0 {
		text += "\nby " + strings.Join(o.By, ",")
	}
	o.Hash = Hash(text)
	if o.Kind == Slices {
		o.Raw = Hash(text + "\nraw")
		o.Hash = Hash(fmt.Sprintf("%s\nslices of %s, idle %s", text, o.Slice, o.Idle))
	}
}

func (c *compiler) alerts(s *ObjectiveSpec, o *Objective, path string) {
	if len(s.Alerts) == 0 {
		if !c.has(path + ".alerts") {
			o.Alerts, o.Notes = DefaultAlerts(o.Window, o.Budget)
		}
		return
	}
	for i := range s.Alerts {
		if a, ok := c.alert(&s.Alerts[i], o, fmt.Sprintf("%s.alerts[%d]", path, i)); ok {
			if slices.ContainsFunc(o.Alerts, func(b Alert) bool { return b.Name == a.Name }) {
				c.fail(fmt.Sprintf("%s.alerts[%d]", path, i), "there are two alerts called %q", a.Name)
			}
			o.Alerts = append(o.Alerts, a)
		}
	}
}

func (c *compiler) alert(s *AlertSpec, o *Objective, path string) (Alert, bool) {
	a := Alert{Name: s.Name, Severity: Severity(s.Severity), Factor: s.Factor, Long: time.Duration(s.Long), Short: time.Duration(s.Short),
		Within: time.Duration(s.ExhaustedWithin), NoData: time.Duration(s.NoDataFor), MinEvents: DefaultMinEvents, MinBad: DefaultMinBad}
	if a.Severity == "" {
		a.Severity = Page
	}
	if s.MinEvents != nil {
		a.MinEvents = *s.MinEvents
	}
	if s.MinBad != nil {
		a.MinBad = *s.MinBad
	}
	if s.BudgetBelow != nil {
		below := float64(*s.BudgetBelow)
		a.Below = &below
	}
	kinds := 0
	for _, given := range []bool{s.Share != nil, s.Factor != 0, a.Below != nil, a.Within > 0, a.NoData > 0} {
		if given {
			kinds++
		}
	}
	if kinds != 1 {
		c.fail(path, "an alert has exactly one of share, factor, budget_below, exhausted_within and no_data_for")
		return a, false
	}
	if s.Share != nil || s.Factor != 0 {
		if !c.burn(s, &a, o, path) {
			return a, false
		}
	} else if a.Long > 0 || a.Short > 0 {
		c.fail(path, "long and short belong to share or factor")
		return a, false
	}
	if a.Name == "" {
		a.Name = a.name()
	}
	return a, true
}

func (c *compiler) burn(s *AlertSpec, a *Alert, o *Objective, path string) bool {
	period := o.Window.Period()
	switch {
	case a.Long == 0:
		c.fail(path, "a burn alert needs a long window, like long: 1h")
		return false
	case a.Long >= period:
		c.fail(path+".long", "%s is not shorter than the objective's window of %s", span(a.Long), span(period))
		return false
	case a.Long < 5*time.Minute:
		c.fail(path+".long", "it must be at least 5m")
		return false
	}
	if a.Short == 0 {
		a.Short = max(a.Long/12, time.Minute).Truncate(time.Minute)
	}
	if a.Short >= a.Long || a.Short < time.Minute || a.Short%time.Minute != 0 || a.Long%time.Minute != 0 {
		c.fail(path, "windows are whole minutes, and the short one is shorter than the long one")
		return false
	}
	where := path + ".factor"
	if s.Share != nil {
		where = path + ".share"
		a.Factor = Factor(float64(*s.Share), period, a.Long)
	}
	switch {
	case !(a.Factor > 0):
		c.fail(where, "the burn rate must be above 0")
		return false
	case !CanFire(a.Factor, o.Budget):
		c.fail(where, "this can never fire: with a budget of %s the burn rate is at most %s, and the limit is %s; take a smaller share or a longer window",
			percent(o.Budget), number(1/o.Budget), number(a.Factor))
		return false
	}
	return true
}

func (c *compiler) corrections(all []*Objective) {
	for i, s := range c.spec.Corrections {
		path := fmt.Sprintf("corrections[%d]", i)
		h := Correction{Reason: s.Reason, Sources: c.sources(s.Sources, path)}
		if s.From == "" || s.To == "" || s.Reason == "" {
			c.fail(path, "a correction has from, to and reason")
			continue
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
		if t, err := time.ParseInLocation(layout, text, c.zone); err == nil {
			return t, true
		}
	}
	c.fail(path, "%q is no time; write 2026-03-01T02:00:00+01:00 or 2026-03-01 02:00", text)
	return time.Time{}, false
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
