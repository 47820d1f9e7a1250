// Package laws is a test bench: servers made of a queue and a stated law of
// service, in virtual time, whose figures are known from theory or from 10⁷
// requests. It shares nothing with package engine, so that what is judged by one
// may be checked against the other.
package laws
