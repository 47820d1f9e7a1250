//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// world is everything that runs during the hour.
type world struct {
	dir       string
	processes []*exec.Cmd
	users     int // requests of users that were answered
}

// start begins a process whose output goes to a file.
func (w *world) start(log, program string, args ...string) (*exec.Cmd, error) {
	out, err := os.Create(filepath.Join(w.dir, log))
	if err != nil {
		return nil, err
	}
	defer out.Close()
	c := exec.Command(program, args...)
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		return nil, err
	}
	w.processes = append(w.processes, c)
	return c, nil
}

func (w *world) stop() {
	for i := len(w.processes) - 1; i >= 0; i-- {
		c := w.processes[i]
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait()
	}
	w.processes = nil
}

// free is an address that nobody listens on.
func free() string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "127.0.0.1:0"
	}
	defer ln.Close()
	return ln.Addr().String()
}

// ready waits until a server answers.
func ready(ctx context.Context, url string) error {
	for range 600 {
		if resp, err := http.Get(url); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return fmt.Errorf("%s does not answer", url)
}

// sim starts a simulated server: 50 ms to the first token and 10 ms a token, at a
// speed.
func (w *world) sim(ctx context.Context, model, log, speed string) (string, error) {
	at := free()
	if _, err := w.start(log+".log", *binary, "sim", "--listen", at, "--preset", "exact", "--model", model, "--speed", speed); err != nil {
		return "", err
	}
	return "http://" + at, ready(ctx, "http://"+at+"/v1/models")
}

const (
	coldWait = 3 * time.Second
	coldIdle = 4 * time.Minute
)

// fronts starts the servers and what stands before them.
func (w *world) fronts(ctx context.Context, turn time.Time) (targets []target, err error) {
	list := []*front{
		{name: "slow", sums: true},
		{name: "cold", cold: coldWait, idle: coldIdle - 10*time.Second, sums: true},
		{name: "step", turn: turn, sums: true, wrongEvery: 5},
	}
	for i, speed := range []string{"0.25", "1", "2"} {
		if list[i].up, err = w.sim(ctx, list[i].name, list[i].name, speed); err != nil {
			return nil, err
		}
	}
	if list[2].then, err = w.sim(ctx, "step", "step-then", "1"); err != nil {
		return nil, err
	}
	if program := os.Getenv("LLAMA_SERVER"); program != "" {
		at := free()
		host, port, _ := net.SplitHostPort(at)
		args := append([]string{"-m", os.Getenv("LLAMA_MODEL"), "--host", host, "--port", port, "--alias", "llama"}, strings.Fields(os.Getenv("LLAMA_ARGS"))...)
		if _, err := w.start("llama.log", program, args...); err != nil {
			return nil, err
		}
		if err := ready(ctx, "http://"+at+"/health"); err != nil {
			return nil, err
		}
		list = append(list, &front{name: "llama", up: "http://" + at})
	}
	if url := os.Getenv("LLAMA_URL"); url != "" { // one that runs, or will
		list = append(list, &front{name: "llama", up: url})
	}
	for _, f := range list {
		url, err := f.serve(filepath.Join(w.dir, "truth-"+f.name+".jsonl"))
		if err != nil {
			return nil, err
		}
		targets = append(targets, target{f.name, url})
	}
	return targets, nil
}

// hour lets the daemon probe for the time that is asked for.
func (w *world) hour(ctx context.Context) error {
	begin := time.Now()
	targets, err := w.fronts(ctx, begin.Add(*during/2))
	if err != nil {
		return err
	}
	c := config{Dir: w.dir, Listen: free(), Admin: free(), Targets: targets}
	if err := c.write(); err != nil {
		return err
	}
	begin = time.Now()
	daemon, err := w.start("daemon.log", *binary, "serve", "-c", filepath.Join(w.dir, "tokenmeter.yaml"))
	if err != nil {
		return err
	}
	if err := ready(ctx, "http://"+c.Admin+"/metrics"); err != nil {
		return err
	}
	memory, err := os.Create(filepath.Join(w.dir, "memory.jsonl"))
	if err != nil {
		return err
	}
	defer memory.Close()
	user := time.NewTicker(20 * time.Second)
	defer user.Stop()
	over := time.After(time.Until(begin.Add(*during)))
	for going := true; going; {
		select {
		case <-user.C:
		case <-over:
			going = false
			continue
		case <-ctx.Done():
			return ctx.Err()
		}
		fmt.Fprintf(memory, "{\"s\": %.1f, \"rss_kb\": %d}\n", time.Since(begin).Seconds(), rss(daemon.Process.Pid))
		if err := ask("http://"+c.Listen+"/v1/chat/completions", `{"model": "slow", "max_tokens": 20, "stream": true, "messages": [{"role": "user", "content": "Hello"}]}`); err != nil {
			fmt.Fprintln(os.Stderr, "a user:", err)
		} else {
			w.users++
		}
	}
	end := time.Now()
	_ = daemon.Process.Signal(syscall.SIGTERM)
	time.Sleep(time.Second) // it waits for a last scrape
	if err := w.save("metrics.txt", "http://"+c.Admin+"/metrics"); err != nil {
		return err
	}
	if err := daemon.Wait(); err != nil {
		return fmt.Errorf("the daemon: %w", err)
	}
	if err := w.after(&c); err != nil {
		return err
	}
	return w.saveJSON("hour.json", map[string]any{"begin": begin.UTC(), "end": end.UTC(), "users": w.users, "budget_tokens": *tokens, "budget_usd": *usd,
		"suite": suite, "targets": targets, "price_input": priceInput, "price_output": priceOutput, "cold_s": coldWait.Seconds(), "turn": begin.Add(*during / 2).UTC()})
}

// ask is what a user does.
func ask(url, body string) error {
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

func rss(pid int) (kb int64) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if n, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			fmt.Sscan(n, &kb)
		}
	}
	return kb
}

func (w *world) save(name, url string) error {
	resp, err := http.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(w.dir, name), data, 0o644)
}

func (w *world) saveJSON(name string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(w.dir, name), append(data, '\n'), 0o644)
}
