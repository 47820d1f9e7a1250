package clock

import (
	"testing"

	"golang.org/x/sys/unix"
)

// What First changes is as before after it, and no thread is left ahead.
func TestFirstIsUndone(t *testing.T) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		restore := First()
		thread := unix.Gettid()
		during, err := unix.Getpriority(unix.PRIO_PROCESS, thread)
		restore()
		after, err2 := unix.Getpriority(unix.PRIO_PROCESS, thread)
		if err != nil || err2 != nil || after > during || during > 40 {
			t.Errorf("20 − niceness was %d, then %d (%v, %v)", during, after, err, err2)
		}
	}()
	<-done
}
