package doctor

import (
	"strings"
	"testing"
	"time"

	"tokenmeter/load/machine"
	"tokenmeter/record/timeline"
)

// calm is a machine on which everything is as it should be.
func calm() state {
	return state{
		env: machine.Environment{CPUs: 8, MaxProcs: 8, Load1: timeline.Some(0.2)},
		settings: machine.Settings{SoftFiles: timeline.Some[int64](65536), HardFiles: timeline.Some[int64](1 << 20), Ports: 28232,
			TimeWait: timeline.Some[int64](3), Governor: "performance", ClockSource: "tsc",
			ClockSynced: timeline.Some(true), ClockErrorMS: timeline.Some(12.5)},
		usage:  machine.Usage{CPUBusy: timeline.Some(0.05), Steal: timeline.Some(0.0)},
		timer:  lateness{n: 200, exact: true, p50: 20 * time.Microsecond, p99: 90 * time.Microsecond},
		stamps: stamps{clock: timeline.Kernel, tokens: 100, after: []time.Duration{20 * time.Microsecond}, lag: []time.Duration{30 * time.Microsecond}},
	}
}

func find(t *testing.T, checks []Check, name string) Check {
	t.Helper()
	for _, c := range checks {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("there is no check %s", name)
	return Check{}
}

func TestACalmMachineIsFine(t *testing.T) {
	checks := judge(calm())
	if len(checks) != 10 {
		t.Errorf("%d checks", len(checks))
	}
	for _, c := range checks {
		if c.Verdict != OK || c.Fix != "" || c.Value == "" || c.Of != OfMachine || c.Facts == nil {
			t.Errorf("%+v", c)
		}
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	some := func(n int64) timeline.Opt[int64] { return timeline.Some(n) }
	for _, test := range []struct {
		name    string
		change  func(*state)
		check   string
		verdict Verdict
		value   string // part of it
		fix     string // part of it; empty: there is none
	}{
		{"few files", func(s *state) { s.settings.SoftFiles, s.settings.HardFiles = some(256), some(512) }, "open_files", Warn, "256, raised to 512", "about 448 requests"},
		{"no files", func(s *state) { s.settings.SoftFiles, s.settings.HardFiles = some(32), some(32) }, "open_files", Fail, "32", "about 0 requests"},
		{"soft only", func(s *state) { s.settings.SoftFiles, s.settings.HardFiles = some(256), some(4096) }, "open_files", OK, "raised to 4096", ""},
		{"no hard limit", func(s *state) { s.settings.HardFiles = timeline.Opt[int64]{} }, "open_files", OK, "no hard limit", ""},
		{"no limit", func(s *state) { s.settings = machine.Settings{} }, "open_files", OK, "no limit", ""},
		{"ports held", func(s *state) { s.settings.TimeWait = some(20000) }, "ports", Warn, "20000 of them held by closed ones", "wait 60 s"},
		{"ports unknown", func(s *state) { s.settings.TimeWait = timeline.Opt[int64]{} }, "ports", OK, "28232 for", ""},
		{"quota", func(s *state) { s.env.CPUQuota = timeline.Some(2.0) }, "cores", Warn, "a quota of 2", "GOMAXPROCS=2"},
		{"quota kept", func(s *state) { s.env.CPUQuota, s.env.MaxProcs = timeline.Some(2.0), 2 }, "cores", OK, "a quota of 2", ""},
		{"half a core", func(s *state) { s.env.CPUQuota, s.env.MaxProcs = timeline.Some(0.5), 1 }, "cores", Warn, "a quota of 0.5", "less than one core"},
		{"busy", func(s *state) { s.usage.CPUBusy = timeline.Some(0.9) }, "load", Warn, "90 %", "other work"},
		{"load unknown", func(s *state) { s.usage, s.env.Load1 = machine.Usage{}, timeline.Opt[float64]{} }, "load", "", "not known", ""},
		{"stolen", func(s *state) { s.usage.Steal = timeline.Some(0.03) }, "steal", Warn, "3.0 %", "late in clumps"},
		{"throttled", func(s *state) { s.usage.Throttled = timeline.Some(0.2) }, "steal", Warn, "20.0 % by the quota", "late in clumps"},
		{"steal unknown", func(s *state) { s.usage.Steal = timeline.Opt[float64]{} }, "steal", "", "not known", ""},
		{"slow governor", func(s *state) { s.settings.Governor = "performance, powersave" }, "governor", Warn, "powersave", "cpupower"},
		{"other governor", func(s *state) { s.settings.Governor = "schedutil" }, "governor", OK, "schedutil", ""},
		{"no governor", func(s *state) { s.settings.Governor = "" }, "governor", "", "not told", ""},
		{"slow clock", func(s *state) { s.settings.ClockSource = "hpet" }, "clock_source", Warn, "hpet", "clocksource=tsc"},
		{"no clock source", func(s *state) { s.settings.ClockSource = "" }, "clock_source", "", "not known", ""},
		{"no time service", func(s *state) {
			s.settings.ClockSynced, s.settings.ClockErrorMS = timeline.Some(false), timeline.Opt[float64]{}
		}, "wall_clock", Warn, "no time service", "latencies are not affected"},
		{"far off", func(s *state) { s.settings.ClockErrorMS = timeline.Some(2000.0) }, "wall_clock", Warn, "off by 2000 ms", "sources"},
		{"step", func(s *state) { s.stepUS = some(-250_000) }, "wall_clock", Warn, "set by -250 ms", "steady clock"},
		{"sync unknown", func(s *state) { s.settings.ClockSynced = timeline.Opt[bool]{} }, "wall_clock", "", "not known", ""},
		{"late", func(s *state) { s.timer.p99 = 4 * time.Millisecond }, "timer", Warn, "4 ms (p99)", "quieter machine"},
		{"coarse", func(s *state) { s.timer = lateness{n: 200, p50: time.Millisecond, p99: 15 * time.Millisecond} }, "timer", Warn, "ordinary timer", "Linux waits exactly"},
		{"no wait", func(s *state) { s.timer = lateness{} }, "timer", "", "not measured", ""},
		{"user clock", func(s *state) { s.stamps.clock = timeline.User }, "stamps", Warn, "when they are read", "client_lag"},
		{"early stamps", func(s *state) { s.stamps.early = 40 }, "stamps", Warn, "40 of 100 before the write", "wall clock"},
		{"an early stamp", func(s *state) { s.stamps.early = 2 }, "stamps", OK, "by the kernel", ""},
		{"no port", func(s *state) { s.stamps = stamps{err: "no port can be opened"} }, "stamps", "", "no port", ""},
		{"no token", func(s *state) { s.stamps = stamps{} }, "stamps", "", "not measured", ""},
	} {
		s := calm()
		test.change(&s)
		c := find(t, judge(s), test.check)
		if c.Verdict != test.verdict || !strings.Contains(c.Value, test.value) || !strings.Contains(c.Fix, test.fix) || (c.Fix == "") != (test.fix == "") {
			t.Errorf("%s: %+v", test.name, c)
		}
	}
}

// One stream without kernel stamps shows nothing: the kernel may begin late.
func TestStampsAreTriedAgain(t *testing.T) {
	user, kernel := stamps{clock: timeline.User}, stamps{clock: timeline.Kernel}
	for _, test := range []struct {
		streams []stamps
		tries   int
		clock   timeline.Clock
	}{
		{[]stamps{kernel}, 1, timeline.Kernel},
		{[]stamps{user, kernel}, 2, timeline.Kernel},
		{[]stamps{user, user, user, kernel}, 3, timeline.User},
		{[]stamps{{err: "no port"}, kernel}, 1, ""},
	} {
		tries := 0
		s := stamped(func() stamps { tries++; return test.streams[tries-1] })
		if tries != test.tries || s.clock != test.clock {
			t.Errorf("%d tries, clock %q, want %d and %q", tries, s.clock, test.tries, test.clock)
		}
	}
}

func TestCompareStamps(t *testing.T) {
	tl := timeline.New()
	tl.DueUS, tl.Clock = 1000, timeline.Kernel
	for i, at := range []int64{110, 205, 299, 450} {
		tl.Events.Append(timeline.Event{AtUS: at, LagUS: int64(10 * (i + 1)), Kind: timeline.Text, Read: int64(i)})
	}
	s := compareStamps(tl, []int64{1100, 1200, 1300})
	if s.tokens != 3 || s.early != 1 || s.clock != timeline.Kernel {
		t.Errorf("%+v", s)
	}
	us := time.Microsecond
	for i, want := range []time.Duration{-us, 5 * us, 10 * us} {
		if s.after[i] != want {
			t.Errorf("after %v", s.after)
		}
	}
	if at(s.lag, 0.99) != 30*us || at(s.lag, 0) != 10*us || at(nil, 0.5) != 0 {
		t.Errorf("lag %v", s.lag)
	}
}
