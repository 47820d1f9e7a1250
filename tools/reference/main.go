// Command reference writes what documents and examples take from the code: the
// tables of docs/, the JSON Schemas of the configuration files, the dashboards and
// the scaling rules. Run it after a change to one of their sources:
//
//	go run ./tools/reference
package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"tokenmeter/base/config"
	"tokenmeter/load/workload"
	"tokenmeter/service/daemon"
	"tokenmeter/service/slo"
	"tokenmeter/tools/dashboard"
)

func main() {
	if err := write("."); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

// write writes every file that differs, below the repository's root.
func write(root string) error {
	files, err := made(root)
	if err != nil {
		return err
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		if old, err := os.ReadFile(path); err == nil && string(old) == text {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
		fmt.Println(name)
	}
	return nil
}

// made is every file as it should be, by its path below the root.
func made(root string) (map[string]string, error) {
	files := map[string]string{}
	for _, g := range generated {
		name := "docs/" + g.file
		if _, ok := files[name]; !ok {
			data, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				return nil, err
			}
			files[name] = string(data)
		}
		begin, end := "<!-- generated: "+g.name+" -->\n", "<!-- end: "+g.name+" -->"
		before, rest, ok := strings.Cut(files[name], begin)
		_, after, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			return nil, fmt.Errorf("%s has no part between %q and %q", name, strings.TrimSpace(begin), end)
		}
		files[name] = before + begin + "\n" + g.body() + "\n" + end + after
	}
	for _, s := range schemas {
		data, err := config.Schema(s.of, "urn:tokenmeter:schema:"+s.name, s.title)
		if err != nil {
			return nil, err
		}
		files["docs/"+s.name+".schema.json"] = string(data) + "\n"
	}
	for name, write := range dashboards {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return nil, err
		}
		files["examples/dashboards/"+name] = b.String()
	}
	return files, nil
}

// schemas are those of the files that users write, for their editors.
var schemas = []struct {
	of          any
	name, title string
}{
	{&slo.Spec{}, "slo", "Objectives of tokenmeter"},
	{&daemon.Config{}, "serve", "The configuration of tokenmeter serve"},
	{&workload.Spec{}, "workload", "A tokenmeter workload"},
}

var dashboards = map[string]func(io.Writer) error{
	"grafana.json": dashboard.Grafana, "datadog.json": dashboard.Datadog, "keda.yaml": dashboard.KEDA, "hpa.yaml": dashboard.HPA,
}
