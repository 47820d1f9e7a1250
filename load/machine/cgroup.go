package machine

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"tokenmeter/record/timeline"
)

// group is what control groups say of the program's processor time. The level
// of the hierarchy with the tightest quota counts.
type group struct {
	quota     timeline.Opt[float64] // cores
	usage     time.Duration
	throttled time.Duration // summed over cores
	periods   int64         // in which the group was stopped
	hasStat   bool
}

// group reads version 2, then version 1, of the control groups.
func (m *Machine) group() group {
	v2, v1cpu, v1acct := m.groupPaths()
	if g, ok := m.groupV2(v2); ok {
		return g
	}
	return m.groupV1(v1cpu, v1acct)
}

// groupPaths reads the program's groups from /proc/self/cgroup.
func (m *Machine) groupPaths() (v2, v1cpu, v1acct string) {
	data, _ := fs.ReadFile(m.root, "proc/self/cgroup")
	for line := range strings.Lines(string(data)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		if f[0] == "0" && f[1] == "" {
			v2 = f[2]
		}
		for c := range strings.SplitSeq(f[1], ",") {
			switch c {
			case "cpu":
				v1cpu = f[2]
			case "cpuacct":
				v1acct = f[2]
			}
		}
	}
	return v2, v1cpu, v1acct
}

const cgroupRoot = "sys/fs/cgroup"

func (m *Machine) groupV2(group string) (g group, ok bool) {
	for _, mount := range []string{cgroupRoot, cgroupRoot + "/unified"} {
		for _, dir := range upwards(mount, group) {
			limit := strings.Fields(m.text(dir + "/cpu.max"))
			stat := m.pairs(dir + "/cpu.stat")
			if len(limit) != 2 || limit[0] == "max" {
				continue
			}
			quota, period := number(limit[0]), number(limit[1])
			if quota <= 0 || period <= 0 || g.quota.OK() && quota/period >= g.quota.Or(0) {
				continue
			}
			g.quota = timeline.Some(quota / period)
			g.usage = time.Duration(stat["usage_usec"]) * time.Microsecond
			g.throttled = time.Duration(stat["throttled_usec"]) * time.Microsecond
			g.periods = stat["nr_throttled"]
			_, g.hasStat = stat["nr_throttled"]
		}
	}
	return g, g.quota.OK()
}

func (m *Machine) groupV1(cpu, acct string) (g group) {
	accts := []string{}
	for _, mount := range []string{"/cpuacct", "/cpu,cpuacct"} {
		accts = append(accts, upwards(cgroupRoot+mount, acct)...)
	}
	for _, mount := range []string{"/cpu", "/cpu,cpuacct"} {
		for _, dir := range upwards(cgroupRoot+mount, cpu) {
			quota, period := number(m.text(dir+"/cpu.cfs_quota_us")), number(m.text(dir+"/cpu.cfs_period_us"))
			if quota <= 0 || period <= 0 || g.quota.OK() && quota/period >= g.quota.Or(0) {
				continue
			}
			stat := m.pairs(dir + "/cpu.stat")
			g.quota = timeline.Some(quota / period)
			g.throttled = time.Duration(stat["throttled_time"])
			g.periods = stat["nr_throttled"]
			_, g.hasStat = stat["nr_throttled"]
		}
	}
	for _, dir := range accts {
		if ns := number(m.text(dir + "/cpuacct.usage")); ns > 0 {
			g.usage = time.Duration(ns)
			break
		}
	}
	return g
}

// upwards lists a group's folder and those above it, up to the mount point. In
// a container the path may be the host's and lead nowhere: the mount point then
// is the program's own group.
func upwards(mount, group string) []string {
	var dirs []string
	for p := path.Clean("/" + group); p != "/"; p = path.Dir(p) {
		dirs = append(dirs, mount+p)
	}
	return append(dirs, mount)
}

func (m *Machine) text(name string) string {
	data, err := fs.ReadFile(m.root, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// pairs reads a file of "name number" lines.
func (m *Machine) pairs(name string) map[string]int64 {
	out := map[string]int64{}
	for line := range strings.Lines(m.text(name)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			out[key] = n
		}
	}
	return out
}

// number reads a non-negative number; 0 when it is none.
func number(text string) float64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return float64(n)
}
