package imports

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// aiperfPage is a line of server_metrics_export.jsonl: what a page of metrics said, a
// line a reading that differs from the one before. Source: AIPerf 0.13.0,
// aiperf/common/models/server_metrics_models.py, SlimRecord.
type aiperfPage struct {
	URL     string  `json:"endpoint_url"`
	AtNS    *int64  `json:"timestamp_ns"`
	Phase   *string `json:"benchmark_phase"`
	Metrics map[string][]struct {
		Labels  map[string]string  `json:"labels"`
		Value   *float64           `json:"value"`
		Buckets map[string]float64 `json:"buckets"`
		Sum     *float64           `json:"sum"`
		Count   *float64           `json:"count"`
	} `json:"metrics"`
}

func readServerLines(in *Input, take func(*Reading) error) error {
	return inTime(in, func() pageLine { return new(aiperfPage) }, take)
}

func (v *aiperfPage) when() (of moment, early, ok bool) {
	if v.AtNS == nil {
		return of, false, false
	}
	return moment{v.URL, *v.AtNS}, v.Phase != nil && *v.Phase != "profiling", true
}

func (v *aiperfPage) write(p *page) {
	for _, name := range slices.Sorted(maps.Keys(v.Metrics)) {
		series := v.Metrics[name]
		for i := range series {
			s := &series[i]
			p.line(name, "", s.Labels, "", s.Value)
			p.histogram(name, s.Labels, s.Buckets, s.Sum, s.Count)
		}
	}
}

var errNoMoment = errors.New("the reading has no timestamp_ns, without which it can't be laid beside requests")

// aiperfServer is server_metrics_export.json: figures of the measured part alone.
// Source: the same, ServerMetricsExportData.
type aiperfServer struct {
	Summary struct {
		Pages map[string]struct {
			Fetches int64 `json:"total_fetches"`
			FirstNS int64 `json:"first_fetch_ns"`
			LastNS  int64 `json:"last_fetch_ns"`
		} `json:"endpoint_info"`
		Phases map[string]struct {
			StartNS int64 `json:"start_ns"`
			EndNS   int64 `json:"end_ns"`
		} `json:"phase_time_ranges"`
	} `json:"summary"`
	Metrics map[string]struct {
		Series []struct {
			URL    string            `json:"endpoint_url"`
			Labels map[string]string `json:"labels"`
			Stats  struct {
				Mean  *float64 `json:"avg"`
				Min   *float64 `json:"min"`
				Max   *float64 `json:"max"`
				Total *float64 `json:"total"`
				Sum   *float64 `json:"sum"`
				Count *float64 `json:"count"`
			} `json:"stats"`
			Buckets map[string]float64 `json:"buckets"`
		} `json:"series"`
	} `json:"metrics"`
}

// mostPages bounds how many pages a file has figures of.
const mostPages = 1 << 10

func readServerSums(in *Input, take func(*Reading) error) error {
	var v aiperfServer
	if err := in.whole(&v); err != nil {
		return err
	}
	if len(v.Summary.Pages) == 0 {
		return in.at(0, errors.New("the file tells of no page that was read"))
	}
	if n := len(v.Summary.Pages); n > mostPages {
		return in.at(0, fmt.Errorf("the file tells of %d pages, over the %d that are read", n, mostPages))
	}
	urls := slices.Sorted(maps.Keys(v.Summary.Pages))
	for _, ends := range []bool{false, true} { // all begin before one ends
		for _, url := range urls {
			if err := v.reading(in, url, ends, take); err != nil {
				return err
			}
		}
	}
	return nil
}

// reading hands on what a page had when the measured part began, or what it grew and was
// until that ended.
func (v *aiperfServer) reading(in *Input, url string, ends bool, take func(*Reading) error) error {
	about := v.Summary.Pages[url]
	from, to := about.FirstNS, about.LastNS
	if p, ok := v.Summary.Phases["profiling"]; ok {
		from, to = p.StartNS, p.EndNS
	}
	if min(from, about.FirstNS) < 0 || to < from || about.LastNS < about.FirstNS || about.Fetches < 0 {
		return in.at(0, errNoMoment)
	}
	pages := [4]page{}
	now, mean, least, most := &pages[0], &pages[1], &pages[2], &pages[3]
	for i := range pages {
		pages[i].most = mostPage
	}
	zero := 0.0
	for _, name := range slices.Sorted(maps.Keys(v.Metrics)) {
		series := v.Metrics[name].Series
		for i := range series {
			s := &series[i]
			buckets, st := s.Buckets, s.Stats
			switch {
			case s.URL != url:
				continue
			case !ends: // counters stood at 0
				buckets = map[string]float64{}
				for le := range s.Buckets {
					buckets[le] = 0
				}
				st.Sum, st.Count = &zero, &zero
				if st.Total != nil {
					st.Total = &zero
				}
				st.Mean, st.Min, st.Max = nil, nil, nil
			}
			switch {
			case s.Buckets != nil:
				now.histogram(name, s.Labels, buckets, st.Sum, st.Count)
			case st.Total != nil:
				now.line(name, "", s.Labels, "", st.Total)
			default:
				mean.line(name, "", s.Labels, "", st.Mean)
				least.line(name, "", s.Labels, "", st.Min)
				most.line(name, "", s.Labels, "", st.Max)
			}
		}
	}
	for i := range pages {
		if pages[i].full {
			return in.at(0, errLargePage)
		}
	}
	if !ends {
		if now.Len() == 0 { // gauges alone, which nothing is known of yet
			return nil
		}
		return take(&Reading{URL: url, AtNS: from, Early: true, Page: now.Bytes()})
	}
	last := &Reading{URL: url, AtNS: to, Page: now.Bytes(), Mean: mean.Bytes(), Least: least.Bytes(), Most: most.Bytes(), Times: max(about.Fetches-1, 1)}
	if n := about.Fetches; n > 1 {
		last.EveryS = float64(about.LastNS-about.FirstNS) / 1e9 / float64(n-1)
	}
	return take(last)
}
