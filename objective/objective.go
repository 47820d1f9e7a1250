// Package objective is one grammar for promises ("p99 tpot < 120ms") and one
// predicate on records, used by bench, sweep, compare, the service levels and
// the proxy alike.
package objective

// Objective is one parsed promise.
type Objective struct {
	Text       string  // as written, normalised
	Metric     string  // name without unit: ttft, tpot, itl, e2e, error_rate, goodput, …
	Stat       string  // "p99", "mean", "max"; empty for ratios
	Percentile float64 // 0.99 for p99; 0 otherwise
	Op         string  // <, <=, >, >=
	Limit      float64 // in the metric's own unit (ms, tokens/s, ratio)
	Valid      string  // "" or "success": failed requests leave the sample
}
