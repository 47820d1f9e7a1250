package report

import (
	"slices"
	"strings"
	"testing"

	"tokenmeter/reader/report/view"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// The numbers under the verdict are those of what is answered with.
func TestTilesAreOfWhatIsAnswered(t *testing.T) {
	dist := func(n int64) metric.Dist {
		return metric.Dist{N: n, P50: timeline.Some(1.0), P95: timeline.Some(2.0), P99: timeline.Some(3.0)}
	}
	for want, keys := range map[string][]string{
		"TTFT TPOT Server Succeeded": {"ttft_ms", "tpot_ms", "e2e_ms"},
		"TTFA RTF Server Succeeded":  {"ttfa_ms", "rtf", "starved_ms", "e2e_ms"},
		"TTFT RTF Server Succeeded":  {"ttft_ms", "tpot_ms", "rtf", "e2e_ms"},
		"E2E Server Succeeded":       {"inputs", "e2e_ms"},
	} {
		r := &run.Run{}
		r.Metrics = map[string]metric.Dist{}
		r.Requests.OK, r.Requests.Total = 9, 9
		for _, key := range keys {
			r.Metrics[key] = dist(9)
		}
		var labels []string
		for _, one := range tiles(r, view.New(r)) {
			labels = append(labels, one.Label)
		}
		if got := strings.Join(labels, " "); got != want {
			t.Errorf("%v: %s, want %s", keys, got, want)
		}
	}
}

// Most tools' summaries tell the output of successful requests alone (vLLM's
// "Output token throughput" divides total_output, which failed requests have none of).
func TestToldOutputOfSuccessesIsShown(t *testing.T) {
	r := &run.Run{}
	r.Metrics = map[string]metric.Dist{}
	r.Throughput.SuccessOutputTPS = timeline.Some(145.5)
	r.Throughput.RequestsPerS = timeline.Some(1.82)
	v := view.New(r)
	of := slices.IndexFunc(v.Facts, func(f view.Fact) bool { return f.Label == "server" })
	if want := "146 successful output tok/s, 1.82 requests/s"; of < 0 || v.Facts[of].Text != want {
		t.Errorf("server: fact %d of %+v, want %s", of, v.Facts, want)
	}
	one := serverTile(r)
	if one.Value != "146" || one.Unit != "successful output tok/s" || one.Link != "#def-success_output_tps" {
		t.Errorf("the tile is %+v", one)
	}
	terms := terms(r, v.Rows)
	if !slices.ContainsFunc(terms, func(d metric.Definition) bool { return "#def-"+d.Name == one.Link }) {
		t.Errorf("%s is not defined on the page", one.Link)
	}
	r.Throughput.SystemOutputTPS = timeline.Some(150.0)
	if one := serverTile(r); one.Value != "150" || one.Unit != "output tok/s" {
		t.Errorf("the rate of all tokens goes first: %+v", one)
	}
}
