package sim

import (
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// pin holds every thread of the process to its first core, so that a
// self-check says what the server does with one. The threads of readers, which
// call apart, get the other cores. On a machine with one core all share it, and
// cores is 1.
func pin() (cores int, apart func(), unpin func()) {
	var all unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil || all.Count() < 2 {
		return 1, func() {}, func() {}
	}
	var one unix.CPUSet
	rest := all
	for cpu := 0; ; cpu++ {
		if all.IsSet(cpu) {
			one.Set(cpu)
			rest.Clear(cpu)
			break
		}
	}
	holdThreads(&one)
	apart = func() {
		// Never unlocked: the thread ends with its goroutine.
		runtime.LockOSThread()
		_ = unix.SchedSetaffinity(0, &rest)
	}
	return all.Count(), apart, func() { holdThreads(&all) }
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
