// Package wire is the wing of what is on the network: bytes become events, events
// become tokens with the time at which each arrived, and a reply becomes a
// timeline of package record.
package wire
