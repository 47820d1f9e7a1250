// Package physics is the wing of servers that never were: a model of a
// continuous-batching engine in virtual time, and a simulated inference server
// that knows when it wrote every token. It knows base only, so that it can
// judge the rest.
package physics
