package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tokenmeter/base/limitio"
	"tokenmeter/record/export"
	"tokenmeter/record/metric"
	"tokenmeter/wire/api"
	"tokenmeter/wire/capture"
)

type analyzeCmd struct {
	Captures []string `arg:"" name:"capture" help:"Capture files (*.capture.jsonl, also with .gz), or a run folder with captures."`
	API      string   `name:"api" placeholder:"NAME" help:"Read the streams as this API's. Default: what the capture says, or its bytes."`
	KeepText bool     `help:"Put the text of the replies into output_text."`

	sharedFlags `embed:""`
}

// Help is shown below the flags.
func (analyzeCmd) Help() string {
	return `Prints one record a capture as JSON lines, the same as export --as jsonl does for a run, exact to the times in the capture. The exit code is 0 whatever became of the requests, and 2 when a capture can't be read; the others are measured all the same.`
}

// Run measures the captures.
func (c *analyzeCmd) Run(a *app) error {
	opts := capture.Options{Stream: api.StreamOptions{KeepText: c.KeepText}}
	if c.API != "" {
		known, err := api.ByName(c.API)
		if err != nil {
			return fmt.Errorf("--api: %w", err)
		}
		opts.API = known
	}
	files, err := captureFiles(c.Captures)
	if err != nil {
		return err
	}
	lines := export.NewLines(a.stdout)
	var unread checker // captures; the others are measured all the same
	for _, name := range files {
		opts.Name = name
		rec, err := analyzeFile(name, opts)
		if err != nil {
			unread.add(err)
			continue
		}
		if err := lines.Write(rec); err != nil {
			return err
		}
	}
	if err := lines.Flush(); err != nil {
		return err
	}
	return unread.err()
}

// cause drops the path and the call that package os repeats.
func cause(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	return err
}

func analyzeFile(name string, opts capture.Options) (*metric.Record, error) {
	f, err := limitio.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	tl, err := capture.Analyze(f, opts)
	if err != nil {
		return nil, err
	}
	rec := metric.Of(tl)
	return &rec, nil
}

// captureFiles replaces folders by the captures in them.
func captureFiles(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("no capture can be read at %q: %w; give a *.capture.jsonl file or the folder of a run that was made with --capture", path, cause(err))
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		found := 0
		for _, dir := range []string{path, filepath.Join(path, "captures")} {
			for _, pattern := range []string{"*.capture.jsonl", "*.capture.jsonl.gz"} {
				names, _ := filepath.Glob(filepath.Join(dir, pattern))
				files = append(files, names...)
				found += len(names)
			}
		}
		if found == 0 {
			return nil, fmt.Errorf("%s holds no captures; record them with bench --capture", path)
		}
	}
	return files, nil
}
