package main

import (
	"compress/gzip"
	"io"
	"strings"
)

type licensesCmd struct {
	sharedFlags `embed:""`
}

// Run prints them.
func (licensesCmd) Run(a *app) error {
	text, err := gzip.NewReader(strings.NewReader(notices))
	if err != nil {
		return err
	}
	_, err = io.Copy(a.stdout, text)
	return err
}
