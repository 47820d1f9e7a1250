// Package reader is the wing of what people read: comparisons of runs, and
// reports for terminals and browsers.
package reader
