package imports

import (
	"bytes"
	"errors"
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

func isServerLines(head []byte) bool {
	return bytes.Contains(head, []byte(`"endpoint_url"`)) && bytes.Contains(head, []byte(`"timestamp_ns"`)) && bytes.Contains(head, []byte(`"endpoint_latency_ns"`))
}

func readServerLines(in *Input, take func(*Reading) error) error {
	all := newGathered()
	err := eachLine(in, func(at int64, v *aiperfPage) error {
		if v.AtNS == nil || *v.AtNS < 0 {
			return in.at(at, errNoMoment)
		}
		of := moment{v.URL, *v.AtNS}
		p := all.page(of)
		all.early[of] = v.Phase != nil && *v.Phase != "profiling"
		for name, series := range v.Metrics {
			for i := range series {
				s := &series[i]
				p.line(name, "", s.Labels, "", s.Value)
				p.histogram(name, s.Labels, s.Buckets, s.Sum, s.Count)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return all.hand(take)
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

func isServerSums(head []byte) bool {
	return bytes.Contains(head, []byte(`"endpoints_configured"`)) && bytes.Contains(head, []byte(`"endpoint_info"`))
}

func readServerSums(in *Input, take func(*Reading) error) error {
	var v aiperfServer
	if err := in.whole(&v); err != nil {
		return err
	}
	var none, grown, mean, least, most page
	for url, about := range v.Summary.Pages {
		for _, p := range []*page{&none, &grown, &mean, &least, &most} {
			p.Reset()
		}
		zero := 0.0
		for name, m := range v.Metrics {
			for i := range m.Series {
				s := &m.Series[i]
				st := &s.Stats
				switch {
				case s.URL != url:
				case s.Buckets != nil:
					nothing := map[string]float64{}
					for le := range s.Buckets {
						nothing[le] = 0
					}
					none.histogram(name, s.Labels, nothing, &zero, &zero)
					grown.histogram(name, s.Labels, s.Buckets, st.Sum, st.Count)
				case st.Total != nil:
					none.line(name, "", s.Labels, "", &zero)
					grown.line(name, "", s.Labels, "", st.Total)
				default:
					mean.line(name, "", s.Labels, "", st.Mean)
					least.line(name, "", s.Labels, "", st.Min)
					most.line(name, "", s.Labels, "", st.Max)
				}
			}
		}
		from, to := about.FirstNS, about.LastNS
		if p, ok := v.Summary.Phases["profiling"]; ok {
			from, to = p.StartNS, p.EndNS
		}
		if from < 0 || to < from {
			return in.at(0, errNoMoment)
		}
		if err := take(&Reading{URL: url, AtNS: from, Early: true, Page: none.Bytes()}); err != nil {
			return err
		}
		last := &Reading{URL: url, AtNS: to, Page: grown.Bytes(), Mean: mean.Bytes(), Least: least.Bytes(), Most: most.Bytes(), Times: max(about.Fetches-1, 1)}
		if n := about.Fetches; n > 1 {
			last.EveryS = float64(about.LastNS-about.FirstNS) / 1e9 / float64(n-1)
		}
		if err := take(last); err != nil {
			return err
		}
	}
	if len(v.Summary.Pages) == 0 {
		return in.at(0, errors.New("the file tells of no page that was read"))
	}
	return nil
}
