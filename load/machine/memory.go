package machine

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// MemoryLimit is the smallest limit on the program's memory, in bytes: of its
// control groups and those above them, or the machine's memory; 0: unknown.
func (m *Machine) MemoryLimit() int64 {
	limit := int64(0)
	add := func(n int64) {
		if n > 0 && (limit == 0 || n < limit) {
			limit = n
		}
	}
	groups, _ := fs.ReadFile(m.root, "proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		mount, file := cgroupRoot, "memory.max"
		if controllers != "" {
			if !strings.Contains(","+controllers+",", ",memory,") {
				continue
			}
			mount, file = path.Join(cgroupRoot, "memory"), "memory.limit_in_bytes"
		}
		for _, dir := range upwards(mount, group) { // limits of those above hold too
			n, _ := strconv.ParseInt(m.text(path.Join(dir, file)), 10, 64) // max: none
			add(n)
		}
	}
	for line := range strings.Lines(m.text("proc/meminfo")) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			add(n << 10)
		}
	}
	return limit
}
