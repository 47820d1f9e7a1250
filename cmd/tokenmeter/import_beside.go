//go:build !lean

package main

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"tokenmeter/base/secret"
	"tokenmeter/record/imports"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/wire/scrape"
)

// readServerReadings plays readings of servers as if they had been read now, and lays them
// beside the requests. zeroS is when the run's clock begins, NaN where nothing tells:
// then it begins with the first reading, and all counts.
func readServerReadings(files []*imports.Input, zeroS float64, all *span, m *run.Run) ([]metric.ServerSample, error) {
	if len(files) == 0 {
		return nil, nil
	}
	fromUS, toUS := all.fromUS, all.toUS
	unknown := zeroS != zeroS || fromUS > toUS
	if unknown {
		fromUS, toUS = 0, math.MaxInt64
	}
	replay := scrape.NewReplay(fromUS, toUS, secret.RedactURL)
	fileOf := map[string]string{} // each page's
	for _, in := range files {
		kind, first, last := imports.RecogniseReadings(in.Head()), int64(math.MaxInt64), int64(math.MinInt64)
		err := kind.Read(in, func(r *imports.Reading) error {
			if zeroS != zeroS {
				zeroS = float64(r.AtNS) / 1e9
			}
			if other := cmp.Or(fileOf[r.URL], in.Name); other != in.Name {
				return fmt.Errorf("%s and %s hold readings of the same page, %s: name one of them", other, in.Name, secret.RedactURL(r.URL))
			}
			fileOf[r.URL] = in.Name
			at := r.AtNS/1e3 - int64(zeroS*1e6)
			first, last = min(first, at), max(last, at)
			if err := replay.Read(&scrape.Reading{URL: r.URL, AtUS: at, Early: r.Early, Page: r.Page, Mean: r.Mean, Least: r.Least, Most: r.Most, Times: r.Times, EveryS: r.EveryS}); err != nil {
				return fmt.Errorf("%s: %w", in.Name, err)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if !unknown && (first > toUS || last < fromUS) {
			day := func(us int64) string { return time.UnixMicro(us + int64(zeroS*1e6)).UTC().Format(time.RFC3339) }
			return nil, fmt.Errorf("%s was read from %s to %s, and the requests ran from %s to %s: they are not of one run", in.Name, day(first), day(last), day(fromUS), day(toUS))
		}
	}
	told, samples, warnings := replay.Summary()
	if told == nil {
		return nil, fmt.Errorf("%s: none of its metrics is known", files[0].Name)
	}
	m.ServerMetrics, m.Noticed = told, append(m.Noticed, warnings...)
	return samples, nil
}
