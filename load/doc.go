// Package load is the wing of what asks: what to send, when to send it, and the
// machine it is sent from; one run, or a range of runs.
package load
