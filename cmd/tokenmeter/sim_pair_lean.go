//go:build lean

package main

import "tokenmeter/physics/sim"

// simPair is empty in a lean build: pairs are scheduled as their usual server
// does, and nothing is tried in virtual time.
type simPair struct{}

func (simPair) schedule(string, *sim.Config) error { return nil }
func (simPair) tries() bool                        { return false }
func (simPair) try(*app, sim.Config) error         { return nil }
