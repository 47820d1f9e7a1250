package machine

import (
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tokenmeter/record/timeline"
)

// Settings are what an administrator can change and a measurement feels.
type Settings struct {
	SoftFiles timeline.Opt[int64] // open files of this program; empty: no limit, or none known
	HardFiles timeline.Opt[int64] // to which a program may lift its own limit
	Ports     int                 // connections to one address at a time
	TimeWait  timeline.Opt[int64] // closed connections that still hold a port; empty where unknown
	Governor  string              // how the cores' frequency is chosen: "performance", or "performance, powersave"; empty where unknown
	// ClockSource is what the kernel counts time with: tsc, arch_sys_counter,
	// kvm-clock, hpet, …; empty where unknown.
	ClockSource string
	// ClockSynced says whether the kernel's wall clock is disciplined by a time
	// service; empty where unknown.
	ClockSynced timeline.Opt[bool]
	// ClockErrorMS is the kernel's own bound on the wall clock's error, in ms;
	// empty where unknown.
	ClockErrorMS timeline.Opt[float64]
}

// Settings reads the settings. It changes none.
func (m *Machine) Settings() Settings {
	s := Settings{
		Ports:       m.Ports(),
		Governor:    m.governor(),
		ClockSource: m.text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
		TimeWait:    m.timeWait(),
	}
	s.SoftFiles, s.HardFiles = files()
	s.ClockSynced, s.ClockErrorMS = clockState()
	return s
}

// timeWait reads the number of closed connections that still hold a port. The
// file for IPv4 counts both families.
func (m *Machine) timeWait() timeline.Opt[int64] {
	for line := range strings.Lines(m.text("proc/net/sockstat")) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] != "TCP:" {
			continue
		}
		for i := 1; i+1 < len(f); i += 2 {
			if f[i] != "tw" {
				continue
			}
			if n, err := strconv.ParseInt(f[i+1], 10, 64); err == nil && n >= 0 {
				return timeline.Some(n)
			}
		}
	}
	return timeline.Opt[int64]{}
}

// governor lists how the frequency of the allowed cores is chosen.
func (m *Machine) governor() string {
	const cores = "sys/devices/system/cpu"
	entries, _ := fs.ReadDir(m.root, cores)
	allowed := m.allowed()
	found := map[string]bool{}
	for _, e := range entries {
		core, err := strconv.Atoi(strings.TrimPrefix(e.Name(), "cpu"))
		if err != nil || allowed != nil && !allowed[core] {
			continue
		}
		if g := m.text(cores + "/" + e.Name() + "/cpufreq/scaling_governor"); g != "" {
			found[g] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(found)), ", ")
}
