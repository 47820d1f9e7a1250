package machine

import (
	"bufio"
	"bytes"
	"io/fs"
	"strconv"
	"strings"
)

// ticks are the processor times of the cores that the program may use.
type ticks struct{ total, idle, steal uint64 }

// ticks reads /proc/stat; zero where there is none.
func (m *Machine) ticks() ticks {
	data, err := fs.ReadFile(m.root, "proc/stat")
	if err != nil {
		return ticks{}
	}
	allowed := m.allowed()
	var sum, all ticks
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		name, rest, _ := strings.Cut(lines.Text(), " ")
		number, isCPU := strings.CutPrefix(name, "cpu")
		if !isCPU {
			break
		}
		t := parseTicks(rest)
		if number == "" {
			all = t
			continue
		}
		if n, err := strconv.Atoi(number); err == nil && (allowed == nil || allowed[n]) {
			sum.total += t.total
			sum.idle += t.idle
			sum.steal += t.steal
		}
	}
	if sum.total == 0 {
		return all
	}
	return sum
}

// parseTicks reads user nice system idle iowait irq softirq steal. The fields
// after those, guest times, are part of user and nice.
func parseTicks(fields string) (t ticks) {
	for i, f := range strings.Fields(fields) {
		n, err := strconv.ParseUint(f, 10, 64)
		if err != nil || i > 7 {
			break
		}
		t.total += n
		switch i {
		case 3, 4:
			t.idle += n
		case 7:
			t.steal = n
		}
	}
	return t
}

// allowed is the set of cores of the affinity mask; nil where unknown.
func (m *Machine) allowed() map[int]bool {
	data, err := fs.ReadFile(m.root, "proc/self/status")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			return parseList(strings.TrimSpace(list))
		}
	}
	return nil
}

// parseList reads "0-3,8"; nil when it is none.
func parseList(list string) map[int]bool {
	set := map[int]bool{}
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		lo, err1 := strconv.Atoi(first)
		hi, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil || lo < 0 || hi < lo || hi-lo > 1<<16 {
			return nil
		}
		for n := lo; n <= hi; n++ {
			set[n] = true
		}
	}
	return set
}
