package run

import (
	"errors"
	"fmt"
)

// Parquet's decoders are pooled for the whole process and hold channels. In
// virtual time (testing/synctest) a decoder made in one test would break the
// next one, so the library decodes in goroutines whose ancestor was started
// with the program and belongs to no test. Their channels are made there too.
var callers = make(chan *caller)

type caller struct {
	call   chan func() error
	result chan error
}

func init() {
	go func() {
		for {
			c := &caller{make(chan func() error), make(chan error)}
			callers <- c
			go c.serve()
		}
	}()
}

func (c *caller) serve() {
	var err error
	defer func() { c.result <- err }()
	defer caught(&err)
	err = (<-c.call)()
}

// outside runs f there, waits for it, and returns a panic of it as damage.
func outside(f func() error) error { return launch(f).wait() }

// launch lets f run there; wait must be called.
func launch(f func() error) *caller {
	c := <-callers
	c.call <- f
	return c
}

// wait waits for what was launched, and returns a panic of it as damage.
func (c *caller) wait() error { return <-c.result }

var errTable = errors.New("damaged Parquet file")

// caught makes an error of a panic: the library panics on some damaged tables.
func caught(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%w: %v", errTable, r)
	}
}
