//go:build lean

package main

// rare is empty in a lean build.
type rare struct{}
