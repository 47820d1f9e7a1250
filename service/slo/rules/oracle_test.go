package rules

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"tokenmeter/service/slo"
	"tokenmeter/service/telemetry/trial"

	"github.com/goccy/go-yaml"
)

const oracleObjectives = `
objectives:
  - {name: busy, objective: p99 tpot < 120ms}
  - {name: nightly, objective: availability >= 99.9%}
  - {name: rare, objective: p95 ttft < 500ms, window: 7d}
`

// A real Prometheus evaluates the generated rules over 28 days of scrapes, a
// minute apart and aligned: counts are equal, burn rates within 1e-9.
func TestAgainstPrometheus(t *testing.T) {
	if testing.Short() {
		t.Skip("28 days take some seconds")
	}
	promtool, prometheus := program(t, "promtool"), program(t, "prometheus")
	objectives := load(t, oracleObjectives)
	begin := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	const minutes = 28*24*60 + 120
	memory := &slo.Memory{}
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	scrapes := filepath.Join(dir, "scrapes.om")
	if err := traffic(scrapes, objectives, memory, begin, minutes); err != nil {
		t.Fatal(err)
	}
	command(t, promtool, "tsdb", "create-blocks-from", "openmetrics", "--max-block-duration=720h", scrapes, data)

	var text bytes.Buffer
	if err := Prometheus(&text, objectives); err != nil {
		t.Fatal(err)
	}
	end := begin.Add(minutes * time.Minute)
	server := serve(t, prometheus, data)
	defer server.stop()
	rules := recorded(t, text.Bytes())
	random := rand.New(rand.NewPCG(3, 3))
	compared := 0
	for i := range 6 {
		at := end
		if i > 0 {
			at = begin.Add(time.Duration(1+random.Int64N(minutes/5-1)) * 5 * time.Minute)
		}
		for _, o := range objectives {
			r := o.Evaluate(memory, slo.Live, nil, at.Add(-time.Second))
			for name, burn := range r.Burn {
				got, ok := server.value(t, rules.burn(t, o.Name, name), at)
				want, known := burn.Get()
				if ok != known || math.Abs(got-want) > 1e-9*math.Max(1, want) {
					t.Errorf("%s, %s at %s: Prometheus has a burn rate of %v (%v), we have %v (%v)", o.Name, name, at.Format(time.RFC3339), got, ok, want, known)
				}
				compared++
			}
			window := slo.WindowName(o.Window.Rolling)
			valid, _ := server.value(t, rules.sum(t, o.Name, "valid", window), at)
			bad, _ := server.value(t, rules.sum(t, o.Name, "bad", window), at)
			if int64(valid) != r.Valid || int64(bad) != r.Bad() {
				t.Errorf("%s, %s at %s: Prometheus counts %v bad of %v, we count %d of %d", o.Name, window, at.Format(time.RFC3339), bad, valid, r.Bad(), r.Valid)
			}
			left, ok := server.value(t, rules.budget(t, o.Name), at)
			if want, known := r.BudgetRemaining.Get(); ok != known || math.Abs(left-want) > 1e-9*math.Max(1, math.Abs(want)) {
				t.Errorf("%s at %s: Prometheus has %v of the budget left (%v), we have %v (%v)", o.Name, at.Format(time.RFC3339), left, ok, want, known)
			}
			compared += 3
		}
	}
	t.Logf("%d values compared", compared)
}

// traffic writes scrapes of the counters and adds the same counts to memory:
// one objective is always busy, one has nothing at night, one hardly anything.
func traffic(path string, objectives []*slo.Objective, memory *slo.Memory, begin time.Time, minutes int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	random := rand.New(rand.NewPCG(1, 1))
	all := make([][]slo.Counts, len(objectives))
	for i, o := range objectives {
		all[i] = make([]slo.Counts, minutes+1)
		for m := range minutes {
			var c slo.Counts
			switch hour := m / 60 % 24; {
			case i == 0:
				c.Valid = 50 + random.Int64N(20)
			case i == 1 && hour >= 6 && hour < 22:
				c.Valid = random.Int64N(10)
			case i == 2 && random.Float64() < 0.01:
				c.Valid = 1
			}
			bad := 0.008
			if m/1000%10 == 7 {
				bad = 0.05
			}
			for range c.Valid {
				if random.Float64() >= bad {
					c.Good++
				}
			}
			memory.Add(slo.Key{Hash: o.Hash, Source: slo.Live}, begin.Add(time.Duration(m)*time.Minute), 0, c)
			all[i][m+1] = all[i][m].Plus(c)
		}
	}
	for _, what := range []string{"good", "valid"} {
		fmt.Fprintf(w, "# TYPE tokenmeter_slo_%s counter\n", what)
		for i, o := range objectives {
			for m, c := range all[i] {
				n := c.Valid
				if what == "good" {
					n = c.Good
				}
				fmt.Fprintf(w, "tokenmeter_slo_%s_total{slo=\"%s\",source=\"live\"} %d %d\n", what, o.Name, n, begin.Unix()+int64(m)*60)
			}
		}
	}
	fmt.Fprintln(w, "# EOF")
	return w.Flush()
}

type ruleExprs map[string]string

func recorded(t *testing.T, text []byte) ruleExprs {
	var f struct {
		Groups []struct {
			Rules []struct {
				Record, Expr string
				Labels       map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	rules := ruleExprs{}
	for _, g := range f.Groups {
		for _, r := range g.Rules {
			name := r.Record
			if objective := r.Labels["slo"]; objective != "" {
				name += " " + objective
			}
			rules[name] = r.Expr
		}
	}
	return rules
}

// sum is the rule of a window, for one objective, with the increments that it
// sums unfolded: they can't be recorded for a time that is past.
func (r ruleExprs) sum(t *testing.T, objective, what, window string) string {
	expr, ok := r[fmt.Sprintf(sum, what, window)]
	if !ok {
		t.Fatalf("no rule for %s over %s", what, window)
	}
	return increaseForm.ReplaceAllStringFunc(expr, func(s string) string {
		m := increaseForm.FindStringSubmatch(s)
		inner := strings.ReplaceAll(r[m[1]], "_total[", `_total{slo="`+objective+`"}[`)
		return "(" + inner + ")[" + m[3] + ":" + m[2] + "]"
	})
}

var increaseForm = regexp.MustCompile(`(slo:tokenmeter_slo_\w+:increase([15]m))\[(\w+)\]`)

var sumForm = regexp.MustCompile(`slo:tokenmeter_slo_(bad|valid):sum(\w+)\{slo=~"[^"]+"\}`)

func (r ruleExprs) unfolded(t *testing.T, objective, name string) string {
	expr, ok := r[name+" "+objective]
	if !ok {
		t.Fatalf("no rule %s of %s", name, objective)
	}
	return sumForm.ReplaceAllStringFunc(expr, func(s string) string {
		m := sumForm.FindStringSubmatch(s)
		return "(" + r.sum(t, objective, m[1], m[2]) + ")"
	})
}

func (r ruleExprs) burn(t *testing.T, objective, window string) string {
	return r.unfolded(t, objective, fmt.Sprintf(burn, window))
}

func (r ruleExprs) budget(t *testing.T, objective string) string {
	return r.unfolded(t, objective, "slo:tokenmeter_slo_budget_remaining:ratio")
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

type running struct {
	url  string
	stop func()
}

func serve(t *testing.T, prometheus, data string) running {
	t.Helper()
	address := trial.Address(t)
	config := filepath.Join(t.TempDir(), "prometheus.yaml")
	os.WriteFile(config, []byte("global: {}\n"), 0o644)
	cmd := exec.Command(prometheus, "--config.file="+config, "--storage.tsdb.path="+data, "--storage.tsdb.retention.time=3650d", "--web.listen-address="+address, "--log.level=error")
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stopped := false
	r := running{"http://" + address, func() {
		if !stopped {
			stopped = true
			cmd.Process.Kill()
			cmd.Wait()
			os.Remove(filepath.Join(data, "lock"))
		}
	}}
	t.Cleanup(r.stop)
	for range 300 {
		if response, err := http.Get(r.url + "/-/ready"); err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return r
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	r.stop()
	t.Fatalf("Prometheus does not get ready:\n%s", log.String())
	return r
}

// value is an instant query with at most one result.
func (r running) value(t *testing.T, expr string, at time.Time) (float64, bool) {
	t.Helper()
	response, err := http.Get(r.url + "/api/v1/query?" + url.Values{"query": {expr}, "time": {strconv.FormatInt(at.Unix(), 10)}}.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	var answer struct {
		Data struct {
			Result []struct{ Value [2]any }
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", expr, body)
	}
	switch len(answer.Data.Result) {
	case 0:
		return 0, false
	case 1:
		v, err := strconv.ParseFloat(answer.Data.Result[0].Value[1].(string), 64)
		return v, err == nil
	}
	t.Fatalf("%s: several results", expr)
	return 0, false
}
