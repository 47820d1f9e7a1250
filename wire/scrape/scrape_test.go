package scrape

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var now = time.UnixMilli(1_770_000_000_000)

// The page is dcgm-exporter's: its default metrics have these labels.
const page = `# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA H100",Hostname="n1"} 87
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-b",device="nvidia1",modelName="NVIDIA H100",Hostname="n1"} 0
# TYPE DCGM_FI_PROF_GR_ENGINE_ACTIVE gauge
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="0"} 0.5
# TYPE blank gauge
blank{gpu="0"} 2147483632
blank{gpu="1"} 9223372036854775794
blank{gpu="2"} NaN
blank{gpu="3"} -1
# TYPE half gauge
half{gpu="0"} 2147483632
half{gpu="1"} 40
old{gpu="0"} 50 1769999900000
fresh{gpu="0"} 50 1769999990000
# TYPE histo histogram
histo_bucket{le="+Inf"} 1
histo_sum 1
histo_count 1
`

func TestReadings(t *testing.T) {
	for _, c := range []struct {
		target Target
		want   []float64
		err    string
	}{
		{Target{}, []float64{0.87, 0}, ""},
		{Target{Labels: map[string]string{"gpu": "0"}}, []float64{0.87}, ""},
		{Target{Labels: map[string]string{"gpu": "7"}}, nil, "with these labels"},
		{Target{Metric: "DCGM_FI_PROF_GR_ENGINE_ACTIVE"}, []float64{0.5}, ""},
		{Target{Metric: "blank"}, nil, "not between 0 and 100"},
		{Target{Metric: "half"}, []float64{0.4}, ""},
		{Target{Metric: "old"}, nil, "old"},
		{Target{Metric: "fresh"}, []float64{0.5}, ""},
		{Target{Metric: "histo"}, nil, "has no histo"},
		{Target{Metric: "none"}, nil, "has no none"},
		{Target{Metric: "fresh", Full: 1}, nil, "not between 0 and 1"},
	} {
		r := New(c.target)
		got, err := r.target.parse([]byte(page), now)
		if !slices.Equal(got, c.want) || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%+v: %v, %v", c.target, got, err)
		}
	}
}

func TestWhatIsNoAnswer(t *testing.T) {
	said := func(w http.ResponseWriter, _ *http.Request) {}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { said(w, q) }))
	defer server.Close()
	for name, h := range map[string]http.HandlerFunc{
		"404":        func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) },
		"a redirect": func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, "/x", http.StatusFound) },
		"HTML":       func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>\n") },
		"empty":      func(http.ResponseWriter, *http.Request) {},
		"too much": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, strings.Repeat("# x\n", MaxBody/4+1), page)
		},
		"a broken end": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, page, "DCGM_FI_DEV_GPU_UTIL{gpu=\"2\"} ") },
	} {
		said = h
		if got, err := New(Target{URL: server.URL}).Read(t.Context(), now); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	said = func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("Authorization") != "Bearer k" {
			w.WriteHeader(401)
		}
		fmt.Fprint(w, page)
	}
	if got, err := New(Target{URL: server.URL, Header: http.Header{"Authorization": {"Bearer k"}}}).Read(t.Context(), now); err != nil || len(got) != 2 {
		t.Errorf("%v, %v", got, err)
	}
}

// turns answers as a list says, one turn after the other.
type turns struct {
	pages []string
	n     int
}

func (p *turns) RoundTrip(q *http.Request) (*http.Response, error) {
	i := min(p.n, len(p.pages)-1)
	p.n++
	if p.pages[i] == "" { // it never answers
		<-q.Context().Done()
		return nil, q.Context().Err()
	}
	w := httptest.NewRecorder()
	fmt.Fprint(w, p.pages[i])
	return w.Result(), nil
}

// A gap is told once, and when it is over; no reading comes from it.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Target{URL: "http://gpu/metrics", Every: 10 * time.Second})
		r.client.Transport = &turns{pages: []string{page, "", "x\n", page}}
		ctx, stop := context.WithCancel(t.Context())
		var told []string
		n := 0
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r.Run(ctx, func(readings []float64) { n += len(readings) }, func(err error) { told = append(told, fmt.Sprint(err)) })
		}()
		time.Sleep(35 * time.Second)
		stop()
		<-ended
		if n != 4 || len(told) != 2 || told[1] != "<nil>" || r.Failed() != 2 {
			t.Errorf("%d readings, told %q, %d failures", n, told, r.Failed())
		}
		if strings.Contains(told[0], "gpu/metrics") {
			t.Errorf("it tells the URL: %s", told[0])
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(page))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := New(Target{})
		readings, err := r.target.parse(data, now)
		if (err == nil) != (len(readings) > 0) {
			t.Errorf("%v, %v", readings, err)
		}
		for _, v := range readings {
			if !(v >= 0 && v <= 1) {
				t.Errorf("a reading of %v", v)
			}
		}
	})
}
