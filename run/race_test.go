//go:build race

package run

// The race detector makes pools forget, so allocations are not counted.
const raceDetector = true
