// Command notices writes the licences of everything that the binary holds and others
// wrote, which `tokenmeter licenses` prints: run it from the repository's root, after
// go.mod has changed. With -check it only says whether the file is as it should be.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const binary = "./cmd/tokenmeter"

// files are written, and beside each, packed, what that build holds.
var files = []struct{ name, tags string }{
	{"cmd/tokenmeter/notices.txt", ""},
	{"cmd/tokenmeter/notices_lean.txt", "lean"},
}

// targets are the systems that a release is built for: each has modules of its own.
var targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// legal are the files of a module that have to go with it.
var legal = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice|patents|copyright)[^/]*$`)

func main() {
	check := flag.Bool("check", false, "write nothing; fail where the file is not up to date")
	flag.Parse()
	for _, f := range files {
		text, err := notices(f.tags)
		if err == nil && *check {
			err = same(f.name, text)
		} else if err == nil {
			err = write(f.name, text)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "notices:", err)
			os.Exit(1)
		}
	}
}

func write(file string, text []byte) error {
	var packed bytes.Buffer
	zip, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := zip.Write(text); err != nil {
		return err
	}
	if err := zip.Close(); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(file, text, 0o644), os.WriteFile(file+".gz", packed.Bytes(), 0o644))
}

func same(file string, text []byte) error {
	have, err := os.ReadFile(file)
	if err == nil && !bytes.Equal(have, text) {
		err = fmt.Errorf("%s is older than go.mod: go run ./tools/notices", file)
	}
	return err
}

// notices lists the modules, and then every text once, with whose it is.
func notices(tags string) ([]byte, error) {
	dirs, err := modules(tags)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(dirs))
	for name := range dirs {
		names = append(names, name)
	}
	slices.Sort(names)
	whose := map[string][]string{}
	var order []string
	for _, name := range names {
		texts, err := textsOf(dirs[name])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, t := range texts {
			if whose[t] == nil {
				order = append(order, t)
			}
			if !slices.Contains(whose[t], name) {
				whose[t] = append(whose[t], name)
			}
		}
	}
	var b bytes.Buffer
	b.WriteString("tokenmeter holds what others wrote, under these licences:\n\n")
	for _, name := range names {
		fmt.Fprintln(&b, "  "+name)
	}
	for _, t := range order {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 72), strings.Join(whose[t], "\n"), t)
	}
	return b.Bytes(), nil
}

// modules are the folders of all that is compiled in, by name and version.
func modules(tags string) (map[string]string, error) {
	dirs := map[string]string{"the two vocabularies (tiktoken, OpenAI)": "wire/tokens/ranks"}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	dirs["the Go standard library"] = strings.TrimSpace(string(root))
	for _, target := range targets {
		system, arch, _ := strings.Cut(target, "/")
		list := exec.Command("go", "list", "-deps", "-tags", tags, "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", binary)
		list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
		list.Stderr = os.Stderr
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", target, err)
		}
		for line := range strings.Lines(string(out)) {
			if name, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
				dirs[name] = dir
			}
		}
	}
	return dirs, nil
}

// textsOf reads a module's licences and notices; it is an error to have none.
func textsOf(dir string) (texts []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() || !legal.MatchString(e.Name()) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		text := strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n"))
		if text != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("no licence in %s", dir)
	}
	return texts, nil
}
