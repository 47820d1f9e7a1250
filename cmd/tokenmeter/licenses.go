package main

import (
	_ "embed"
	"io"
)

// notices are the licences of what others wrote and the binary holds; `go run
// ./tools/notices` writes them.
//
//go:embed notices.txt
var notices string

type licensesCmd struct {
	sharedFlags `embed:""`
}

// Run prints them.
func (licensesCmd) Run(a *app) error {
	_, err := io.WriteString(a.stdout, notices)
	return err
}
