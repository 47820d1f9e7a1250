//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// watcher is a Prometheus that scrapes every daemon and evaluates the rules.
type watcher struct {
	name, program string
	every         time.Duration
	leaves        bool // it is away twice
	dir, address  string
	cmd           *exec.Cmd
}

// writeRules writes what `tokenmeter slo rules` says, evaluated fifteen times as
// often, and the rules that came before it, with all their times a fifteenth.
func writeRules(dir string, all []*scenario) ([]string, error) {
	var objectives strings.Builder
	objectives.WriteString("objectives:\n")
	for _, text := range append([]string{otherLimit}, textsOf(all)...) {
		fmt.Fprintf(&objectives, "  - {name: o%s, objective: %q}\n", hashOf(text), text)
	}
	from, to := filepath.Join(dir, "objectives.yaml"), filepath.Join(dir, "rules.yaml")
	if err := os.WriteFile(from, []byte(objectives.String()), 0o644); err != nil {
		return nil, err
	}
	out, err := exec.Command(*binary, "slo", "rules", "-c", from).Output()
	if err != nil {
		return nil, fmt.Errorf("slo rules: %w", err)
	}
	text := strings.NewReplacer("interval: 1m", "interval: 4s", "interval: 2m", "interval: 8s").Replace(string(out))
	if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
		return nil, err
	}
	before := filepath.Join(dir, "before.yaml")
	return []string{to, before}, os.WriteFile(before, []byte(rulesBefore), 0o644)
}

func textsOf(all []*scenario) (texts []string) {
	for _, s := range all {
		texts = append(texts, s.objective)
	}
	return texts
}

// rulesBefore sum up increments between marks of the clock, 20 s apart where
// they were 5 min.
const rulesBefore = `groups:
  - name: before
    interval: 4s
    rules:
      - record: before:good
        expr: 'sum by (hash) ((last_over_time(tokenmeter_slo_good_total[20s:20s]) - last_over_time(tokenmeter_slo_good_total[4m:20s] offset 20s)) >= 0 or (last_over_time(tokenmeter_slo_good_total[20s:20s]) < last_over_time(tokenmeter_slo_good_total[4m:20s] offset 20s))) and on() (vector(time()) % 20 < 4)'
      - record: before:valid
        expr: 'sum by (hash) ((last_over_time(tokenmeter_slo_valid_total[20s:20s]) - last_over_time(tokenmeter_slo_valid_total[4m:20s] offset 20s)) >= 0 or (last_over_time(tokenmeter_slo_valid_total[20s:20s]) < last_over_time(tokenmeter_slo_valid_total[4m:20s] offset 20s))) and on() (vector(time()) % 20 < 4)'
`

var version = regexp.MustCompile(`prometheus, version (\S+)`)

// startAll starts of each program one that stays, all of them a pair that shares
// its targets, one that is away twice, and one that scrapes rarely.
func startAll(ctx context.Context, dir string, rules []string, scenarios []*scenario) (all []*watcher, err error) {
	for i, program := range strings.Split(*servers, ",") {
		out, err := exec.CommandContext(ctx, program, "--version").CombinedOutput()
		if err != nil {
			return all, fmt.Errorf("%s: %w", program, err)
		}
		name := filepath.Base(program)
		if m := version.FindStringSubmatch(string(out)); m != nil && strings.ContainsAny(m[1], "0123456789") {
			name = m[1]
		}
		for _, kind := range []watcher{{name: name, every: scrape}, {name: name + ", 60 s", every: rarely}, {name: name + ", away", every: scrape, leaves: true}} {
			w := kind
			w.program, w.address, w.dir = program, address(), filepath.Join(dir, fmt.Sprintf("prometheus-%d-%d", i, len(all)))
			var targets []string
			for _, s := range scenarios {
				for _, p := range s.pods {
					if !s.alone || w.leaves {
						targets = append(targets, p.admin)
					}
				}
			}
			config := fmt.Sprintf("global: {scrape_interval: %[1]s, scrape_timeout: 1s, evaluation_interval: 4s}\nrule_files: [%[2]s]\nscrape_configs: [{job_name: t, static_configs: [{targets: [%[3]s]}]}]\n",
				w.every, strings.Join(rules, ", "), strings.Join(targets, ", "))
			if err := os.MkdirAll(w.dir, 0o755); err != nil {
				return all, err
			}
			if err := os.WriteFile(filepath.Join(w.dir, "prometheus.yaml"), []byte(config), 0o644); err != nil {
				return all, err
			}
			all = append(all, &w)
			if err := w.start(); err != nil {
				return all, err
			}
		}
	}
	return all, nil
}

func (w *watcher) start() error {
	log, err := os.OpenFile(filepath.Join(w.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	w.cmd = exec.Command(w.program, "--config.file="+filepath.Join(w.dir, "prometheus.yaml"), "--storage.tsdb.path="+filepath.Join(w.dir, "data"), "--web.listen-address="+w.address, "--log.level=warn")
	w.cmd.Stdout, w.cmd.Stderr = log, log
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := w.cmd.Start(); err != nil {
		return err
	}
	for range 300 {
		if response, err := http.Get("http://" + w.address + "/-/ready"); err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("%s does not get ready; see %s/log", w.name, w.dir)
}

func (w *watcher) stop() {
	if w.cmd != nil {
		_ = w.cmd.Process.Kill()
		_ = w.cmd.Wait()
		w.cmd = nil
	}
}

// absences are the two outages.
func (w *watcher) absences(begin time.Time) {
	for _, o := range []struct{ at, long time.Duration }{{12 * time.Second, awayOne}, {36 * time.Second, awayTwo}} {
		time.Sleep(time.Until(begin.Add(o.at)))
		w.stop()
		time.Sleep(o.long)
		if err := w.start(); err != nil {
			fmt.Fprintln(os.Stderr, "slo:", err)
		}
	}
}

// value is what a query sums up to; -1 where there is nothing.
func (w *watcher) value(query string) int64 {
	response, err := http.Get("http://" + w.address + "/api/v1/query?" + url.Values{"query": {query}}.Encode())
	if err != nil {
		return -1
	}
	defer response.Body.Close()
	var answer struct {
		Data struct {
			Result []struct{ Value [2]any }
		}
	}
	if json.NewDecoder(response.Body).Decode(&answer) != nil || len(answer.Data.Result) != 1 {
		return -1
	}
	text, _ := answer.Data.Result[0].Value[1].(string)
	x, _ := strconv.ParseFloat(text, 64)
	return int64(x)
}

// sums are what the rules say of an objective over its window.
func (w *watcher) sums(rule string) counts {
	return counts{w.value(fmt.Sprintf("slo:tokenmeter_bad:sum28d{slo=%q}", rule)), w.value(fmt.Sprintf("slo:tokenmeter_valid:sum28d{slo=%q}", rule))}
}

// before is what the rules before say, if they say something.
func (w *watcher) before(hash string) string {
	good, valid := w.value(fmt.Sprintf("sum_over_time(before:good{hash=%q}[1h])", hash)), w.value(fmt.Sprintf("sum_over_time(before:valid{hash=%q}[1h])", hash))
	if good < 0 || valid < 0 {
		return "–"
	}
	return counts{valid - good, valid}.String()
}
