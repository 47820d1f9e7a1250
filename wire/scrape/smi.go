package scrape

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tool is a vendor's program that prints what its GPUs do. What it prints becomes
// a page with the names of that vendor's exporter.
type tool struct {
	args []string
	page func(printed []byte) ([]byte, error)
}

// tools are those whose names may stand in place of a page's address.
var tools = map[string]tool{
	"nvidia-smi": {strings.Fields("--query-gpu=uuid,utilization.gpu,memory.used,memory.free,power.draw --format=csv,noheader,nounits"), nvidiaPage},
	"amd-smi":    {strings.Fields("metric --usage --power --mem-usage --json"), amdPage},
}

// IsTool reports whether a name is that of a program that can be read like a page.
func IsTool(name string) bool { return tools[name].page != nil }

// ToolNames lists them.
func ToolNames() []string {
	names := []string{}
	for name := range tools {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// mostPrinted bounds what a tool prints.
const mostPrinted = 1 << 20

// run starts a tool, and says how much of a processor it took.
func (t tool) run(ctx context.Context, name string, limit time.Duration) (page []byte, spent time.Duration, err error) {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	cmd := exec.CommandContext(ctx, name, t.args...)
	cmd.WaitDelay = limit
	var out capped
	cmd.Stdout = &out
	err = cmd.Run()
	if s := cmd.ProcessState; s != nil {
		spent = s.UserTime() + s.SystemTime()
	}
	switch {
	case ctx.Err() != nil:
		return nil, spent, fmt.Errorf("%s did not end within %v", name, limit)
	case err != nil:
		return nil, spent, fmt.Errorf("%s: %w", name, err)
	case out.full:
		return nil, spent, fmt.Errorf("%s printed more than %d bytes", name, mostPrinted)
	}
	page, err = t.page(out.kept)
	if err != nil {
		return nil, spent, fmt.Errorf("%s: %w", name, err)
	}
	return page, spent, nil
}

// capped keeps the beginning of what is written. It is no bytes.Buffer, whose
// ReadFrom would take everything.
type capped struct {
	kept []byte
	full bool
}

func (c *capped) Write(p []byte) (int, error) {
	if len(c.kept)+len(p) > mostPrinted {
		c.full = true
		return len(p), nil
	}
	c.kept = append(c.kept, p...)
	return len(p), nil
}

var errNoGPU = errors.New("it printed no GPU")

// nvidiaPage reads a line a GPU; [N/A] and [Not Supported] are no values.
func nvidiaPage(printed []byte) ([]byte, error) {
	names := []string{"", "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_POWER_USAGE"}
	in := csv.NewReader(bytes.NewReader(printed))
	in.TrimLeadingSpace, in.FieldsPerRecord, in.LazyQuotes = true, len(names), true
	lines, err := in.ReadAll()
	if err != nil {
		return nil, err
	}
	var b []byte
	for _, cells := range lines {
		for i, name := range names {
			if v, err := strconv.ParseFloat(strings.TrimSpace(cells[i]), 64); i > 0 && err == nil {
				b = fmt.Appendf(b, "%s{UUID=%q} %v\n", name, cells[0], v)
			}
		}
	}
	if len(b) == 0 {
		return nil, errNoGPU
	}
	return b, nil
}

// reading is a value with its unit, or the text "N/A".
type reading struct {
	value float64
	unit  string
	known bool
}

func (r *reading) UnmarshalJSON(data []byte) error {
	var v struct {
		Value *float64 `json:"value"`
		Unit  string   `json:"unit"`
	}
	if json.Unmarshal(data, &v) == nil && v.Value != nil {
		*r = reading{*v.Value, v.Unit, true}
	}
	return nil
}

// loose is a part of amd-smi's answer that may be the text "N/A" instead.
type loose[T any] struct{ is T }

func (l *loose[T]) UnmarshalJSON(data []byte) error {
	var v T
	if json.Unmarshal(data, &v) == nil {
		l.is = v
	}
	return nil
}

// amdPage reads a list of GPUs, which newer versions put below gpu_data.
func amdPage(printed []byte) ([]byte, error) {
	type gpu struct {
		GPU   json.Number `json:"gpu"`
		Usage loose[struct {
			GFX reading `json:"gfx_activity"`
			UMC reading `json:"umc_activity"`
		}] `json:"usage"`
		Power loose[struct {
			Socket reading `json:"socket_power"`
		}] `json:"power"`
		Memory loose[struct {
			Total reading `json:"total_vram"`
			Used  reading `json:"used_vram"`
		}] `json:"mem_usage"`
	}
	var gpus []gpu
	if err := json.Unmarshal(printed, &gpus); err != nil {
		var whole struct {
			Data []gpu `json:"gpu_data"`
		}
		if err2 := json.Unmarshal(printed, &whole); err2 != nil {
			return nil, err
		}
		gpus = whole.Data
	}
	var b []byte
	for _, g := range gpus {
		for _, x := range []struct {
			name string
			reading
		}{
			{"gpu_gfx_activity", g.Usage.is.GFX}, {"gpu_umc_activity", g.Usage.is.UMC}, {"gpu_package_power", g.Power.is.Socket},
			{"gpu_total_vram", g.Memory.is.Total}, {"gpu_used_vram", g.Memory.is.Used},
		} {
			if x.known {
				b = fmt.Appendf(b, "%s{gpu_uuid=%q} %v\n", x.name, g.GPU.String(), x.value)
			}
		}
	}
	if len(b) == 0 {
		return nil, errNoGPU
	}
	return b, nil
}
