//go:build !linux

package clock

type rawSleep struct{}

func newRawSleep(*Clock) *rawSleep { return nil }

func (*rawSleep) until(int64) {}
func (*rawSleep) close()      {}
