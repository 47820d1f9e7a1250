//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tokenmeter/benchmarks/harness"
)

// round is one client's run against a server of its own, each on its core.
func (b *bench) round(p *peer, l load, repeat int) (*row, error) {
	j := &job{setting: b.setting, load: l, dir: fmt.Sprintf("%s/%s-%d-%d", b.work, p.name, l.Streams, repeat)}
	if err := os.RemoveAll(j.dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(j.dir, 0o777); err != nil {
		return nil, err
	}
	if !b.keep {
		defer os.RemoveAll(j.dir)
	}
	server := exec.Command("/proc/self/exe", "-serve", j.file("truth.jsonl"), "-tokens", strconv.Itoa(l.Tokens),
		"-first", l.First.String(), "-gap", l.Gap.String())
	server.Stderr = os.Stderr
	in, err := server.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := server.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := harness.Start(server, b.serverCPU); err != nil {
		return nil, err
	}
	defer server.Process.Kill()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("the server did not start: %w", err)
	}
	j.url = strings.TrimSpace(address)
	r := &row{Peer: p.name, Streams: l.Streams, Repeat: repeat, Load: l, Version: b.versions[p.name]}
	clientErr := b.client(p, j, r)
	in.Close() // the server writes its truth and ends
	if err := server.Wait(); err != nil {
		return nil, fmt.Errorf("the server failed: %w", err)
	}
	if clientErr != nil {
		return nil, clientErr
	}
	truths, err := harness.ReadTruth(j.file("truth.jsonl"), func(t *truth) string { return t.ID })
	if err != nil {
		return nil, err
	}
	m, err := p.read(j)
	if err != nil {
		return nil, fmt.Errorf("its results cannot be read: %w", err)
	}
	return r, r.compare(m, truths)
}

// client runs the client and notes what it and the machine did.
func (b *bench) client(p *peer, j *job, r *row) error {
	args, err := p.command(j)
	if err != nil {
		return err
	}
	c := exec.Command(args[0], args[1:]...)
	c.Dir = j.dir
	c.Env = append(os.Environ(), "HOME="+b.work, "VLLM_NO_USAGE_STATS=1",
		"VLLM_LOGGING_LEVEL=WARNING", "DO_NOT_TRACK=1", "TERM=dumb", "NO_COLOR=1")
	c.Env = append(c.Env, p.env...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := os.Create(j.file("stdout"))
	if err != nil {
		return err
	}
	defer stdout.Close()
	stderr, err := os.Create(j.file("stderr"))
	if err != nil {
		return err
	}
	defer stderr.Close()
	c.Stdout, c.Stderr = stdout, stderr
	r.Command = args
	r.LoadAverage = loadAverage()
	before := coreTicks(b.clientCPU)
	r.startedNS = clockNS(unix.CLOCK_MONOTONIC)
	if err := harness.Start(c, b.clientCPU); err != nil {
		return err
	}
	kill := func() { syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	limit := time.AfterFunc(b.limit, kill)
	defer limit.Stop()
	defer killOnSignal(kill)()
	done, watched := make(chan struct{}), make(chan []sample)
	go func() { watched <- watch(c.Process.Pid, done) }()
	err = c.Wait()
	r.endedNS = clockNS(unix.CLOCK_MONOTONIC)
	close(done)
	r.samples = <-watched
	after := coreTicks(b.clientCPU)
	all := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	r.CPUAllS = all.Seconds()
	if last := r.samples[len(r.samples)-1]; last.atNS < r.endedNS && last.cpuNS < int64(all) {
		r.samples = append(r.samples, sample{atNS: r.endedNS, cpuNS: int64(all)})
	}
	if all := after.all - before.all; all > 0 {
		wall := float64(r.endedNS-r.startedNS) / 1e9
		r.StealShare = (after.steal - before.steal) / all
		r.OthersShare = max((after.busy-before.busy)/all-r.CPUAllS/wall, 0)
	}
	if err != nil && !(p.mayFail && errors.As(err, new(*exec.ExitError))) {
		text, _ := os.ReadFile(j.file("stderr"))
		return fmt.Errorf("%w\n%s\n%s", err, strings.Join(args, " "), text[max(len(text)-2000, 0):])
	}
	return nil
}

// killOnSignal leaves no client behind when the program is interrupted: it is in
// a process group of its own. The returned function ends the watch.
func killOnSignal(kill func()) (stop func()) {
	signals, over := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
			kill()
			os.Exit(130)
		case <-over:
		}
	}()
	return func() { signal.Stop(signals); close(over) }
}
