package daemon

import (
	"os"
	"path"
	"strconv"
	"strings"
)

// defaultBodies is what request bodies may take when the configuration does not
// say: a quarter of the memory there is, so that copies of them and all else fit.
func defaultBodies() int64 {
	if limit := MemoryLimit(); limit > 0 {
		return max(limit/4, 32<<20)
	}
	return 256 << 20
}

// MemoryLimit is the smallest limit on this process's memory: of its cgroups, or
// the machine's memory; 0: unknown.
func MemoryLimit() int64 { return memoryLimit("/") }

func memoryLimit(root string) int64 {
	limit := int64(0)
	add := func(n int64) {
		if n > 0 && (limit == 0 || n < limit) {
			limit = n
		}
	}
	number := func(name string) int64 {
		data, _ := os.ReadFile(name)
		n, _ := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64) // max: none
		return n
	}
	groups, _ := os.ReadFile(path.Join(root, "proc/self/cgroup"))
	for line := range strings.Lines(string(groups)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		dir, file := "sys/fs/cgroup", "memory.max"
		if controllers != "" {
			if !strings.Contains(","+controllers+",", ",memory,") {
				continue
			}
			dir, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		for group = path.Clean("/" + group); ; group = path.Dir(group) { // limits of those above hold too
			add(number(path.Join(root, dir, group, file)))
			if group == "/" {
				break
			}
		}
	}
	info, _ := os.ReadFile(path.Join(root, "proc/meminfo"))
	for line := range strings.Lines(string(info)) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			add(n << 10)
		}
	}
	return limit
}
