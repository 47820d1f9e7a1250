//go:build !linux

package main

import "os"

func disturb(*os.Process) (calm func(), err error) { return func() {}, nil }
