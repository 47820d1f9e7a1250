package machine

import (
	"io/fs"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"tokenmeter/record/timeline"
)

// Environment describes the machine that made the load.
type Environment struct {
	OS        string
	Kernel    string // release; empty where unknown
	CPUs      int    // cores the program may use
	MaxProcs  int    // cores it uses at once: fewer under a quota
	CPUModel  string // empty where unknown
	Go        string
	Container bool
	CPUQuota  timeline.Opt[float64] // cores; empty without a limit
	Load1     timeline.Opt[float64] // load average of the last minute
}

// Environment reads the description.
func (m *Machine) Environment() Environment {
	return Environment{
		OS:        runtime.GOOS + "/" + runtime.GOARCH,
		Kernel:    m.text("proc/sys/kernel/osrelease"),
		CPUs:      runtime.NumCPU(),
		MaxProcs:  runtime.GOMAXPROCS(0),
		CPUModel:  m.cpuModel(),
		Go:        runtime.Version(),
		Container: m.container(),
		CPUQuota:  m.group().quota,
		Load1:     m.Load1(),
	}
}

// Load1 is the load average of the last minute; empty where unknown.
func (m *Machine) Load1() timeline.Opt[float64] {
	f := strings.Fields(m.text("proc/loadavg"))
	if len(f) == 0 {
		return timeline.Opt[float64]{}
	}
	x, err := strconv.ParseFloat(f[0], 64)
	if err != nil || !(x >= 0) {
		return timeline.Opt[float64]{}
	}
	return timeline.Some(x)
}

// cpuModel reads the model of the first core; ARM cores only have a number.
func (m *Machine) cpuModel() string {
	for line := range strings.Lines(m.text("proc/cpuinfo")) {
		key, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(key) {
		case "model name", "Model", "cpu model":
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// container guesses from the marks that the usual engines leave.
func (m *Machine) container() bool {
	for _, mark := range []string{".dockerenv", "run/.containerenv", "var/run/secrets/kubernetes.io"} {
		if _, err := fs.Stat(m.root, mark); err == nil {
			return true
		}
	}
	groups := m.text("proc/1/cgroup")
	return slices.ContainsFunc([]string{"docker", "kubepods", "containerd", "lxc", "libpod"}, func(word string) bool { return strings.Contains(groups, word) })
}

// TimeWaitS is how long a closed connection keeps its port, in seconds.
const TimeWaitS = 60

// Ports is how many connections this machine can have to one address at a
// time: the number of ephemeral ports.
func (m *Machine) Ports() int {
	f := strings.Fields(m.text("proc/sys/net/ipv4/ip_local_port_range"))
	if len(f) == 2 {
		if lo, hi := number(f[0]), number(f[1]); hi > lo {
			return int(hi-lo) + 1
		}
	}
	return 65536 - 49152 // the range that IANA set aside, used by other systems
}
