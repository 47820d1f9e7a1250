package doctor

import (
	"context"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/load/machine"
	"tokenmeter/record/timeline"
)

// state is all that was read and measured of the machine, before it is judged.
type state struct {
	env      machine.Environment
	settings machine.Settings
	usage    machine.Usage // while nothing of ours ran
	timer    lateness
	stamps   stamps
	stepUS   timeline.Opt[int64] // the wall clock was set while we looked
}

// lookTime is how long the machine is watched for its load.
const lookTime = 700 * time.Millisecond

func measure(ctx context.Context, m *machine.Machine) state {
	clk := clock.Start()
	before := clk.Now()
	from := m.Sample()
	select {
	case <-time.After(lookTime):
	case <-ctx.Done():
	}
	s := state{env: m.Environment(), settings: m.Settings(), usage: from.Until(m.Sample())}
	s.timer = waitLate(ctx)
	s.stamps = stamped(func() stamps { return loopback(ctx) })
	if us, stepped := clk.Now().StepUS(before); stepped {
		s.stepUS = timeline.Some(us)
	}
	return s
}
