//go:build lean

package main

// madeWorkloads is empty in a lean build.
type madeWorkloads struct{}
