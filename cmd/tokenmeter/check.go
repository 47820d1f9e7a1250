package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"tokenmeter/base/config"
)

// checker reads the values of flags and collects everything that is wrong.
// An empty text is a flag that was not given.
type checker struct{ errs []error }

func (c *checker) add(err error) {
	if err != nil {
		c.errs = append(c.errs, err)
	}
}

func (c *checker) addf(format string, args ...any) { c.add(fmt.Errorf(format, args...)) }

// err has one line a fault; nil: there is none.
func (c *checker) err() error { return errors.Join(c.errs...) }

// count reads a whole number of at least least.
func (c *checker) count(flag, text string, least int) int {
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	switch {
	case errors.Is(err, strconv.ErrRange):
		c.addf("%s %s: the number is too large", flag, text)
	case err != nil:
		c.addf("%s %q: give a whole number, like %s %d", flag, text, flag, max(least, 1)*8)
	case n < least:
		c.addf("%s %d: give at least %d", flag, n, least)
	default:
		return n
	}
	return 0
}

// number reads a positive number.
func (c *checker) number(flag, text, example string) float64 {
	if text == "" {
		return 0
	}
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsNaN(x) || math.IsInf(x, 0):
		c.addf("%s %q: give a number, like %s %s", flag, text, flag, example)
	case x <= 0:
		c.addf("%s %s: give a number above 0, like %s %s", flag, text, flag, example)
	default:
		return x
	}
	return 0
}

// share reads a share between 0 and 1, as a percentage or a number.
func (c *checker) share(flag, text string) float64 {
	if text == "" {
		return 0
	}
	bare, percent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(bare), 64)
	if percent {
		x /= 100
	}
	if err != nil || !(x > 0 && x < 1) {
		c.addf("%s %q: give a share above 0 and below 100 %%, like %s 2%%", flag, text, flag)
		return 0
	}
	return x
}

// duration reads a time of at least least; given reports whether there was one.
func (c *checker) duration(flag, text string, least time.Duration) (d time.Duration, given bool) {
	if text == "" {
		return 0, false
	}
	d, err := config.ParseDuration(text)
	switch {
	case err != nil && isNumber(text):
		c.addf("%s %s: a time needs a unit, like %s %ss", flag, text, flag, text)
	case err != nil:
		c.addf("%s %q: give a time, like %s 30s", flag, text, flag)
	case d < least && least == 0:
		c.addf("%s %s: a time can't be negative", flag, text)
	case d < least:
		c.addf("%s %s: give at least %s", flag, text, least)
	default:
		return d, true
	}
	return 0, false
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// choice checks that a value is one of several.
func (c *checker) choice(flag, text string, from ...string) {
	if text == "" {
		return
	}
	for _, f := range from {
		if text == f {
			return
		}
	}
	last := len(from) - 1
	c.addf("%s %q: choose %s or %s", flag, text, strings.Join(from[:last], ", "), from[last])
}
