package scrape

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"tokenmeter/base/child"
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
func ToolNames() []string { return slices.Sorted(maps.Keys(tools)) }

// mostPrinted bounds what a tool prints.
const mostPrinted = 1 << 20

// straggle is how long a tool may take to go once it was killed, and what it
// started may keep its output open once it ended.
const straggle = time.Second

// errStuck: the system can't end a program that waits inside a driver.
var errStuck = errors.New("it can't be ended")

// run starts a tool, and says how much of a processor it took.
func (t tool) run(ctx context.Context, name string, limit time.Duration) (page []byte, spent time.Duration, err error) {
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	cmd := exec.CommandContext(ctx, name, t.args...)
	cmd.WaitDelay = straggle
	var out capped
	cmd.Stdout = &out
	if err = orStuck(ctx, func() error { return child.Run(cmd) }); errors.Is(err, errStuck) {
		return nil, 0, fmt.Errorf("%s did not end within %v, and %w", name, limit, err)
	}
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

// orStuck is what f returns, or errStuck where it still runs long after ctx is done.
func orStuck(ctx context.Context, f func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- f() }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	late := time.NewTimer(2 * straggle)
	defer late.Stop()
	select {
	case err := <-ended:
		return err
	case <-late.C:
		return errStuck
	}
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
	var gpus []row
	for _, cells := range lines {
		g := row{label: fmt.Sprintf("UUID=%q", cells[0])}
		for _, cell := range cells[1:] {
			v, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
			g.cells = append(g.cells, reading{value: v, known: err == nil})
		}
		gpus = append(gpus, g)
	}
	return pageOf(names[1:], gpus)
}

// row is what a GPU tells of the figures that its tool has.
type row struct {
	label string
	cells []reading
}

// pageOf leaves out a figure that not every GPU tells: power of one of two would be
// taken for that of both.
func pageOf(names []string, gpus []row) ([]byte, error) {
	var b []byte
	for i, name := range names {
		if slices.ContainsFunc(gpus, func(g row) bool { return !g.cells[i].known }) {
			continue
		}
		for _, g := range gpus {
			b = fmt.Appendf(b, "%s{%s} %v\n", name, g.label, g.cells[i].value)
		}
	}
	if len(b) == 0 {
		return nil, errNoGPU
	}
	return b, nil
}

// reading is a value, where there is one.
type reading struct {
	value float64
	known bool
}

// amdFigures are where amd-smi has a GPU's figures, and what its exporter calls them.
var amdFigures = []struct{ part, figure, name string }{
	{"usage", "gfx_activity", "gpu_gfx_activity"},
	{"usage", "umc_activity", "gpu_umc_activity"},
	{"power", "socket_power", "gpu_package_power"},
	{"mem_usage", "total_vram", "gpu_total_vram"},
	{"mem_usage", "used_vram", "gpu_used_vram"},
}

// amdPage reads a list of GPUs, which newer versions put below gpu_data. Any part of it
// may be the text "N/A" instead.
func amdPage(printed []byte) ([]byte, error) {
	var gpus []map[string]any
	if err := json.Unmarshal(printed, &gpus); err != nil {
		var whole struct {
			Data []map[string]any `json:"gpu_data"`
		}
		if json.Unmarshal(printed, &whole) != nil {
			return nil, err
		}
		gpus = whole.Data
	}
	var rows []row
	for _, g := range gpus {
		one := row{label: fmt.Sprintf("gpu_uuid=%q", fmt.Sprint(cmp.Or(g["gpu"], any(""))))}
		for _, f := range amdFigures {
			part, _ := g[f.part].(map[string]any)
			figure, _ := part[f.figure].(map[string]any)
			v, known := figure["value"].(float64)
			one.cells = append(one.cells, reading{v, known})
		}
		rows = append(rows, one)
	}
	var names []string
	for _, f := range amdFigures {
		names = append(names, f.name)
	}
	return pageOf(names, rows)
}
