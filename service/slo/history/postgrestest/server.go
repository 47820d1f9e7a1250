// Package postgrestest starts a PostgreSQL of a test's own.
package postgrestest

import (
	"bytes"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/lib/pq" // the driver
)

// Required is the environment variable that makes a missing PostgreSQL a failure.
const Required = "TOKENMETER_POSTGRES"

// Server is a PostgreSQL that listens on a socket in a folder of its own.
type Server struct {
	dir  string // data is in it, and the socket
	bin  string
	as   []string // begins each command: the server refuses to be root
	made int
}

// Start starts a server for a test and those below it. Where none is installed
// the test is skipped, or fails where Required is set.
func Start(t testing.TB) *Server {
	t.Helper()
	s, why := find()
	if why != "" {
		if os.Getenv(Required) != "" {
			t.Fatalf("%s, and %s is set", why, Required)
		}
		t.Skip(why)
	}
	var err error
	if s.dir, err = os.MkdirTemp("", "pg"); err != nil { // a socket's path is short
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(s.dir) })
	if err := os.Chmod(s.dir, 0o777); err != nil { // the server's user makes its own there
		t.Fatal(err)
	}
	s.do(t, "initdb", "-N", "-A", "trust", "-U", "tokenmeter", "-E", "UTF8", "-D", s.data())
	t.Cleanup(func() { _ = s.command("pg_ctl", "-D", s.data(), "-m", "immediate", "stop").Run() })
	s.Begin(t)
	return s
}

func find() (s *Server, why string) {
	s = &Server{}
	if path, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		s.bin = filepath.Dir(path)
	} else if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres"); len(found) > 0 {
		s.bin = filepath.Dir(found[len(found)-1])
	} else {
		return nil, "PostgreSQL is not installed (apt-get install postgresql)"
	}
	if runtime.GOOS != "windows" && os.Getuid() == 0 {
		if _, err := user.Lookup("postgres"); err != nil {
			return nil, "PostgreSQL refuses to be root, and there is no user postgres"
		}
		s.as = []string{"runuser", "-u", "postgres", "--"}
	}
	return s, ""
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(program string, args ...string) *exec.Cmd {
	all := append(append(append([]string{}, s.as...), filepath.Join(s.bin, program)), args...)
	c := exec.Command(all[0], all[1:]...)
	c.Dir = s.dir
	c.Env = append(os.Environ(), "LC_ALL=C")
	return c
}

func (s *Server) do(t testing.TB, program string, args ...string) {
	t.Helper()
	c := s.command(program, args...)
	// A server that goes on holds what it was given: a pipe would not end.
	out, err := os.CreateTemp(s.dir, program)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	c.Stdout, c.Stderr = out, out
	if err := c.Run(); err != nil {
		said, _ := os.ReadFile(out.Name())
		t.Fatalf("%s: %v\n%s", program, err, bytes.TrimSpace(said))
	}
}

// Begin starts the server where it was ended.
func (s *Server) Begin(t testing.TB) {
	t.Helper()
	s.do(t, "pg_ctl", s.starting()...)
}

func (s *Server) starting() []string {
	return []string{"-D", s.data(), "-w", "-l", filepath.Join(s.data(), "log"), "-o", "-k " + s.dir + " -h '' -c fsync=off -c shared_buffers=16MB", "start"}
}

// End ends the server: fast, with its connections, or as a power cut would
// (immediate).
func (s *Server) End(t testing.TB, mode string) {
	t.Helper()
	s.do(t, "pg_ctl", "-D", s.data(), "-w", "-m", mode, "stop")
}

// Kill kills the server's first process and all others with SIGKILL.
func (s *Server) Kill(t testing.TB) {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(file), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	// The others end by themselves when the first is gone.
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(20 * time.Second)
	for {
		if s.command("pg_ctl", s.starting()...).Run() == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the server does not start after it was killed")
		}
	}
}

// SQL runs statements in a database, named by its URL.
func SQL(t testing.TB, database, statements string) {
	t.Helper()
	db, err := sql.Open("postgres", database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statements); err != nil {
		t.Fatalf("%s: %v", statements, err)
	}
}

// Socket is where the server listens.
func (s *Server) Socket() string { return filepath.Join(s.dir, ".s.PGSQL.5432") }

// Database makes a new database and returns its URL.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	s.made++
	name := fmt.Sprintf("history%d", s.made)
	SQL(t, s.url("postgres"), "CREATE DATABASE "+name)
	return s.url(name)
}

func (s *Server) url(database string) string {
	u := url.URL{Scheme: "postgres", User: url.User("tokenmeter"), Path: "/" + database, RawQuery: url.Values{"host": {s.dir}}.Encode()}
	return u.String()
}
