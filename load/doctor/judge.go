package doctor

import (
	"fmt"
	"math"
	"strings"
	"time"

	"tokenmeter/load/machine"
	"tokenmeter/record/timeline"
)

// The limits of the machine's checks. Those that a run judges itself by are
// the same there.
const (
	filesFew     = 1024
	filesNone    = 64
	timeWaitMuch = 0.5  // of the ports
	busyMuch     = 0.70 // of the cores
	stealMuch    = 0.02
	lateMuch     = time.Millisecond
	errorMuch    = 1000.0 // ms, of the wall clock
)

// judge says what the machine's state means for a measurement.
func judge(s state) []Check {
	list := []Check{
		openFiles(s.settings), ports(s.settings), cores(s.env), load(s.env, s.usage), steal(s.usage),
		governor(s.settings), clockSource(s.settings), wallClock(s.settings, s.stepUS),
		timer(s.timer), kernelStamps(s.stamps),
	}
	for i := range list {
		list[i].Of = OfMachine
	}
	return list
}

func openFiles(s machine.Settings) Check {
	c := Check{Name: "open_files", Verdict: OK, Facts: facts{"soft": orNull(s.SoftFiles), "hard": orNull(s.HardFiles)}}
	soft, limited := s.SoftFiles.Get()
	hard, capped := s.HardFiles.Get()
	most := soft
	if capped {
		most = max(soft, hard) // bench lifts its limit itself
	}
	switch {
	case !limited:
		c.Value = "no limit, or none is known"
		return c
	case !capped:
		c.Value = fmt.Sprintf("%d, no hard limit", soft)
		return c
	case soft == hard:
		c.Value = fmt.Sprintf("%d", soft)
	default:
		c.Value = fmt.Sprintf("%d, raised to %d when needed", soft, hard)
	}
	if most < filesFew {
		c.warn("about %d requests can be in flight; raise the limit: ulimit -n 65536, or LimitNOFILE= of the service", max(most-filesNone, 0))
	}
	if most < filesNone {
		c.Verdict = Fail
	}
	return c
}

func ports(s machine.Settings) Check {
	c := Check{Name: "ports", Verdict: OK, Value: fmt.Sprintf("%d for connections to one address", s.Ports),
		Facts: facts{"ports": s.Ports, "time_wait": orNull(s.TimeWait)}}
	held, known := s.TimeWait.Get()
	if !known {
		return c
	}
	c.Value += fmt.Sprintf(", %d of them held by closed ones (TIME_WAIT)", held)
	if float64(held) > timeWaitMuch*float64(s.Ports) {
		c.warn("something opens and closes connections quickly: keep them alive, or wait %d s; net.ipv4.ip_local_port_range widens the range", machine.TimeWaitS)
	}
	return c
}

func cores(e machine.Environment) Check {
	c := Check{Name: "cores", Verdict: OK, Value: fmt.Sprintf("%d, of which this program uses %d at once", e.CPUs, e.MaxProcs),
		Facts: facts{"cpus": e.CPUs, "gomaxprocs": e.MaxProcs, "cpu_quota": orNull(e.CPUQuota),
			"container": e.Container, "cpu_model": textOrNull(e.CPUModel)}}
	quota, limited := e.CPUQuota.Get()
	if !limited {
		return c
	}
	c.Value += fmt.Sprintf("; a quota of %.2g", quota)
	switch {
	case float64(e.MaxProcs) > math.Ceil(quota):
		c.warn("more threads than the quota pays for are stopped in turn: set GOMAXPROCS=%d, or raise the quota", max(int(quota), 1))
	case quota < 1:
		c.warn("less than one core: the program is stopped for a part of every period; raise the quota to 2 or more")
	}
	return c
}

func load(e machine.Environment, u machine.Usage) Check {
	c := Check{Name: "load", Facts: facts{"cpu_busy": orNull(u.CPUBusy), "load1": orNull(e.Load1)}}
	busy, known := u.CPUBusy.Get()
	var parts []string
	if known {
		c.Verdict = OK
		parts = append(parts, fmt.Sprintf("%.0f %% of the cores busy now", 100*busy))
	}
	if l, ok := e.Load1.Get(); ok {
		parts = append(parts, fmt.Sprintf("load average %.2f", l))
	}
	if c.Value = strings.Join(parts, ", "); c.Value == "" {
		c.Value = "not known on this system"
	}
	if busy > busyMuch {
		c.warn("other work takes the processor: stop it, or measure from another machine")
	}
	return c
}

func steal(u machine.Usage) Check {
	c := Check{Name: "steal", Facts: facts{"steal": orNull(u.Steal), "throttled": orNull(u.Throttled)}, Value: "not known on this system"}
	stolen, known := u.Steal.Get()
	if known {
		c.Verdict, c.Value = OK, fmt.Sprintf("%.1f %% of the time taken by a hypervisor", 100*stolen)
	}
	if t, ok := u.Throttled.Get(); ok {
		c.Value += fmt.Sprintf(", %.1f %% by the quota", 100*t)
		stolen = max(stolen, t)
	}
	if stolen > stealMuch {
		c.warn("arrivals come late in clumps while the machine is stopped: use a machine or quota of its own")
	}
	return c
}

func governor(s machine.Settings) Check {
	c := Check{Name: "governor", Verdict: OK, Value: s.Governor, Facts: facts{"governor": textOrNull(s.Governor)}}
	switch {
	case s.Governor == "":
		c.Verdict, c.Value = "", "not told (usual in virtual machines)"
	case strings.Contains(s.Governor, "powersave"), strings.Contains(s.Governor, "ondemand"), strings.Contains(s.Governor, "conservative"):
		c.warn("a core that sleeps deep wakes late: cpupower frequency-set -g performance")
	}
	return c
}

// slowClocks are read through a device or an emulation, in microseconds.
var slowClocks = []string{"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"}

func clockSource(s machine.Settings) Check {
	c := Check{Name: "clock_source", Verdict: OK, Value: s.ClockSource, Facts: facts{"clock_source": textOrNull(s.ClockSource)}}
	if s.ClockSource == "" {
		c.Verdict, c.Value = "", "not known on this system"
	}
	for _, slow := range slowClocks {
		if s.ClockSource == slow {
			c.warn("reading this clock is slow or coarse: boot with clocksource=tsc where the processor has a steady one")
		}
	}
	return c
}

func wallClock(s machine.Settings, stepUS timeline.Opt[int64]) Check {
	c := Check{Name: "wall_clock", Facts: facts{"synced": orNull(s.ClockSynced), "error_ms": orNull(s.ClockErrorMS), "step_ms": ms(stepUS)}}
	synced, known := s.ClockSynced.Get()
	bound, bounded := s.ClockErrorMS.Get()
	switch {
	case stepUS.OK():
		c.Verdict = Warn
		c.Value = fmt.Sprintf("it was set by %.3g ms while we looked", float64(stepUS.Or(0))/1000)
		c.Fix = "times are taken on the steady clock and hold; let the time service settle before logs of two machines are compared"
	case !known:
		c.Value = "not known on this system"
	case !synced:
		c.Verdict, c.Value = Warn, "no time service disciplines it"
		c.Fix = "latencies are not affected; start chrony or systemd-timesyncd before logs of two machines are compared (in a virtual machine or container the host may do it)"
	case bounded && bound > errorMuch:
		c.Verdict = Warn
		c.Value = fmt.Sprintf("disciplined, but it may be off by %.0f ms", bound)
		c.Fix = "latencies are not affected; check the time service's sources"
	case bounded:
		c.Verdict, c.Value = OK, fmt.Sprintf("disciplined, off by at most %.3g ms", bound)
	default:
		c.Verdict, c.Value = OK, "disciplined"
	}
	return c
}

func timer(l lateness) Check {
	c := Check{Name: "timer", Facts: facts{"waits": l.n, "exact": l.exact}}
	if l.n == 0 {
		c.Value = "not measured"
		return c
	}
	c.Verdict = OK
	c.Facts["late_p50_ms"], c.Facts["late_p99_ms"] = inMS(l.p50), inMS(l.p99)
	c.Value = fmt.Sprintf("waits end %.3g ms late (p50), %.3g ms (p99)", inMS(l.p50), inMS(l.p99))
	if !l.exact {
		c.Value += ", on an ordinary timer"
	}
	if l.p99 > lateMuch {
		c.warn("requests of an open loop leave that much late (their latency counts from when they were due): use a quieter machine")
		if !l.exact {
			c.Fix = "requests of an open loop leave that much late (their latency counts from when they were due): Linux waits exactly"
		}
	}
	return c
}

func kernelStamps(s stamps) Check {
	c := Check{Name: "stamps", Facts: facts{"clock": textOrNull(string(s.clock)), "tokens": s.tokens}}
	switch {
	case s.err != "":
		c.Value = s.err
		return c
	case s.tokens == 0:
		c.Value = "not measured"
		return c
	}
	c.Facts["write_to_stamp_p50_ms"], c.Facts["write_to_stamp_p99_ms"] = inMS(at(s.after, 0.5)), inMS(at(s.after, 0.99))
	c.Facts["lag_p50_ms"], c.Facts["lag_p99_ms"] = inMS(at(s.lag, 0.5)), inMS(at(s.lag, 0.99))
	c.Facts["before_write"] = s.early
	where := "by the kernel"
	if s.clock != timeline.Kernel {
		where = "when they are read"
	}
	c.Verdict = OK
	c.Value = fmt.Sprintf("arrivals are stamped %s, %.3g ms after the write (p50), %.3g ms (p99); read %.3g ms later (p99)",
		where, inMS(at(s.after, 0.5)), inMS(at(s.after, 0.99)), inMS(at(s.lag, 0.99)))
	switch {
	case s.clock != timeline.Kernel:
		c.warn("a busy client then makes the server look slow: keep this machine's load low, and watch client_lag; Linux outside a sandbox such as gVisor stamps in the kernel")
	case 50*s.early > s.tokens:
		c.Verdict = Warn
		c.Value += fmt.Sprintf("; %d of %d before the write", s.early, s.tokens)
		c.Fix = "the kernel's stamps can't be right, the wall clock may have been set: run it again once the time service has settled"
	}
	return c
}
