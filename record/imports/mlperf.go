package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

const mllog = ":::MLLOG"

func isMLPerf(head []byte) bool {
	return bytes.HasPrefix(head, []byte(mllog)) || bytes.Contains(head, []byte("MLPerf Results Summary"))
}

// readMLPerf reads LoadGen's mlperf_log_summary.txt and mlperf_log_detail.txt. Source:
// mlcommons/inference, loadgen/results.cc.
func readMLPerf(in *Input, _ func(*timeline.Timeline) error) (run.Run, error) {
	m := run.Run{}
	t := newTold(in, 0)
	read := loadgenSummary
	if bytes.HasPrefix(in.data, []byte(mllog)) {
		read = loadgenDetail
	}
	facts := map[string]string{}
	if err := read(t, facts); err != nil {
		return m, err
	}
	if began, err := time.Parse(time.RFC3339, facts["began"]); err == nil {
		m.Started = began.UTC()
	}
	m.Name = naming(facts["sut"], facts["scenario"])
	switch facts["scenario"] {
	case "Server", "Interactive":
		m.Load.Kind = "open"
	case "SingleStream", "MultiStream": // Offline has all its queries at once
		m.Load.Kind = "closed"
	}
	if verdict := facts["verdict"]; verdict != "" {
		in.note("LoadGen's own verdict: " + verdict)
	}
	if t.Metrics["ttft_ms"].Mean.OK() {
		in.note("LoadGen counts from when a query was due, as we do")
	}
	err := t.into(&m)
	return m, err
}

// lines calls read for every line with its place.
func (in *Input) lines(read func(at int64, line string) error) error {
	for at := int64(0); at < int64(len(in.data)); {
		line := in.data[at:]
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line = line[:i]
		}
		if err := read(at, strings.TrimRight(string(line), "\r")); err != nil {
			return err
		}
		at += int64(len(line)) + 1
	}
	return nil
}

// loadgenFigure turns a name of the summary into a metric and a statistic of ours.
func loadgenFigure(name string) (metric, stat string) {
	name = strings.ToLower(name)
	switch {
	case strings.Contains(name, "first token latency"):
		metric = "ttft_ms"
	case strings.Contains(name, "time to output token"), strings.Contains(name, "time per output token"):
		metric = "tpot_ms"
	case strings.HasSuffix(name, "latency (ns)"):
		metric = "e2e_ms"
	default:
		return "", ""
	}
	first, _, _ := strings.Cut(name, " ")
	stat = map[string]string{"mean": "mean", "min": "min", "max": "max", "50.00": "p50", "90.00": "p90", "95.00": "p95", "99.00": "p99", "99.90": "p999"}[first]
	return metric, stat
}

func loadgenSummary(t *told, facts map[string]string) error {
	ended := false
	rates := map[string]*timeline.Opt[float64]{
		"Completed tokens per second": &t.Throughput.SystemOutputTPS, "Tokens per second": &t.Throughput.SystemOutputTPS,
		"Completed samples per second": &t.Throughput.RequestsPerS, "Samples per second": &t.Throughput.RequestsPerS,
		"Scheduled samples per second": &t.Throughput.OfferedPerS,
	}
	words := map[string]string{"SUT name": "sut", "Scenario": "scenario", "Result is": "verdict"}
	err := t.in.lines(func(at int64, line string) error {
		ended = ended || strings.HasPrefix(line, "Test Parameters Used")
		name, value, ok := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !ok || ended {
			return nil
		}
		value = strings.TrimSpace(value)
		if word, ok := words[name]; ok {
			facts[word] = value
		}
		metric, stat := loadgenFigure(name)
		rate := rates[name]
		if stat == "" && rate == nil {
			return nil
		}
		v, ok := jsonNumber(value)
		if !ok {
			return t.in.at(at, fmt.Errorf("%s is %q, no number", name, value))
		}
		known := t.sensible(v, name)
		if rate != nil {
			*rate = known
		} else {
			t.stat(metric, stat, known, 1e-6)
		}
		return nil
	})
	if err == nil && !ended {
		err = t.in.at(int64(len(t.in.data)), errors.New("the file ends before the test's parameters: it was cut off"))
	}
	return err
}

// loadgenDetail reads the log: a JSON text a line, behind its mark. Latencies are of samples,
// of which a query of Offline has many; MultiStream is judged by those of queries, as its
// summary has them.
func loadgenDetail(t *told, facts map[string]string) error {
	finished, ofQueries, each := false, false, timeline.Some(int64(1))
	rates := map[string]*timeline.Opt[float64]{
		"result_completed_tokens_per_second": &t.Throughput.SystemOutputTPS, "result_tokens_per_second": &t.Throughput.SystemOutputTPS,
		"result_completed_samples_per_sec": &t.Throughput.RequestsPerS, "result_samples_per_second": &t.Throughput.RequestsPerS,
		"result_scheduled_samples_per_sec": &t.Throughput.OfferedPerS,
	}
	words := map[string]string{"effective_scenario": "scenario", "result_validity": "verdict", "sut_name": "sut", "test_datetime": "began"}
	err := t.in.lines(func(at int64, line string) error {
		rest, ok := strings.CutPrefix(line, mllog)
		if !ok {
			if strings.TrimSpace(line) == "" {
				return nil
			}
			return t.in.at(at, errors.New("a line of the log begins with "+mllog))
		}
		var entry struct {
			Key   string `json:"key"`
			Value any    `json:"value"`
		}
		if err := json.Unmarshal([]byte(rest), &entry); err != nil {
			return t.in.at(at+int64(len(mllog)), fmt.Errorf("this is no JSON: %w", err))
		}
		if word, ok := words[entry.Key]; ok {
			facts[word] = fmt.Sprint(entry.Value)
		}
		finished = finished || entry.Key == "num_errors" // the last line but warnings
		key := strings.NewReplacer("_per_query_latency", "_latency", "_query_latency", "_latency").Replace(entry.Key)
		ofQueries = ofQueries || key != entry.Key
		metric, stat := loadgenKey(key)
		if ofQueries && key == entry.Key && metric == "e2e_ms" {
			stat = "" // of samples
		}
		rate, counts, parts := rates[entry.Key], entry.Key == "result_query_count", entry.Key == "generated_samples_per_query"
		if stat == "" && rate == nil && !counts && !parts {
			return nil
		}
		v, ok := entry.Value.(float64)
		if !ok {
			return t.in.at(at, fmt.Errorf("%s is %v, no number", entry.Key, entry.Value))
		}
		known := t.sensible(v, entry.Key)
		switch {
		case counts:
			t.Total = t.whole(known)
		case parts:
			each = t.whole(known)
		case rate != nil:
			*rate = known
		default:
			t.stat(metric, stat, known, 1e-6)
		}
		return nil
	})
	if err == nil && !finished {
		err = t.in.at(int64(len(t.in.data)), errors.New("the log has no num_errors: the test did not come to its end, or the file was cut off"))
	}
	if n, ok := each.Get(); ok && !ofQueries && t.Total.OK() {
		t.Total = t.whole(timeline.Some(float64(t.Total.Or(0)) * float64(n)))
	}
	t.OK = t.Total // LoadGen knows no failures
	t.counted(t.OK)
	return err
}

// loadgenKey is loadgenFigure for the log's keys.
func loadgenKey(key string) (metric, stat string) {
	rest, ok := strings.CutPrefix(key, "result_")
	if !ok {
		return "", ""
	}
	metric = "e2e_ms"
	for prefix, m := range map[string]string{"first_token_": "ttft_ms", "time_per_output_token_": "tpot_ms", "time_to_output_token_": "tpot_ms"} {
		if inner, ok := strings.CutPrefix(rest, prefix); ok {
			rest, metric = inner, m
		}
	}
	for _, end := range []string{"_latency_ns", "_ns", "_latency", "_percentile"} {
		rest = strings.TrimSuffix(rest, end)
	}
	stat = map[string]string{"mean": "mean", "min": "min", "max": "max", "50.00": "p50", "90.00": "p90", "95.00": "p95", "99.00": "p99", "99.90": "p999"}[rest]
	return metric, stat
}
