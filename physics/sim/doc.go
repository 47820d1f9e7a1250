// Package sim is a simulated inference server that knows the truth: when each
// token was due, when it was written, how long a request queued, how many
// sequences shared its step. A client's measurement can be held against it.
//
// It speaks the OpenAI chat and completions APIs, streamed or not, over real
// TCP with writes paced to the microsecond, and over in-memory pipes in the
// virtual time of testing/synctest, where every time is exact.
package sim
