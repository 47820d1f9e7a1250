package scrape

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// readTool enters what a tool printed, as if it had been read.
func readTool(t *testing.T, name, printed string) (map[string]float64, error) {
	t.Helper()
	page, err := tools[name].page([]byte(printed))
	if err != nil {
		return nil, err
	}
	var l ledger
	return l.enter(page, time.Now())
}

// The form of nvidia-smi --format=csv,noheader,nounits, of amd-smi metric --json as
// people posted it (henrygd/beszel issue 737; ROCm/rocm-systems pull 2720).
const (
	twoNvidia = "GPU-e189fb8d-1627-f8f0-2ba3-c0585a8e9e85, 40, 20000, 60000, 300.50\nGPU-0b1c, 60, 40000, 40000, 299.50\n"
	partly    = "GPU-e189, [N/A], 1000, 3000, [Not Supported]\n"
	radeon    = `[{"gpu":0,"usage":{"gfx_activity":{"value":42,"unit":"%"},"umc_activity":{"value":1,"unit":"%"},"mm_activity":{"value":0,"unit":"%"},"vcn_activity":[{"value":0,"unit":"%"},"N/A"]},
		"power":{"socket_power":{"value":20,"unit":"W"},"gfx_voltage":{"value":780,"unit":"mV"},"throttle_status":"UNTHROTTLED"},
		"mem_usage":{"total_vram":{"value":49136,"unit":"MB"},"used_vram":{"value":12284,"unit":"MB"},"free_vram":{"value":36852,"unit":"MB"}}}]`
	strix = `{"gpu_data":[{"timestamp":1769014607,"gpu":0,"usage":"N/A","power":{"socket_power":"N/A"},"mem_usage":{"total_vram":{"value":512,"unit":"MB"},"used_vram":{"value":256,"unit":"MB"}}}]}`
)

func TestToolsAreReadLikePages(t *testing.T) {
	for _, c := range []struct {
		tool, printed string
		want          map[string]float64
	}{
		{"nvidia-smi", twoNvidia, map[string]float64{"gpus": 2, "gpu_utilization": 0.5, "gpu_memory": 0.375, "gpu_power_w": 600}},
		{"nvidia-smi", partly, map[string]float64{"gpus": 1, "gpu_memory": 0.25}},
		{"nvidia-smi", partly + twoNvidia, map[string]float64{"gpus": 3, "gpu_memory": 61.0 / 164}},
		{"amd-smi", radeon, map[string]float64{"gpus": 1, "gpu_utilization": 0.42, "gpu_dram_active": 0.01, "gpu_memory": 0.25, "gpu_power_w": 20}},
		{"amd-smi", strix, map[string]float64{"gpus": 1, "gpu_memory": 0.5}},
	} {
		got, err := readTool(t, c.tool, c.printed)
		if err != nil {
			t.Errorf("%s: %v", c.tool, err)
		}
		for name, v := range c.want {
			if got[name] != v {
				t.Errorf("%s: %s is %v, want %v", c.tool, name, got[name], v)
			}
		}
		for name := range got {
			if _, ok := c.want[name]; !ok {
				t.Errorf("%s: %s is %v, and nobody said so", c.tool, name, got[name])
			}
		}
	}
}

func TestToolsThatPrintNothingOfUse(t *testing.T) {
	for name, printed := range map[string][]string{
		"nvidia-smi": {"", "No devices were found\n", "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n", "GPU-1, [N/A], [N/A], [N/A], [N/A]\n", "a,b,c,d,e\n"},
		"amd-smi":    {"", "[]", "null", "{}", "3", `[{"gpu":0,"usage":"N/A"}]`, `[{"gpu":{},"usage":[1]}]`, "'CTRL' + 'C' to stop watching output:\n[]"},
	} {
		for _, text := range printed {
			if got, err := readTool(t, name, text); err == nil {
				t.Errorf("%s printed %q: %v", name, text, got)
			}
		}
	}
}

func TestToolsThatHangFailOrFlood(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the tools here are shell scripts")
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	for script, says := range map[string]string{
		"sleep 60":                           "did not end within",
		"exit 9":                             "exit status 9",
		"yes GPU-1,1,1,1,1 | head -n 100000": "printed more than",
		"printf 'GPU-1, 5, 1, 3, 100\\n'":    "",
	} {
		if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		limit := 10 * time.Second
		if says == "did not end within" {
			limit = 100 * time.Millisecond
		}
		page, _, err := tools["nvidia-smi"].run(context.Background(), "nvidia-smi", limit)
		switch {
		case says == "" && (err != nil || !strings.Contains(string(page), `DCGM_FI_DEV_POWER_USAGE{UUID="GPU-1"} 100`)):
			t.Errorf("%s: %q, %v", script, page, err)
		case says != "" && (err == nil || !strings.Contains(err.Error(), says)):
			t.Errorf("%s: %v, want %q", script, err, says)
		}
	}
}

func TestToolsThatCannotBeEndedAreLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
		defer stop()
		release, begun := make(chan error), time.Now()
		if err := orStuck(ctx, func() error { return <-release }); !errors.Is(err, errStuck) {
			t.Error(err)
		}
		if took := time.Since(begun); took > 8*time.Second {
			t.Errorf("held up for %v", took)
		}
		close(release)
		p := &watched{Page: Page{URL: "nvidia-smi"}, readings: 3, err: fmt.Errorf("nvidia-smi: %w", errStuck)}
		if !(&Watcher{}).hopeless(p) {
			t.Error("a second one is started beside one that can't be ended")
		}
	})
}

func FuzzTools(f *testing.F) {
	for _, s := range []string{twoNvidia, partly, radeon, strix} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, printed string) {
		for name := range tools {
			if page, err := tools[name].page([]byte(printed)); err == nil {
				if err := samples(page, func(*sample) {}); err != nil {
					t.Errorf("%s: %q became a page that is none: %v\n%s", name, printed, err, page)
				}
			}
		}
	})
}
