package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"

	"tokenmeter/base/child"
	"tokenmeter/wire/client"
)

// interruptible returns a context that the first SIGINT, SIGTERM or SIGHUP
// cancels, after calling stopping. The second one leaves at once: what was
// recorded more than half a second ago is in the journal.
func interruptible(stopping func()) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	got := make(chan os.Signal, 2)
	listen(got)
	working.Add(1)
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
			leave()
		case <-done:
		}
	}()
	return ctx, func() {
		working.Add(-1)
		signal.Stop(got)
		close(done)
		cancel(nil)
	}
}

// leave ends the program now, and the programs that it runs, and leaves no half file.
func leave() {
	child.EndAll()
	removeHalfFiles()
	os.Exit(exitInterrupted)
}

// halfFiles has the files that are being written and do not bear their own name yet.
var halfFiles sync.Map

func removeHalfFiles() {
	halfFiles.Range(func(name, _ any) bool {
		_ = os.Remove(name.(string))
		return true
	})
}

// working counts the contexts of interruptible that did not end.
var working atomic.Int32

// leaveAtSignals makes 130 the exit code of a command that is interrupted while there
// is nothing to stop: before its work began and when all is saved. The default would be
// to die of the signal. A daemon is not hung up before it listens for that: it is about
// to read its configuration anyway.
func leaveAtSignals(command string) {
	if command == "serve" || command == "proxy" {
		signal.Ignore(syscall.SIGHUP)
		return
	}
	got := make(chan os.Signal, 1)
	listen(got)
	go func() {
		for range got {
			if working.Load() == 0 {
				leave()
			}
		}
	}()
}

func listen(got chan<- os.Signal) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // under nohup it stays ignored
		signals = append(signals, syscall.SIGHUP)
	}
	signal.Notify(got, signals...)
}
