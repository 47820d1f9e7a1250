package validity

import (
	"fmt"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// clientLag asks whether the client's own slowness hid when tokens came. With
// the kernel's stamps it can only do so where segments waited so long that the
// kernel merged them; elsewhere the stamp is right however late it was read.
func clientLag(r *Rule, f *Facts) (Check, bool) {
	lag, stamped := f.ChargedLagP99MS.Get()
	gap, paced := f.MedianGapMS.Get()
	switch {
	case !stamped:
		return r.judge(opt{}, "No kernel stamps, so the client's lag is part of the times and can't be told from the server's."), true
	case !paced || gap <= 0:
		return r.judge(opt{}, "No gaps between tokens to hold the client's lag against."), true
	}
	all := f.LagP99MS.Or(0)
	says := fmt.Sprintf("99 of 100 events were read within %s of their arrival, whose time the kernel keeps; the median gap is %s.", ms(all), ms(gap))
	if lag > 0 {
		says = fmt.Sprintf("Events that had to wait for the client and lost their own time waited up to %s (p99); the median gap is %s.", ms(lag), ms(gap))
	}
	return r.judge(timeline.Some(lag/gap), says).
		advise("Use fewer streams, more --workers, or a quieter machine."), true
}

// sendLate asks whether requests left when they were due. In a closed loop
// nothing is due.
func sendLate(r *Rule, f *Facts) (Check, bool) {
	if !f.OpenLoop {
		return Check{}, false
	}
	late, ok := f.SendLateP99MS.Get()
	if !ok {
		return r.judge(opt{}, "No request was sent."), true
	}
	says := fmt.Sprintf("99 of 100 requests left within %s of the time they were due.", ms(late))
	if f.CapReached || f.PrefillCap > 0 {
		says = fmt.Sprintf("99 of 100 requests left within %s of the time they were due and a slot of the cap was free.", ms(late))
	}
	return r.judge(f.SendLateP99MS, says).
		advise("The client can't keep up with the rate: use more --workers, or a quieter machine."), true
}

// achieved asks whether the asked rate was sent.
func achieved(r *Rule, f *Facts) (Check, bool) {
	if !f.OpenLoop {
		return Check{}, false
	}
	ratio, ok := f.AchievedOverOffered.Get()
	if !ok {
		return r.judge(opt{}, "Too few requests to tell a rate."), true
	}
	says := fmt.Sprintf("%s (%s).", f.RateKept(), percent(ratio))
	advice := "The client could not send at this rate: use more --workers, or a quieter machine."
	switch {
	case f.CapReached:
		advice = fmt.Sprintf("The cap of %d in flight held requests back: raise --concurrency, or lower --rate to what the server sustains.", f.Concurrency)
	case f.PrefillCap > 0:
		advice = fmt.Sprintf("The cap of %d without a first token held requests back: raise --prefill-concurrency, or lower --rate to what the server sustains.", f.PrefillCap)
	}
	return r.judge(f.AchievedOverOffered, says).advise("%s", advice), true
}

// cpuBusy asks whether the load generator had processor time to spare.
func cpuBusy(r *Rule, f *Facts) (Check, bool) {
	busy, ok := f.Client.CPUBusy.Get()
	if !ok {
		return r.judge(opt{}, "How busy the client's processors were is not known on this system."), true
	}
	c := r.judge(f.Client.CPUBusy, fmt.Sprintf("The cores that the client may use were %s busy.", percent(busy)))
	if !f.stampsHold {
		return c.advise("Use a larger or quieter machine, or fewer streams; do not run the server on the same cores."), true
	}
	// The kernel keeps the time of an arrival until it is read, however late.
	c.Figures = []string{Throughput, Delay}
	if c.Verdict == Invalid {
		c.Verdict, c.Limit = Suspect, timeline.Some(r.Suspect)
	}
	return c.advise("TTFT, TPOT, gaps and E2E are safe: the kernel stamped them; rates and lateness are not. Use a quieter machine, or fewer streams, where you need those."), true
}

// steal asks whether somebody took the processor away: another guest of the
// host, or the quota of a container.
func steal(r *Rule, f *Facts) (Check, bool) {
	stolen, known := f.Client.Steal.Get()
	throttled, quota := f.Client.Throttled.Get()
	switch {
	case !known && !quota:
		return r.judge(opt{}, "Stolen and throttled time are not known on this system."), true
	case throttled > stolen:
		return r.judge(f.Client.Throttled,
			fmt.Sprintf("The container's CPU quota stopped the client for %s of the time.", percent(throttled))).
			advise("Raise the quota, or lower GOMAXPROCS to it."), true
	}
	return r.judge(timeline.Some(stolen),
		fmt.Sprintf("The host took %s of the processor time away.", percent(stolen))).
		advise("Use a machine that is not shared."), true
}

// clientErrors: a request that failed for want of descriptors or ports says
// nothing about the server, and the load was not the one that was asked for.
func clientErrors(r *Rule, f *Facts) (Check, bool) {
	if f.ClientErrors == 0 {
		return Check{}, false
	}
	share := float64(f.ClientErrors) / float64(max(f.Requests, 1))
	return r.judge(timeline.Some(share),
		fmt.Sprintf("%d of %s failed in the client itself (client_resource).", f.ClientErrors, metric.Plural(f.Requests, "request"))).
		advise("Raise the limit of open files (ulimit -n), or keep connections alive."), true
}
