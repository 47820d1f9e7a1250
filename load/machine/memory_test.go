package machine

import "testing"

// The smallest of the limits that hold is the limit.
func TestMemoryLimit(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		limit int64
	}{
		"nothing known": {nil, 0},
		"the machine's": {map[string]string{"proc/meminfo": "MemTotal:       1024 kB\nMemFree: 1 kB\n", "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, 1 << 20},
		"its own":       {map[string]string{"proc/meminfo": "MemTotal:       1024 kB\n", "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "4096\n", "sys/fs/cgroup/a/memory.max": "8192\n"}, 4096},
		"one above":     {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "8192\n"}, 8192},
		"in a box":      {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/memory.max": "512\n"}, 512},
		"version 1":     {map[string]string{"proc/self/cgroup": "5:cpu,memory:/x\n3:pids:/y\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "77\n"}, 77},
	} {
		if got := tree(tc.files).MemoryLimit(); got != tc.limit {
			t.Errorf("%s: %d, want %d", name, got, tc.limit)
		}
	}
}
