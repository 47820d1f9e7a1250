package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// way is one way to the upstream: direct, or through a proxy.
type way struct {
	name    string
	address string
	process *exec.Cmd // nil: none
	dir     string
}

func (w *way) stop() {
	if w.process != nil {
		_ = w.process.Process.Signal(os.Interrupt)
		impatient := time.AfterFunc(5*time.Second, func() { _ = w.process.Process.Kill() }) // HAProxy waits for its clients
		_ = w.process.Wait()
		impatient.Stop()
	}
	if w.dir != "" {
		_ = os.RemoveAll(w.dir)
	}
}

// pids are the processes of the way: the one that was started and its children.
func (w *way) pids() []int {
	if w.process == nil {
		return nil
	}
	pids := []int{w.process.Process.Pid}
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pids[0], pids[0]))
	for _, f := range strings.Fields(string(children)) {
		if pid, err := strconv.Atoi(f); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// rss is the memory of the way's processes, in MB.
func (w *way) rss() (mb float64) {
	for _, pid := range w.pids() {
		data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		for line := range strings.Lines(string(data)) {
			if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
				kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
				mb += kb / 1000
			}
		}
	}
	return mb
}

func freeAddress() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer ln.Close()
	return ln.Addr().String(), nil
}

func startTokenmeter(s settings, upstream string) (*way, error) {
	return tokenmeter("tokenmeter", s.binary, upstream)
}

func startBefore(s settings, upstream string) (*way, error) {
	if s.before == "" {
		return nil, nil
	}
	return tokenmeter("before", s.before, upstream)
}

func tokenmeter(name, binary, upstream string) (*way, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(binary, "proxy", "--upstream", "http://"+upstream, "--listen", address, "--metrics-listen", "off",
		"--objective", "p99 tpot < 120ms", "--objective", "p99 ttft < 1s")
	return started(name, address, "", cmd)
}

const nginxConf = `daemon off;
worker_processes auto;
worker_rlimit_nofile 20000;
error_log stderr error;
pid %[1]s/pid;
events { worker_connections 20000; }
http {
  access_log off;
  client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
  upstream up { server %[3]s; keepalive 1000; }
  server {
    listen %[2]s;
    location / {
      proxy_pass http://up;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 600s;
    }
  }
}
`

func startNginx(s settings, upstream string) (*way, error) {
	path, err := exec.LookPath(s.nginx)
	if s.nginx == "" || err != nil {
		fmt.Fprintln(os.Stderr, "nginx is left out: it is not installed")
		return nil, nil
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "nginx")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	conf := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, nginxConf, dir, address, upstream), 0o644); err != nil {
		return nil, err
	}
	return started("nginx", address, dir, exec.Command(path, "-p", dir, "-c", conf))
}

func started(name, address, dir string, cmd *exec.Cmd) (*way, error) {
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	w := &way{name: name, address: address, process: cmd, dir: dir}
	for range 1200 { // one that is written in Python takes half a minute
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return w, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	w.stop()
	return nil, fmt.Errorf("%s does not listen", name)
}

// idle holds streams open that say little, and prints what memory they take.
func idle(s settings, up *upstream, ways []*way) error {
	for _, w := range ways[1:] {
		before := w.rss()
		c, err := client.New(client.Config{BaseURL: "http://" + w.address, API: api.OpenAIChat, Clock: up.clk, Form: client.PlainForm, ConnectTimeout: 30 * time.Second})
		if err != nil {
			return err
		}
		ctx, stop := context.WithCancel(context.Background())
		var opened, all sync.WaitGroup
		opened.Add(s.idle)
		var mu sync.Mutex
		open, slots := 0, make(chan bool, 64)
		for range s.idle {
			all.Go(func() {
				slots <- true
				r, err := c.Pass(ctx, &client.Passing{Method: http.MethodPost, Path: "/v1/chat/completions", Body: []byte(body), Length: int64(len(body)), Header: http.Header{}})
				<-slots
				if r != nil {
					defer r.Close()
				}
				if err == nil && r.Status == http.StatusOK {
					mu.Lock()
					open++
					mu.Unlock()
				}
				opened.Done()
				for err == nil {
					_, _, err = r.Read(0)
				}
			})
		}
		opened.Wait()
		time.Sleep(15 * time.Second) // a token or two each
		after := w.rss()
		fmt.Printf("%-10s %d streams: %.0f MB, %.0f MB before, %.1f KB a stream\n", w.name, open, after, before, (after-before)*1000/float64(max(open, 1)))
		stop()
		all.Wait()
		_ = c.Close()
	}
	return nil
}

// table prints the medians, and the differences from the direct way.
func table(rounds []round) {
	var names []string
	by := map[string][]round{}
	for _, r := range rounds {
		if by[r.Way] == nil {
			names = append(names, r.Way)
		}
		by[r.Way] = append(by[r.Way], r)
	}
	slices.SortFunc(names, func(a, b string) int { return order(a) - order(b) })
	med := func(name string, f func(round) timeline.Opt[float64]) timeline.Opt[float64] {
		var v []float64
		for _, r := range by[name] {
			if x, ok := f(r).Get(); ok {
				v = append(v, x)
			}
		}
		slices.Sort(v)
		return at(v, .5)
	}
	columns := []struct {
		name string
		of   func(round) timeline.Opt[float64]
	}{
		{"TTFT p50", func(r round) timeline.Opt[float64] { return r.TTFT50 }}, {"TTFT p99", func(r round) timeline.Opt[float64] { return r.TTFT99 }},
		{"chunk p50", func(r round) timeline.Opt[float64] { return r.Chunk50 }}, {"chunk p99", func(r round) timeline.Opt[float64] { return r.Chunk99 }},
	}
	fmt.Printf("\n| way | TTFT p50 | p99 | added p50 | added p99 | chunk p50 | p99 | added p50 | added p99 | CPU a chunk |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, name := range names {
		row := []any{name}
		for i := range 4 {
			v := med(name, columns[i].of)
			row = append(row, whole("%.0f", v))
			if i%2 == 1 { // p50 and p99 first, then what was added to both
				row = append(row, added(med, name, columns[i-1].of), added(med, name, columns[i].of))
			}
		}
		row = append(row, whole("%.1f", med(name, func(r round) timeline.Opt[float64] { return timeline.Some(r.CPU) })))
		fmt.Printf("| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", row...)
	}
	fmt.Println("\nMicroseconds; medians over the rounds; added: less the direct way of the same run.")
}

type median func(name string, of func(round) timeline.Opt[float64]) timeline.Opt[float64]

// added is what a way has more than the direct one.
func added(med median, name string, of func(round) timeline.Opt[float64]) string {
	v, ok1 := med(name, of).Get()
	direct, ok2 := med("direct", of).Get()
	if !ok1 || !ok2 {
		return "–"
	}
	return fmt.Sprintf("%+.0f", v-direct)
}

func order(name string) int {
	return slices.Index([]string{"direct", "tokenmeter", "before", "nginx", "bare", "half", "own", "haproxy", "litellm"}, name)
}
