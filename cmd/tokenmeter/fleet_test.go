package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tokenmeter/service/slo/history/postgrestest"
)

// replica is a tokenmeter serve of a fleet, in a process of its own.
type replica struct {
	url string
	log bytes.Buffer
	cmd *exec.Cmd
}

// freeAddress is one on which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func startReplica(t *testing.T, config string, env ...string) *replica {
	t.Helper()
	r := &replica{url: "http://" + freeAddress(t)}
	text := strings.ReplaceAll(config, "LISTEN", strings.TrimPrefix(r.url, "http://"))
	file := filepath.Join(t.TempDir(), "tokenmeter.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	path, err := exec.LookPath("tokenmeter") // made by testscript.Main
	if err != nil {
		t.Fatal(err)
	}
	r.cmd = exec.Command(path, "serve", "-c", file)
	r.cmd.Stdout, r.cmd.Stderr = &r.log, &r.log
	r.cmd.Env = append(os.Environ(), env...)
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.cmd.Process.Kill()
		r.cmd.Wait()
	})
	return r
}

// ask sends requests, the first as soon as somebody listens.
func (r *replica) ask(t *testing.T, n int) {
	t.Helper()
	for range n {
		eventually(t, func() bool {
			answer, err := http.Post(r.url+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`))
			if err != nil {
				return false
			}
			io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
			return true
		})
	}
}

// Two daemons of a fleet count into one PostgreSQL, one of them is killed and
// comes back: the history has every request once. Two under one name can't be,
// and no password is anywhere.
func TestFleetOnOnePostgreSQL(t *testing.T) {
	if testing.Short() {
		t.Skip("four processes")
	}
	server := postgrestest.Start(t)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer up.Close()
	const password = "canary-Password-Kd3"
	store := strings.Replace(server.Database(t), "tokenmeter@", "tokenmeter:"+password+"@", 1)
	config := func(name string) string {
		return fmt.Sprintf(`
listeners: [{listen: "LISTEN"}]
upstreams: [{name: one, url: %q}]
routes: [{name: all, upstreams: [{name: one}]}]
admin: {listen: "127.0.0.1:0"}
metrics: {hold: 0s, linger: 0s}
store: %q
store_name: %s
slo:
  objectives:
    - {name: up, objective: availability >= 90%%, window: 7d}
`, up.URL, store, name)
	}
	file := filepath.Join(t.TempDir(), "slo.yaml")
	if err := os.WriteFile(file, []byte("objectives: [{name: up, objective: availability >= 90%, window: 7d}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	report := func(more ...string) (valid int) {
		t.Helper()
		var out, errs bytes.Buffer
		args := append([]string{"slo", "report", "-c", file, "--store", store, "--format", "json"}, more...)
		code := Main(args, &out, &errs, func(string) (string, bool) { return "", false })
		said.Write(out.Bytes())
		said.Write(errs.Bytes())
		var doc struct{ Objectives []struct{ Valid int } }
		if code != 0 || json.Unmarshal(out.Bytes(), &doc) != nil || len(doc.Objectives) != 1 {
			return -1
		}
		return doc.Objectives[0].Valid
	}
	a, b := startReplica(t, config("a"), "PGPASSWORD="+password), startReplica(t, config("b"), "PGPASSWORD="+password)
	a.ask(t, 20)
	b.ask(t, 30)
	eventually(t, func() bool { return report() == 50 })
	a.cmd.Process.Kill() // SIGKILL
	a.cmd.Wait()
	if got := report(); got != 50 {
		t.Errorf("after the kill there are %d of 50", got)
	}
	again := startReplica(t, config("a"))
	again.ask(t, 5)
	b.ask(t, 5)
	eventually(t, func() bool { return report() >= 60 })
	if all, one := report(), report("--daemon", "a"); all != 60 || one != 25 {
		t.Errorf("all have %d, want 60; a has %d, want 25\n%s", all, one, again.log.String())
	}
	second := startReplica(t, config("b"))
	if code := waitCode(second.cmd); code == 0 || !strings.Contains(second.log.String(), "store_name") {
		t.Errorf("a second daemon under a name: exit code %d\n%s", code, second.log.String())
	}
	if got := report("--daemon", "nobody"); got != -1 {
		t.Errorf("a daemon that is none has %d", got)
	}
	b.cmd.Process.Kill()
	b.cmd.Wait()
	postgrestest.SQL(t, store, `UPDATE "tokenmeter_b".cells SET tier = 99`)
	damaged := startReplica(t, config("b"))
	if code := waitCode(damaged.cmd); code == 0 || !strings.Contains(damaged.log.String(), "damaged") {
		t.Errorf("a damaged history: exit code %d\n%s", code, damaged.log.String())
	}
	for name, text := range map[string]string{"a": a.log.String(), "damaged": damaged.log.String(), "second": second.log.String(), "reports": said.String()} {
		if text == "" || strings.Contains(text, password) {
			t.Errorf("%s: no word, or the password: %q", name, text)
		}
	}
}
