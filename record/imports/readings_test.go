package imports

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func readingsOf(t *testing.T, name string) (list []Reading, size int) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "aiperf-run", name))
	if err != nil {
		t.Fatal(err)
	}
	in, err := NewInput(name, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	kind := RecogniseReadings(in.Head())
	if kind == nil || !strings.HasSuffix(kind.Name, name) || Recognise(in.Head()) != nil {
		t.Fatalf("%s is taken for %v, and as requests for %v", name, kind, Recognise(in.Head()))
	}
	if err := kind.Read(in, func(r *Reading) error {
		c := *r
		c.Page = bytes.Clone(r.Page)
		list = append(list, c)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return list, len(data)
}

// The files of one run of AIPerf 0.13.0: the lines and the table have the same readings,
// but for those that say nothing new, which only the lines leave out, and those of
// before the measured part, which only the table does.
func TestReadingsOfAIPerf(t *testing.T) {
	lines, _ := readingsOf(t, "server_metrics_export.jsonl")
	table, _ := readingsOf(t, "server_metrics_export.parquet")
	same := map[int64]string{}
	for _, r := range table {
		same[r.AtNS] = sorted(r.Page)
	}
	early, both := 0, 0
	last := int64(0)
	for _, r := range lines {
		if r.AtNS < last {
			t.Errorf("a reading at %d after one at %d", r.AtNS, last)
		}
		last = r.AtNS
		if r.URL != "http://127.0.0.1:18080/metrics" {
			t.Errorf("a page at %s", r.URL)
		}
		if r.Early {
			early++
		}
		if page, ok := same[r.AtNS]; ok {
			both++
			if page != sorted(r.Page) {
				t.Errorf("at %d the two differ:\n%s\n%s", r.AtNS, page, sorted(r.Page))
			}
		}
	}
	if early != 2 || both < 5 {
		t.Errorf("%d readings of %d before what counts, %d in both files", early, len(lines), both)
	}
	sums, _ := readingsOf(t, "server_metrics_export.json")
	if len(sums) != 2 || !sums[0].Early || sums[1].Times < 2 || !(sums[1].EveryS > 0.3 && sums[1].EveryS < 0.7) ||
		!bytes.Contains(sums[1].Most, []byte(`vllm:num_requests_running{engine="0",model_name="sim"} 2`)) ||
		!bytes.Contains(sums[0].Page, []byte(`vllm:generation_tokens{engine="0",model_name="sim"} 0`)) {
		t.Errorf("%d readings; the last stands for %d, one every %v s", len(sums), sums[len(sums)-1].Times, sums[len(sums)-1].EveryS)
	}
	gpus, _ := readingsOf(t, "gpu_telemetry_export.jsonl")
	for _, r := range gpus {
		for _, want := range []string{`DCGM_FI_DEV_POWER_USAGE{UUID="GPU-00000000"} 30`, `DCGM_FI_DEV_POWER_USAGE{UUID="GPU-00000001"} 35`,
			`DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{UUID="GPU-00000001"} 1.0`, `DCGM_FI_PROF_SM_ACTIVE{UUID="GPU-00000001"} 0.6`, `DCGM_FI_DEV_GPU_UTIL{UUID="GPU-00000000"} 6`} {
			if !bytes.Contains(r.Page, []byte(want)) {
				t.Errorf("at %d the page has no %s:\n%s", r.AtNS, want, r.Page)
			}
		}
	}
}

func sorted(page []byte) string {
	lines := strings.Split(strings.TrimSpace(string(page)), "\n")
	seen := map[string]bool{}
	for _, l := range lines {
		seen[l] = true
	}
	return fmt.Sprint(seen) // fmt sorts keys
}

// A name or a label that can't stand on a page is left out, one that can is escaped: no
// file can write a line of its own.
func TestHostileNamesOnAPage(t *testing.T) {
	file := `{"endpoint_url":"u","timestamp_ns":5,"endpoint_latency_ns":1,"metrics":{"a\nb 7":[{"value":1}],"9a":[{"value":1}],"":[{"value":1}],` +
		`"ok":[{"labels":{"x\"":"1","le":"2","y":"a\"\\\n"},"value":1},{"value":null}]}}`
	in, _ := NewInput("f", strings.NewReader(file))
	var page string
	if err := readServerLines(in, func(r *Reading) error { page += string(r.Page); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := "ok{y=\"a\\\"\\\\\\n\"} 1\n"; page != want {
		t.Errorf("got %q, want %q", page, want)
	}
}

func TestReadingsThatCantBeRead(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join("testdata", "aiperf-run", "server_metrics_export.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	bent := bytes.Clone(whole)
	for i := range bent[8 : len(bent)-8] {
		bent[8+i] ^= byte(i * 7)
	}
	for _, c := range []struct{ file, want string }{
		{"{\"endpoint_url\":\"u\",\"timestamp_ns\":1,\"endpoint_latency_ns\":1,\"metrics\":{}}\n{\"endpoint_url\":\"u\",\"endpoint_latency_ns\":1}", "f:2:1: the reading has no timestamp_ns"},
		{`{"endpoint_url":"u","timestamp_ns":"5","endpoint_latency_ns":1}`, "f:1:38: timestamp_ns is a string here"},
		{`{"endpoint_url":"u","timestamp_ns":-5,"endpoint_latency_ns":1}`, "no timestamp_ns"},
		{`{"endpoint_url":"u","timestamp_ns":5,"endpoint_latency_ns":1,"metrics":{"a":[{"va`, "cut off"},
		{`{"endpoint_url":"u","timestamp_ns":5,"endpoint_latency_ns":1,"metrics":{"a":[{"value":"1"}]}}`, "metrics.value is a string"},
		{`{"gpu_uuid":"u","telemetry_data":{},"timestamp_ns":null}`, "f:1:1: the reading has no timestamp_ns"},
		{`{"gpu_uuid":"u","telemetry_data":[],"timestamp_ns":5}`, "telemetry_data is a array"},
		{`{"summary":{"endpoints_configured":[],"endpoint_info":{}},"metrics":{}}`, "no page that was read"},
		{`{"summary":{"endpoints_configured":[],"endpoint_info":{"u":{"first_fetch_ns":9,"last_fetch_ns":3}}},"metrics":{}}`, "no timestamp_ns"},
		{`{"summary":{"endpoints_configured":[],"endpoint_info":{"u":{"first_fetch_ns":9,"last_fetch_ns":3}},"phase_time_ranges":{"profiling":{"start_ns":1,"end_ns":2}}},"metrics":{}}`, "no timestamp_ns"},
		{`{"summary":{"endpoints_configured":[],"endpoint_info":{"u":{"total_fetches":-2}}},"metrics":{}}`, "no timestamp_ns"},
		{string(whole[:len(whole)/2]), "no table in Parquet's form"},
		{string(bent), "f: "},
	} {
		in, _ := NewInput("f", strings.NewReader(c.file))
		kind := RecogniseReadings(in.Head())
		if kind == nil {
			t.Fatalf("not recognised: %.80s", c.file)
		}
		if err := kind.Read(in, func(*Reading) error { return nil }); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80s:\n got %v\nwant %s", c.file, err, c.want)
		}
	}
}

// FuzzReadings: no bytes crash a reader, and no page has a line that is none.
func FuzzReadings(f *testing.F) {
	for i := range readings {
		f.Add(uint8(i), []byte(`{"endpoint_url":"u","timestamp_ns":5,"metrics":{"a":[{"labels":{"b":"c"},"buckets":{"+Inf":1},"sum":1,"count":1}]}}`))
		f.Add(uint8(i), []byte(`{"gpu_uuid":"u","telemetry_data":{"amd_power":5},"timestamp_ns":5}`))
		f.Add(uint8(i), []byte(`{"summary":{"endpoint_info":{"u":{"total_fetches":3}}},"metrics":{"a":{"series":[{"endpoint_url":"u","stats":{"avg":1}}]}}}`))
		if data, err := os.ReadFile(filepath.Join("testdata", "aiperf-run", "server_metrics_export.parquet")); err == nil {
			f.Add(uint8(i), data)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		in, err := NewInput("f", bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		err = readings[int(which)%len(readings)].Read(in, func(r *Reading) error {
			if r.AtNS < 0 {
				t.Errorf("at %d", r.AtNS)
			}
			for line := range strings.Lines(string(r.Page)) {
				name, _, _ := strings.Cut(strings.Fields(line)[0], "{")
				if !word(name) {
					t.Errorf("a line %q", line)
				}
			}
			return nil
		})
		if err != nil && err.Error() == "" {
			t.Error("an error without words")
		}
	})
}

// Of several pages all begin before one ends, in the order of their names, and one with
// gauges alone has no reading of nothing before.
func TestSumsComeInOneOrder(t *testing.T) {
	file := `{"summary":{"endpoints_configured":[],"endpoint_info":{"b":{"last_fetch_ns":5},"c":{"last_fetch_ns":5},"a":{"last_fetch_ns":5}}},"metrics":{` +
		`"n":{"series":[{"endpoint_url":"a","stats":{"total":1}},{"endpoint_url":"b","stats":{"total":1}}]},"g":{"series":[{"endpoint_url":"c","stats":{"avg":1}}]}}}`
	for range 20 { // maps are read in another order each time
		in, _ := NewInput("f", strings.NewReader(file))
		var got []string
		if err := readServerSums(in, func(r *Reading) error { got = append(got, fmt.Sprint(r.URL, r.AtNS)); return nil }); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got) != "[a0 b0 a5 b5 c5]" {
			t.Fatal(got)
		}
	}
}
