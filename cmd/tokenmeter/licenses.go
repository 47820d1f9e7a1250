package main

import (
	"compress/gzip"
	_ "embed"
	"io"
	"strings"
)

// notices are the licences of what others wrote and the binary holds, packed: a
// seventh of the text. `go run ./tools/notices` writes them.
//
//go:embed notices.txt.gz
var notices string

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
