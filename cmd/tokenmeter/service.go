//go:build !lean

package main

const lean = false

// service is the commands around live traffic. The build tag lean leaves them
// out, with SQLite, OpenTelemetry and Prometheus, and Parquet too: a run stays a
// journal. Such a binary is built from nothing in a third of the time.
type service struct {
	Serve serveCmd `cmd:"" help:"Run the daemon: a measuring proxy in front of your servers, with objectives on live traffic."`
	Proxy proxyCmd `cmd:"" help:"Pass requests on to one server and measure the replies: the daemon without a file."`
	Probe probeCmd `cmd:"" help:"Ask servers the same few things at times of the day, within a budget; medians over 72 hours."`
	Trend trendCmd `cmd:"" help:"Say when TTFT, TPOT, errors or costs of probes and runs changed, by how much, and how sure that is."`
	SLO   sloCmd   `cmd:"" name:"slo" help:"Objectives with error budgets: check and report them, write Prometheus rules."`
}
