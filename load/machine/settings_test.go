package machine

import "testing"

// The files are as Linux writes them (man 5 proc; the kernel's documents on cpufreq).
func TestSettingsAreRead(t *testing.T) {
	m := tree(map[string]string{
		"proc/net/sockstat": "sockets: used 212\nTCP: inuse 9 orphan 0 tw 17 alloc 11 mem 2\nUDP: inuse 4 mem 1\n",
		"proc/self/status":  "Name:\tx\nCpus_allowed_list:\t0-1,10\n",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":    "powersave\n",
		"sys/devices/system/cpu/cpu1/cpufreq/scaling_governor":    "powersave\n",
		"sys/devices/system/cpu/cpu2/cpufreq/scaling_governor":    "schedutil\n", // not ours
		"sys/devices/system/cpu/cpu10/cpufreq/scaling_governor":   "performance\n",
		"sys/devices/system/cpu/cpufreq/cpufreq/scaling_governor": "ondemand\n", // no core
	})
	s := m.Settings()
	if s.Governor != "performance, powersave" {
		t.Errorf("governors %q", s.Governor)
	}
	if n, ok := s.TimeWait.Get(); !ok || n != 17 {
		t.Errorf("%d connections wait (%v)", n, ok)
	}
	if none := tree(nil).Settings(); none.Governor != "" || !none.TimeWait.IsZero() {
		t.Errorf("without files: %+v", none)
	}
}
