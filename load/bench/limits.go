package bench

import (
	"errors"
	"fmt"
	"time"

	"tokenmeter/load/machine"
	"tokenmeter/record/timeline"
)

// spareFiles are the open files that are not connections to the target.
const spareFiles = 64

// Check returns what stands against a plan before anything is sent: settings that
// make no sense, or a load that this machine can't make. Its errors are *UsageError.
func Check(plan Plan) error {
	plan.settle()
	if err := plan.check(); err != nil {
		return err
	}
	limit, _ := machine.RaiseFiles()
	if err := errors.Join(plan.tooMuch(limit, machine.This().Ports())...); err != nil {
		return &UsageError{err}
	}
	return nil
}

// tooMuch says which limits of the machine a load is beyond; files 0: no limit.
func (p *Plan) tooMuch(files uint64, ports int) (errs []error) {
	if need := uint64(p.Concurrency) + spareFiles; files > 0 && need > files {
		errs = append(errs, fmt.Errorf("%d requests in flight need %d open files, but the limit is %d: raise it (ulimit -n %d) or use fewer",
			p.Concurrency, need, files, need))
	}
	if p.Concurrency > ports {
		errs = append(errs, fmt.Errorf("%d requests in flight need as many ports, but this machine has %d: use fewer, or several machines",
			p.Concurrency, ports))
	}
	return errs
}

// checkLimits refuses a load that this machine can't make, before a failure of
// ours is taken for one of the server.
func (r *runner) checkLimits(m *machine.Machine) error {
	p := r.plan
	limit, raised := machine.RaiseFiles()
	if raised {
		r.log.info("raised the limit of open files to %d", limit)
	}
	ports := m.Ports()
	if err := errors.Join(p.tooMuch(limit, ports)...); err != nil {
		return &UsageError{err}
	}
	if most := float64(ports) / machine.TimeWaitS; p.Client.NoKeepAlive && p.Rate > most {
		r.log.notice("ports_scarce", timeline.Some(p.Rate),
			"%.0f new connections a second: a closed one keeps its port for %d s, so the %d ports allow %.0f a second in longer runs.",
			p.Rate, machine.TimeWaitS, ports, most)
	}
	return nil
}

// coarse is how much a timer may overshoot before an open loop is no longer even.
const coarse = 3 * time.Millisecond

// checkTimer says when the moments of an open loop can't be kept, on systems
// where waiting rests on an ordinary timer.
func (r *runner) checkTimer() {
	if !r.plan.open() || r.plan.Timers {
		return
	}
	s := r.clk.Precise()
	exact := s.Exact()
	s.Close()
	if exact {
		return
	}
	if over := machine.TimerOvershoot(); over > coarse {
		r.log.notice("timer_coarse", timeline.Some(float64(over.Microseconds())/1000),
			"The timer of this system wakes %.1f ms late: requests leave in clumps. Their latency counts from the time they were due.",
			float64(over.Microseconds())/1000)
	}
}
