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
	"tokenmeter/service/telemetry/telemetrytest"

	"github.com/goccy/go-yaml"
)

const oracleObjectives = `
objectives:
  - {name: busy, objective: p99 tpot < 120ms}
  - {name: nightly, objective: availability >= 99.9%}
  - {name: rare, objective: p95 ttft < 500ms, window: 7d}
`

// A real Prometheus evaluates the generated rules over 28 days of scrapes, a
// minute apart and aligned. Windows from counters are exact, and burn rates ours
// to 1e-9. Those from snapshots begin up to 17 minutes early and end up to two
// minutes ago. Nowhere is more bad than there was, or than valid.
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
	counted, err := traffic(scrapes, objectives, memory, begin, minutes)
	if err != nil {
		t.Fatal(err)
	}
	command(t, promtool, "tsdb", "create-blocks-from", "openmetrics", "--max-block-duration=720h", scrapes, data)

	var text bytes.Buffer
	if err := Prometheus(&text, objectives); err != nil {
		t.Fatal(err)
	}
	server := serve(t, prometheus, data)
	defer server.stop()
	rules := recorded(t, text.Bytes())
	random := rand.New(rand.NewPCG(3, 3))
	compared := 0
	for i := range 6 {
		minute := minutes
		if i > 0 {
			minute = (1 + random.IntN(minutes/5-1)) * 5
		}
		at := begin.Add(time.Duration(minute) * time.Minute)
		for k, o := range objectives {
			// between is what was counted from so many minutes ago until so many.
			between := func(from, to int) slo.Counts {
				a, b := counted[k][max(minute-from, 0)], counted[k][minute-to]
				return slo.Counts{Good: b.Good - a.Good, Valid: b.Valid - a.Valid}
			}
			r := o.Evaluate(memory, slo.Live, nil, at.Add(-time.Second))
			for _, d := range windowsOf(o) {
				of := int(d / time.Minute)
				least, most := between(of, 0), between(of, 0)
				if d > fineMax {
					least, most = between(of, min(2, minute)), between(of+17, 0)
				}
				bad, _ := server.value(t, rules.sum(t, o.Name, "bad", slo.WindowName(d)), at)
				valid, _ := server.value(t, rules.sum(t, o.Name, "valid", slo.WindowName(d)), at)
				if int64(bad) < least.Bad() || int64(bad) > most.Bad() || int64(valid) < least.Valid || int64(valid) > most.Valid || bad > valid {
					t.Errorf("%s, %s at minute %d: Prometheus counts %v bad of %v, it were %d of %d to %d of %d", o.Name, slo.WindowName(d), minute, bad, valid, least.Bad(), least.Valid, most.Bad(), most.Valid)
				}
				if want, known := r.Burn[slo.WindowName(d)].Get(); d <= fineMax && known != (valid > 0) || known && d <= fineMax && math.Abs(bad/valid/o.Budget-want) > 1e-9*math.Max(1, want) {
					t.Errorf("%s, %s at minute %d: %v bad of %v, and we have a burn rate of %v (%v)", o.Name, slo.WindowName(d), minute, bad, valid, want, known)
				}
				compared += 2
			}
		}
	}
	t.Logf("%d sums compared", compared)
}

// traffic writes scrapes of the counters and adds the same counts to memory:
// one objective is always busy, one has nothing at night, one hardly anything.
// It returns what each had counted at each minute.
func traffic(path string, objectives []*slo.Objective, memory *slo.Memory, begin time.Time, minutes int) ([][]slo.Counts, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
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
	for _, what := range []string{"bad", "valid"} {
		fmt.Fprintf(w, "# TYPE tokenmeter_slo_%s counter\n", what)
		for i, o := range objectives {
			for m, c := range all[i] {
				n := c.Valid
				if what == "bad" {
					n = c.Bad()
				}
				fmt.Fprintf(w, "tokenmeter_slo_%s_total{slo=\"%s\",hash=\"%s\",source=\"live\",run=\"0a1b2c3d\"} %d %d\n", what, o.Name, o.Hash, n, begin.Unix()+int64(m)*60)
			}
		}
	}
	fmt.Fprintln(w, "# EOF")
	return all, w.Flush()
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
			rules[strings.TrimSpace(r.Record+" "+r.Labels["slo"])] = r.Expr
		}
	}
	return rules
}

// sum is the rule of a window with the snapshots that it reads unfolded: they
// can't be recorded for a time that is past.
func (r ruleExprs) sum(t *testing.T, objective, what, window string) string {
	expr, ok := r[fmt.Sprintf(sum, what, window)+" "+objective]
	if !ok {
		t.Fatalf("no rule for %s over %s of %s", what, window, objective)
	}
	return snapshotForm.ReplaceAllStringFunc(expr, func(s string) string {
		m := snapshotForm.FindStringSubmatch(s)
		return "(" + strings.Replace(r[m[1]], "_total[", "_total"+m[2]+"[", 1) + ")[" + m[3] + ":2m]"
	})
}

var snapshotForm = regexp.MustCompile(`(slo:tokenmeter_\w+:(?:hi|lo))(\{[^}]*\})\[(\w+)\]`)

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
	address := telemetrytest.Address(t)
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
