// Package view says what a run shows, before a form is given to it: the verdict,
// the table of latencies, what became of objectives, what failed, what is wrong
// with the measurement and what to do next. Every form shows this view, so that no
// two of them can say different things.
package view
