//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
)

// peer is a client to be compared. Each has a file of its own and a line below.
type peer struct {
	name string
	// times is how much of its measurement the client keeps.
	times string
	// version names what would run, or says why it cannot.
	version func(*setting) (string, error)
	// command is the client's run, with its best documented flags. What it leaves
	// goes into the job's folder.
	command func(*job) ([]string, error)
	env     []string // for the client, beside the environment
	mayFail bool     // its exit code says other things too
	// read returns the measured requests, not those of a warm-up.
	read func(*job) (*measured, error)
}

// peers is the table of clients.
var peers = []peer{
	tokenmeterPeer,
	aiperfPeer,
	guidellmPeer,
	vllmPythonPeer,
	vllmRustPeer,
	inferencePerfPeer,
	llmeterPeer,
	promptReader,
	napReader,
}

// setting is where things are.
type setting struct {
	venvs string // the folder that setup filled
	work  string // scratch
	bin   string // what was built for this run
}

// tool is a program of a peer's virtual environment.
func (s *setting) tool(peer, name string) (string, error) {
	path := filepath.Join(s.venvs, peer, "bin", name)
	_, err := os.Stat(path)
	return path, err
}

// pinned is the version that setup installed for a peer, as pip tells it.
func (s *setting) pinned(peer, pkg string) (string, error) {
	python, err := s.tool(peer, "python")
	if err != nil {
		return "", err
	}
	out, err := exec.Command(python, "-c", "import importlib.metadata as m; print(m.version('"+pkg+"'), end='')").Output()
	return string(out), err
}

// tokenizer is the folder of a tokenizer whose words are the server's tokens.
func (s *setting) tokenizer() string { return filepath.Join(s.venvs, "tokenizer") }

// offline keeps libraries from asking a hub on the network.
var offline = []string{"HF_HUB_OFFLINE=1", "TRANSFORMERS_OFFLINE=1"}

// job is one run of one client.
type job struct {
	*setting
	load
	url string // http://HOST:PORT
	dir string // empty folder for results
}

// file is the path of a file in the job's folder.
func (j *job) file(name string) string { return filepath.Join(j.dir, name) }

// write makes a file in the job's folder and returns its path.
func (j *job) write(name, text string) (string, error) {
	return j.file(name), os.WriteFile(j.file(name), []byte(text), 0o666)
}

// measured is what a client says of its requests.
type measured struct {
	requests  []request
	published map[string]figures // its own report: "ttft", "itl", "e2e", in ms
}

// request is one measured request, as the client saw it. Times in ms count from
// when the client says it sent the request.
type request struct {
	id      string
	firstMS float64
	lastMS  float64
	atMS    []float64 // each token; nil when the client keeps no such times
	sentNS  int64     // CLOCK_MONOTONIC; 0 when the client uses another clock
}

// figures are three numbers of a distribution.
type figures struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
}
