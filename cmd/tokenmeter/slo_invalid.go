//go:build !lean

package main

import (
	"strings"

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
		}
	}
	return nil
}

// becauseOf is what the first invalid check says.
func becauseOf(v *validity.Validity) string {
	for _, c := range v.Checks {
		if c.Verdict == validity.Invalid {
			return ": " + c.Name + ": " + strings.TrimRight(c.Says, ". ")
		}
	}
	return ""
}
