// Package capture reads and writes raw replies with their arrival times, and
// turns them back into timelines: the same reply, measured again without a
// server and without a clock.
//
// A capture (*.capture.jsonl) is JSON lines. Times are milliseconds since the
// request was due, with up to three decimals: whole microseconds.
//
// The first line describes the request and the response's head:
//
//	{"capture":"tokenmeter/v1","api":"openai-chat","status":200,"head_ms":5,
//	 "headers":{"content-type":"text/event-stream"},"request":{…}}
//
// Everything but "capture" may be missing. "api" is found from the bytes then;
// "status" 0 or none means that no response came; "head_ms" defaults to the
// first read; a header is a string or a list of strings; "request" is the
// request's JSON body or null, and tells whether a stream was asked for and how
// many tokens. Further fields carry what a live measurement knows, so that the
// timeline of a capture is the live one:
//
//	due_s, start_s               on the run's clock, with up to six decimals
//	dns_ms, connect_ms, tls_ms   durations
//	sent_ms                      the request was written, since due
//	reused, remote               the connection
//	attempts, conn_retries, redirects, retry_after_ms
//	clock                        kernel or user: where arrivals were stamped
//	ordinal, id, phase, worker, session, turn, task, step, parent, model
//	asked, requested_tokens      where the request does not tell
//	flags                        flags that the client set
//
// Then one line a read, in order, as the bytes were received, after transfer
// decoding. A writer undoes content encodings too, in which no secret can be seen,
// and leaves out that header; what can't be decoded is left out. Other captures
// may keep both. "lag_ms" is how long after its arrival the read was picked up.
//
//	{"t_ms":214,"data":"data: {…}\n\n"}
//	{"t_ms":215.25,"lag_ms":0.04,"b64":"…"}      bytes that are no UTF-8
//
// The last line tells how the body ended: "eof", "cut", "reset",
// "timeout_ttft", "timeout_idle", "timeout_total" (or "timeout"),
// "cancelled_user" (or "cancelled") or "cancelled_run_end".
//
//	{"t_ms":255,"end":"eof","trailers":{…}}
//
// It may carry "cause", the words of a network error, "clock_step_ms", and
// "error" ({"class","message"}) for a request that failed outside the reply,
// as a refused connection does. A capture without a last line, of a client that
// was killed, is read as cut at its last read.
package capture
