// Package gather goes once through the requests of a run and keeps what charts and
// findings need of them: some 60 bytes a request, a grid of time, the slowest and
// the first failed requests. Nothing per token stays.
package gather
