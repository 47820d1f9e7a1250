//go:build linux

package main

import (
	"bufio"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// The readers in C show what a machine can do at all: one waits for each event,
// one naps and leaves the stamping to the kernel.
var (
	promptReader = reader("c-reader", 0)
	napReader    = reader("c-reader-nap", 2000)
)

func reader(name string, napUS int) peer {
	return peer{
		name:  name,
		times: "tokens",
		version: func(s *setting) (string, error) {
			out, err := exec.Command("gcc", "-dumpfullversion").Output()
			if err != nil {
				return "", err
			}
			source, err := sourceFile("reader/reader.c")
			if err != nil {
				return "", err
			}
			build := exec.Command("gcc", "-O2", "-o", filepath.Join(s.bin, "reader"), source)
			build.Stderr = os.Stderr
			return "gcc " + strings.TrimSpace(string(out)), build.Run()
		},
		command: func(j *job) ([]string, error) {
			u, err := url.Parse(j.url)
			if err != nil {
				return nil, err
			}
			return []string{filepath.Join(j.bin, "reader"), u.Port(), strconv.FormatFloat(j.rate(), 'g', -1, 64),
				strconv.Itoa(j.Requests), strconv.Itoa(j.cap()), strconv.Itoa(napUS), strconv.Itoa(j.Tokens)}, nil
		},
		read: readReader,
	}
}

// readReader reads the lines "ID SENT_NS ARRIVAL_NS…".
func readReader(j *job) (*measured, error) {
	f, err := os.Open(j.file("stdout"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := &measured{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		field := strings.Fields(lines.Text())
		if len(field) < 3 {
			continue
		}
		r := request{id: field[0]}
		if r.sentNS, err = strconv.ParseInt(field[1], 10, 64); err != nil {
			return nil, err
		}
		for _, f := range field[2:] {
			at, err := strconv.ParseInt(f, 10, 64)
			if err != nil {
				return nil, err
			}
			r.atMS = append(r.atMS, float64(at-r.sentNS)/1e6)
		}
		r.firstMS, r.lastMS = r.atMS[0], r.atMS[len(r.atMS)-1]
		m.requests = append(m.requests, r)
	}
	return m, lines.Err()
}
