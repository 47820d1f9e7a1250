package validity

import (
	"fmt"

	"tokenmeter/metric"
	"tokenmeter/timeline"
)

// clientLag asks whether the client's own slowness hid when tokens came. With
// the kernel's stamps it can only do so where segments waited so long that the
// kernel merged them; elsewhere the stamp is right however late it was read.
func clientLag(f *Facts) (Check, bool) {
	b := bounds{0.10, 0.50}
	lag, stamped := f.ChargedLagP99MS.Get()
	gap, paced := f.MedianGapMS.Get()
	switch {
	case !stamped:
		return b.above("client_lag", opt{}, "No kernel stamps, so the client's lag is part of the times and can't be told from the server's."), true
	case !paced || gap <= 0:
		return b.above("client_lag", opt{}, "No gaps between tokens to hold the client's lag against."), true
	}
	all := f.LagP99MS.Or(0)
	says := fmt.Sprintf("99 of 100 events were read within %s of their arrival, whose time the kernel keeps; the median gap is %s.", ms(all), ms(gap))
	if lag > 0 {
		says = fmt.Sprintf("Events that had to wait for the client and lost their own time waited up to %s (p99); the median gap is %s.", ms(lag), ms(gap))
	}
	return b.above("client_lag", timeline.Some(lag/gap), says).
		advise("Use fewer streams, more --workers, or a quieter machine."), true
}

// sendLate asks whether requests left when they were due. In a closed loop
// nothing is due.
func sendLate(f *Facts) (Check, bool) {
	if !f.OpenLoop {
		return Check{}, false
	}
	b := bounds{5, 50}
	late, ok := f.SendLateP99MS.Get()
	if !ok {
		return b.above("send_late", opt{}, "No request was sent."), true
	}
	says := fmt.Sprintf("99 of 100 requests left within %s of the time they were due.", ms(late))
	if f.CapReached {
		says = fmt.Sprintf("99 of 100 requests left within %s of the time they were due and a slot of the cap was free.", ms(late))
	}
	return b.above("send_late", f.SendLateP99MS, says).
		advise("The client can't keep up with the rate: use more --workers, or a quieter machine."), true
}

// achieved asks whether the asked rate was sent.
func achieved(f *Facts) (Check, bool) {
	if !f.OpenLoop {
		return Check{}, false
	}
	b := bounds{0.99, 0.95}
	ratio, ok := f.AchievedOverOffered.Get()
	if !ok {
		return b.under("achieved_over_offered", opt{}, "Too few requests to tell a rate."), true
	}
	says := fmt.Sprintf("%s requests/s were sent of %s/s due (%s).",
		metric.Significant(f.AchievedPerS.Or(0), 4), metric.Significant(f.OfferedPerS.Or(0), 4), percent(ratio))
	advice := "The client could not send at this rate: use more --workers, or a quieter machine."
	if f.CapReached {
		advice = fmt.Sprintf("The cap of %d in flight held requests back: raise --concurrency, or lower --rate to what the server sustains.", f.Concurrency)
	}
	return b.under("achieved_over_offered", f.AchievedOverOffered, says).advise("%s", advice), true
}

// cpuBusy asks whether the load generator had processor time to spare.
func cpuBusy(f *Facts) (Check, bool) {
	b := bounds{0.70, 0.90}
	busy, ok := f.Client.CPUBusy.Get()
	if !ok {
		return b.above("cpu_busy", opt{}, "How busy the client's processors were is not known on this system."), true
	}
	return b.above("cpu_busy", f.Client.CPUBusy,
		fmt.Sprintf("The cores that the client may use were %s busy.", percent(busy))).
		advise("Use a larger or quieter machine, or fewer streams; do not run the server on the same cores."), true
}

// steal asks whether somebody took the processor away: another guest of the
// host, or the quota of a container.
func steal(f *Facts) (Check, bool) {
	b := bounds{0.02, 0.10}
	stolen, known := f.Client.Steal.Get()
	throttled, quota := f.Client.Throttled.Get()
	switch {
	case !known && !quota:
		return b.above("steal", opt{}, "Stolen and throttled time are not known on this system."), true
	case throttled > stolen:
		return b.above("steal", f.Client.Throttled,
			fmt.Sprintf("The container's CPU quota stopped the client for %s of the time.", percent(throttled))).
			advise("Raise the quota, or lower GOMAXPROCS to it."), true
	}
	return b.above("steal", timeline.Some(stolen),
		fmt.Sprintf("The host took %s of the processor time away.", percent(stolen))).
		advise("Use a machine that is not shared."), true
}

// clientErrors: a request that failed for want of descriptors or ports says
// nothing about the server, and the load was not the one that was asked for.
func clientErrors(f *Facts) (Check, bool) {
	if f.ClientErrors == 0 {
		return Check{}, false
	}
	share := float64(f.ClientErrors) / float64(max(f.Requests, 1))
	return bounds{0, 0.01}.above("client_errors", timeline.Some(share),
		fmt.Sprintf("%d of %d requests failed in the client itself (client_resource).", f.ClientErrors, f.Requests)).
		advise("Raise the limit of open files (ulimit -n), or keep connections alive."), true
}
