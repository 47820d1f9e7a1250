//go:build !lean

package main

import (
	"slices"
	"strings"

	"tokenmeter/record/exit"
	"tokenmeter/record/run"
	"tokenmeter/record/validity"
)

// warnInvalid says which runs are invalid measurements: they are counted, but
// what they say of objectives is not the server's.
func (c *sloSource) warnInvalid(a *app) error {
	for _, path := range c.Runs {
		f, err := run.Open(path)
		if err != nil {
			return err
		}
		v := f.Run().Validity
		f.Close()
		if v.Voids() {
			a.warn("note: %s is an INVALID measurement and says nothing about its objectives%s", path, becauseOf(&v))
		} else if v.Verdict == validity.Unknown {
			a.warn("note: %s: nobody knows whether it is valid%s", path, becauseOf(&v))
		}
	}
	return nil
}

// facts counts the requests of the runs, and says how far they can be believed:
// one that can't be spoils them all.
func (c *sloSource) facts() (all exit.Facts, err error) {
	for _, path := range c.Runs {
		f, err := run.Open(path)
		if err != nil {
			return all, err
		}
		r := f.Run()
		f.Close()
		all = all.And(exit.OfRequests(&r.Requests))
		switch {
		case r.Validity.Voids():
			all.Measurement, all.Doubt = validity.Invalid, path+" is an invalid measurement"
		case r.Validity.Verdict == validity.Unknown && all.Measurement == "":
			all.Measurement = validity.Unknown
		}
	}
	return all, nil
}

// becauseOf is what the first invalid check says.
func becauseOf(v *validity.Validity) string {
	for _, c := range slices.Backward(v.Checks) { // the damage of an unknown one stands last
		if c.Verdict == v.Verdict {
			return ": " + c.Name + ": " + strings.TrimRight(c.Says, ". ")
		}
	}
	return ""
}
