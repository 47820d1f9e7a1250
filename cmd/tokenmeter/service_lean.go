//go:build lean

package main

// service is empty in a lean build.
type service struct{}
