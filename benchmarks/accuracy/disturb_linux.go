package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// disturb takes processor time from the client as -quota and -stop say, until
// calm is called.
func disturb(p *os.Process) (calm func(), err error) {
	lift := func() {}
	if *quota > 0 {
		if lift, err = limit(p.Pid, *quota); err != nil {
			return nil, fmt.Errorf("-quota: %w", err)
		}
	}
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for *stop > 0 {
			select {
			case <-time.After(*stopEvery - *stop):
			case <-quit:
				return
			}
			_ = p.Signal(unix.SIGSTOP)
			time.Sleep(*stop)
			_ = p.Signal(unix.SIGCONT)
		}
	}()
	var once sync.Once
	return func() {
		once.Do(func() {
			close(quit)
			<-ended
			lift()
		})
	}, nil
}

const quotaPeriod = 100_000 // µs

// limit puts a process into a control group of its own, of the first or the
// second version. Others on the machine take little from it: the quota is meant.
func limit(pid, percent int) (lift func(), err error) {
	const root = "/sys/fs/cgroup"
	allowed := strconv.Itoa(quotaPeriod * percent / 100)
	group, files := filepath.Join(root, "cpu"), map[string]string{"cpu.cfs_period_us": strconv.Itoa(quotaPeriod), "cpu.cfs_quota_us": allowed,
		"cpu.shares": "262144"}
	if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err == nil {
		group, files = root, map[string]string{"cpu.max": allowed + " " + strconv.Itoa(quotaPeriod), "cpu.weight": "10000"}
	}
	group = filepath.Join(group, fmt.Sprintf("accuracy-%d", os.Getpid()))
	if err := os.Mkdir(group, 0o755); err != nil {
		return nil, err
	}
	errs := []error{}
	for name, text := range files {
		errs = append(errs, os.WriteFile(filepath.Join(group, name), []byte(text), 0o644))
	}
	errs = append(errs, os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o644))
	lift = func() {
		_ = os.WriteFile(filepath.Join(filepath.Dir(group), "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o644)
		_ = os.Remove(group)
	}
	if err := errors.Join(errs...); err != nil {
		lift()
		return nil, err
	}
	return lift, nil
}
