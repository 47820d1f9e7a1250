package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"tokenmeter/wire/client"
)

// interruptible returns a context that the first SIGINT, SIGTERM or SIGHUP
// cancels, after calling stopping. The second one leaves at once: what was
// recorded more than half a second ago is in the journal.
func interruptible(stopping func()) (ctx context.Context, end func()) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // under nohup it stays ignored
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	got := make(chan os.Signal, 2)
	signal.Notify(got, signals...)
	done := make(chan struct{})
	go func() {
		select {
		case <-got:
			stopping()
			cancel(client.ErrUser)
		case <-done:
			return
		}
		select {
		case <-got:
			os.Exit(exitInterrupted)
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(got)
		close(done)
		cancel(nil)
	}
}
