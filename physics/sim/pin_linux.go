package sim

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// pin holds every thread of the process to its first core, so that a
// self-check says what the server does with one. The threads of readers, which
// call apart, get the other cores. On a machine with one core all share it.
func pin() pinned {
	var all unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil || all.Count() == 0 {
		return unpinned
	}
	var one unix.CPUSet
	rest, core := all, 0
	for !all.IsSet(core) {
		core++
	}
	if all.Count() == 1 {
		return pinned{cores: 1, core: core, apart: func() {}, unpin: func() {}}
	}
	one.Set(core)
	rest.Clear(core)
	holdThreads(&one)
	apart := func() {
		// Never unlocked: the thread ends with its goroutine.
		runtime.LockOSThread()
		_ = unix.SchedSetaffinity(0, &rest)
	}
	return pinned{cores: all.Count(), core: core, apart: apart, unpin: func() { holdThreads(&all) }}
}

// stolen is for how long the host has given a core to others so far; false
// where the system does not tell.
func stolen(core int) (time.Duration, bool) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, false
	}
	name := fmt.Sprintf("cpu%d ", core)
	for line := range strings.Lines(string(stat)) {
		if !strings.HasPrefix(line, name) {
			continue
		}
		if fields := strings.Fields(line); len(fields) > 8 {
			ticks, err := strconv.ParseInt(fields[8], 10, 64)
			return time.Duration(ticks) * 10 * time.Millisecond, err == nil // USER_HZ is 100
		}
	}
	return 0, false
}

// holdThreads gives every thread the set; threads that begin later inherit it.
func holdThreads(set *unix.CPUSet) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	for _, t := range tasks {
		if tid, err := strconv.Atoi(t.Name()); err == nil {
			// A thread may have ended meanwhile.
			_ = unix.SchedSetaffinity(tid, set)
		}
	}
}
