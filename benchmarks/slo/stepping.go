//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"tokenmeter/service/daemon"
	"tokenmeter/service/traffic"
)

// What a daemon whose clock may be wrong is told.
const (
	ahead  = syscall.SIGUSR1 // its clock is a day ahead from now on
	behind = syscall.SIGUSR2 // a day behind
	right  = syscall.SIGHUP  // and right again
)

// serveStepping is `tokenmeter serve -c CONFIG --records FILE` with a wall clock
// that is wrong when a signal says so. No other process's clock is touched, as
// it would be if this machine's own was set.
func serveStepping(config, records string) error {
	var off atomic.Int64
	steps := make(chan os.Signal, 4)
	signal.Notify(steps, ahead, behind, right)
	go func() {
		for s := range steps {
			switch s {
			case ahead:
				off.Store(int64(24 * time.Hour))
			case behind:
				off.Store(-int64(24 * time.Hour))
			default:
				off.Store(0)
			}
		}
	}()
	rows, err := daemon.OpenRecords(records)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err = daemon.Run(ctx, daemon.Options{
		Load:  func() (*daemon.Plan, error) { return daemon.Load(config, os.LookupEnv) },
		Now:   func() time.Time { return time.Now().Add(time.Duration(off.Load())) },
		Sinks: []traffic.Sink{rows},
		Log:   slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	dropped, closing := rows.Close()
	if dropped > 0 {
		closing = errors.Join(closing, fmt.Errorf("%d records were not written", dropped))
	}
	return errors.Join(err, closing)
}
