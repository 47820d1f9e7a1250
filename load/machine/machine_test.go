package machine

import (
	"math"
	"runtime"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/record/validity"
)

// tree is a root directory of small files.
func tree(files map[string]string) *Machine {
	fs := fstest.MapFS{}
	for name, text := range files {
		fs[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return &Machine{root: fs}
}

func near(t *testing.T, what string, got timeline.Opt[float64], want float64) {
	t.Helper()
	if x, ok := got.Get(); !ok || math.Abs(x-want) > 1e-9 {
		t.Errorf("%s: %v (%v), want %v", what, x, ok, want)
	}
}

func at(s Sample, d time.Duration) Sample { s.at = time.Unix(0, 0).Add(d); return s }

func TestBusyAndStealOfAllowedCores(t *testing.T) {
	status := "Name:\tx\nCpus_allowed_list:\t1-2\n"
	before := tree(map[string]string{"proc/self/status": status, "proc/stat": "cpu  0 0 0 0\n" +
		"cpu0 1000 0 0 0 0 0 0 0 0 0\ncpu1 100 0 100 800 0 0 0 0 0 0\ncpu2 0 0 0 1000 0 0 0 0 0 0\nintr 1\n"})
	after := tree(map[string]string{"proc/self/status": status, "proc/stat": "cpu  0 0 0 0\n" +
		"cpu0 9000 0 0 0 0 0 0 0 0 0\ncpu1 150 10 120 900 20 5 5 90 50 0\ncpu2 100 0 0 1100 0 0 0 0 0 0\nintr 1\n"})
	u := at(before.Sample(), 0).Until(at(after.Sample(), 3*time.Second))
	// cpu1: 300 ticks, 120 idle or waiting for a disk, 90 stolen; cpu2: 200, 100 idle.
	near(t, "busy", u.CPUBusy, 280.0/500)
	near(t, "steal", u.Steal, 90.0/500)
	if u.Throttled.OK() {
		t.Error("throttled without a quota")
	}
}

func TestWithoutAffinityEveryCoreCounts(t *testing.T) {
	a := tree(map[string]string{"proc/stat": "cpu 10 0 0 90\ncpu0 10 0 0 90\n"})
	b := tree(map[string]string{"proc/stat": "cpu 60 0 0 140\ncpu0 60 0 0 140\n"})
	u := at(a.Sample(), 0).Until(at(b.Sample(), time.Second))
	near(t, "busy", u.CPUBusy, 0.5)
	near(t, "steal", u.Steal, 0)
}

// B79: a quota of 2 cores; what it took is told by the group's statistics.
func TestB79ThrottlingOfControlGroups(t *testing.T) {
	v2 := func(usage, periods, throttled string) map[string]string {
		return map[string]string{
			"proc/self/cgroup":                       "0::/pod/app\n",
			"sys/fs/cgroup/pod/app/cpu.max":          "max 100000\n",
			"sys/fs/cgroup/pod/app/cpu.stat":         "usage_usec 1\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n",
			"sys/fs/cgroup/pod/cpu.max":              "200000 100000\n",
			"sys/fs/cgroup/pod/cpu.stat":             "usage_usec " + usage + "\nnr_throttled " + periods + "\nthrottled_usec " + throttled + "\n",
			"sys/fs/cgroup/cpu.stat":                 "usage_usec 5\n",
			"sys/fs/cgroup/unified/other/cpu.max":    "1 100000\n",
			"sys/fs/cgroup/cpu/pod/cpu.cfs_quota_us": "1000\n",
		}
	}
	v1 := func(usage, periods, throttled string) map[string]string {
		return map[string]string{
			"proc/self/cgroup":                         "4:cpu,cpuacct:/docker/abc\n3:memory:/x\n",
			"sys/fs/cgroup/cpu,cpuacct/cpuacct.usage":  usage + "000\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us":       "200000\n",
			"sys/fs/cgroup/cpu/cpu.cfs_period_us":      "100000\n",
			"sys/fs/cgroup/cpu/cpu.stat":               "nr_periods 100\nnr_throttled " + periods + "\nthrottled_time " + throttled + "000\n",
			"sys/fs/cgroup/unified/cpu.stat":           "usage_usec 5\n",
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_": "",
		}
	}
	for name, files := range map[string]func(a, b, c string) map[string]string{"v2": v2, "v1": v1} {
		a := tree(files("1000000", "10", "500000"))
		b := tree(files("16000000", "40", "2500000"))
		u := at(a.Sample(), 0).Until(at(b.Sample(), 10*time.Second))
		near(t, name+" busy", u.CPUBusy, 15.0/20)
		near(t, name+" throttled", u.Throttled, min(2.0/(10*float64(runtime.GOMAXPROCS(0))), 1))
		if n, ok := u.ThrottledPeriods.Get(); !ok || n != 30 {
			t.Errorf("%s: %d periods, %v", name, n, ok)
		}
		near(t, name+" quota", a.Environment().CPUQuota, 2)
	}
}

func TestNoLimitIsNull(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"v1":    {"proc/self/cgroup": "1:cpu:/\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"},
		"v2":    {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"},
		"none":  {},
		"bogus": {"proc/self/cgroup": "::\n:\nx", "sys/fs/cgroup/cpu.max": "a b", "proc/stat": "cpu x\ncpux 3\n", "proc/loadavg": "-", "proc/self/status": "Cpus_allowed_list: 9-1,x"},
	} {
		m := tree(files)
		if q := m.Environment(); q.CPUQuota.OK() || q.Load1.OK() {
			t.Errorf("%s: %+v", name, q)
		}
		u := at(m.Sample(), 0).Until(at(m.Sample(), time.Second))
		if u.Steal.OK() || u.Throttled.OK() {
			t.Errorf("%s: %+v", name, u)
		}
	}
}

func TestTooShortOrBackwardsIsNull(t *testing.T) {
	a := tree(map[string]string{"proc/stat": "cpu 10 0 0 90\n"}).Sample()
	b := tree(map[string]string{"proc/stat": "cpu 11 0 0 91\n"}).Sample()
	if u := at(a, 0).Until(at(b, time.Millisecond)); u.CPUBusy.OK() || u.Steal.OK() {
		t.Errorf("2 ticks: %+v", u)
	}
	if u := at(b, time.Second).Until(at(a, 0)); u != (Usage{}) {
		t.Errorf("backwards: %+v", u)
	}
}

func TestParseList(t *testing.T) {
	for list, want := range map[string]int{"0": 1, "0-3,8": 5, "": 0, "3-1": 0, "a": 0, "-1": 0, "0-99999999": 0} {
		if got := len(parseList(list)); got != want {
			t.Errorf("%q: %d cores, want %d", list, got, want)
		}
	}
}

func TestPauses(t *testing.T) {
	edges := []float64{0, 0.001, 0.01, math.Inf(1)}
	a := pauses{counts: []uint64{5, 1, 1}, buckets: edges}
	for _, c := range []struct {
		counts []uint64
		want   float64
	}{{[]uint64{5, 1, 1}, 0}, {[]uint64{9, 1, 1}, 1}, {[]uint64{9, 2, 1}, 10}, {[]uint64{5, 1, 2}, 10}} {
		if ms, ok := a.longestUntil(pauses{c.counts, edges}); !ok || math.Abs(ms-c.want) > 1e-12 {
			t.Errorf("%v: %v, %v", c.counts, ms, ok)
		}
	}
	if _, ok := (pauses{}).longestUntil(pauses{}); ok {
		t.Error("a pause from no histogram")
	}
	before := readPauses()
	runtime.GC()
	if ms, ok := before.longestUntil(readPauses()); !ok || ms <= 0 {
		t.Errorf("a collection stopped the program for %v ms, %v", ms, ok)
	}
}

func TestEnvironmentMarks(t *testing.T) {
	m := tree(map[string]string{".dockerenv": "", "proc/cpuinfo": "processor\t: 0\nmodel name\t: EPYC 9\n",
		"proc/sys/kernel/osrelease": "6.1.0\n", "proc/loadavg": "1.25 0.5 0.1 1/2 3\n",
		"proc/sys/net/ipv4/ip_local_port_range": "32768\t60999\n"})
	e := m.Environment()
	if !e.Container || e.CPUModel != "EPYC 9" || e.Kernel != "6.1.0" || e.Load1.Or(0) != 1.25 || e.Go != runtime.Version() {
		t.Errorf("%+v", e)
	}
	if m.Ports() != 28232 || tree(nil).Ports() != 16384 {
		t.Errorf("ports %d and %d", m.Ports(), tree(nil).Ports())
	}
	if tree(nil).Environment().Container {
		t.Error("an empty tree is no container")
	}
	if !tree(map[string]string{"proc/1/cgroup": "0::/kubepods/x\n"}).container() {
		t.Error("kubepods is a container")
	}
}

func TestThisMachine(t *testing.T) {
	m := This()
	a := m.Sample()
	u := Usage{}
	for tries := 0; u.CPUBusy.Or(0) <= 0 && tries < 20; tries++ { // others may have all processors for a while
		for end := time.Now().Add(150 * time.Millisecond); time.Now().Before(end); {
		}
		u = a.Until(m.Sample())
	}
	if x, ok := u.CPUBusy.Get(); !ok || x <= 0 || x > 1 {
		t.Errorf("busy %v, %v after work", x, ok)
	}
	var c validity.Client
	u.Client(&c)
	if c.CPUBusy != u.CPUBusy {
		t.Error("Client did not take the figures over")
	}
	if limit, _ := RaiseFiles(); runtime.GOOS == "linux" && limit == 0 {
		t.Log("no limit of open files")
	}
	if e := m.Environment(); e.CPUs < 1 || e.OS == "" {
		t.Errorf("%+v", e)
	}
}

func BenchmarkSample(b *testing.B) {
	m := This()
	for range b.N {
		m.Sample()
	}
}

// B80: a timer of 15.6 ms steps must be told from one of 1 ms.
func TestB80TimerOvershoot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if d := TimerOvershoot(); d != 0 {
			t.Errorf("virtual time overshoots by %v", d)
		}
	})
	if d := TimerOvershoot(); d < 0 {
		t.Errorf("%v", d)
	}
}
