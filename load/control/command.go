package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"tokenmeter/base/child"
	"tokenmeter/base/printable"
	"tokenmeter/record/run"
)

const (
	// Log is the file in the run's folder that holds what the commands printed.
	Log = run.ControlLog
	// mostPrinted is how much of a command's output is kept.
	mostPrinted = 1 << 20
)

// command runs a line of the user's in the shell. What it prints goes straight into a
// file: a server that it starts may go on to write there when the command has ended.
func (c *Control) command(ctx context.Context, when, line string, more map[string]string) error {
	err := c.act(ctx, when+"_point", line, func(ctx context.Context) error {
		out, err := os.CreateTemp(c.point.Dir, "printed-*")
		if err != nil {
			return fmt.Errorf("its output has no place: %w", err)
		}
		if os.Remove(out.Name()) != nil { // some systems remove no open file
			defer os.Remove(out.Name())
		}
		defer out.Close()
		began := c.now()
		err = c.shell(ctx, line, out, c.env(when, more))
		if failed := c.log(out, fmt.Sprintf("%.3f s, %s the point: %s", began, when, line)); err == nil {
			err = failed
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("the command %s the point (%s) failed: %w; what it printed is in %s", when, c.point.Redact(line), err, filepath.Join(c.point.Dir, Log))
	}
	return nil
}

// shell runs a line to its end. One that is ended by us is ended with all it started.
func (c *Control) shell(ctx context.Context, line string, out *os.File, env []string) error {
	name, args := "/bin/sh", []string{"-c", line}
	if runtime.GOOS == "windows" {
		name, args = "cmd", []string{"/C", line}
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = out, out, env
	cmd.WaitDelay = straggle
	return child.Run(cmd)
}

// straggle is how long a command may take to go once it was killed.
const straggle = 5 * time.Second

// env is the environment of a command: each fact in a variable of its own.
func (c *Control) env(when string, more map[string]string) []string {
	env := append(slices.Clone(c.plan.Env), "TOKENMETER_POINT="+when)
	facts := maps.Clone(c.point.Facts)
	maps.Copy(facts, more)
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		if value := facts[name]; !strings.Contains(value, "\x00") {
			env = append(env, "TOKENMETER_"+strings.ToUpper(name)+"="+value)
		}
	}
	return env
}

// log adds what was printed to the log of the run, without secrets and without what
// acts on the terminal of who reads it.
func (c *Control) log(printed *os.File, head string) error {
	text, err := io.ReadAll(io.NewSectionReader(printed, 0, mostPrinted+1))
	if err != nil {
		return fmt.Errorf("its output could not be read: %w", err)
	}
	note := ""
	if len(text) > mostPrinted {
		text, note = text[:mostPrinted], "\n[further output is not kept]"
	}
	said := printable.Lines(c.keys.String(c.point.Redact(strings.ReplaceAll(string(text), "\r\n", "\n"))))
	f, err := os.OpenFile(filepath.Join(c.point.Dir, Log), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("its output could not be kept: %w", err)
	}
	_, err = fmt.Fprintf(f, "== %s\n%s%s\n", printable.Text(c.point.Redact(head)), strings.TrimRight(said, "\n"), note)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("its output could not be kept: %w", err)
	}
	return nil
}
