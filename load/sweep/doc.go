// Package sweep measures a server over a range of loads or lengths, and finds
// the largest load at which objectives hold.
//
// A search needs nothing but a Subject: a server behind bench, or a model of
// one in virtual time.
package sweep
