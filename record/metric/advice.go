package metric

import "tokenmeter/record/timeline"

// Advice explains an outcome class: what happened, the likely cause, and what
// to do next.
type Advice struct {
	Outcome timeline.Outcome
	Means   string
	Cause   string
	Next    string
}

// Text is the advice in a few lines, for a terminal.
func (a Advice) Text() string {
	return Paragraph(string(a.Outcome)+": "+a.Means, [][2]string{{"cause", a.Cause}, {"next", a.Next}})
}

// OutcomeAdvice has one entry for every outcome class, in their order.
var OutcomeAdvice = []Advice{
	{timeline.OK, "the answer was complete",
		"–", "nothing to do"},
	{timeline.ConnectRefused, "nothing listens at the address, or it cannot be reached",
		"the server is not up yet, or host and port are wrong; under load, its accept queue is full",
		"try the URL with curl; use --wait-ready for a server that is still loading; under load, raise the server's listen backlog"},
	{timeline.DNS, "the host name has no address",
		"a typing error, or a resolver that is down or overloaded",
		"check the name; give the address itself to leave the resolver out"},
	{timeline.TLS, "the secure connection could not be made",
		"a certificate that is self-signed, expired or for another name; or a plain-HTTP port",
		"give the authority's certificate with --ca-file, or --insecure to skip the check; try http:// where the server speaks no TLS"},
	{timeline.TimeoutConnect, "no connection within --connect-timeout",
		"a firewall that drops packets, a wrong address, or a server too busy to accept",
		"try from the same machine with curl; lower the rate of new connections or keep connections alive"},
	{timeline.TimeoutTTFT, "no token within --ttft-timeout",
		"the queue or the prompt's prefill took longer than allowed",
		"lower the load or the prompt length; look at ttft_ms and the server's queue; raise the limit only if readers would wait that long"},
	{timeline.TimeoutIdle, "tokens came, then none for --idle-timeout",
		"the server stalled (preemption, a hung worker) or a proxy in between lost the stream",
		"look at the server's log for the x-request-id; compare with a direct connection"},
	{timeline.TimeoutTotal, "the request took longer than --timeout",
		"long answers at a slow pace, or a server that stopped reading",
		"look at the tokens that did come; lower --output-tokens or raise --timeout"},
	{timeline.HTTP429, "the server refused: too many requests",
		"a rate limit or a full queue",
		"lower --rate or --concurrency below the limit; refused requests count as failed, because users see them"},
	{timeline.HTTP4xx, "the server refused the request",
		"a wrong key, model name, path or parameter; the message has the server's own words",
		"run with --dry-run and send the printed curl command; check --api, --model and the key; a URL that is the endpoint itself may end in #"},
	{timeline.HTTP5xx, "the server or its gateway failed",
		"a crashed or overloaded worker, or no healthy upstream behind a load balancer",
		"read the server's log for the x-request-id; find the load at which it begins with a sweep"},
	{timeline.RedirectRefused, "the server sent the request elsewhere, and it was not followed",
		"http:// where https:// is meant, or a path that has moved",
		"use the location in the message as the URL, or --follow-redirects for 307 and 308 on the same host"},
	{timeline.BadContentType, "the answer is neither a stream nor JSON",
		"a web page of a proxy or a login, or the wrong path",
		"open the URL in the message; check that the path is the API's"},
	{timeline.Parse, "the answer could not be read",
		"another API than --api says, a broken stream, or an event over the size limit",
		"keep the raw stream with --capture and look at it; check --api"},
	{timeline.StreamError, "the server accepted the request, and then reported an error in its reply",
		"a worker that died or was overloaded after the reply had begun, or a server that answers errors with 200",
		"read the message and the server's log; such requests count as failed, their tokens as spent"},
	{timeline.StreamTruncated, "the stream ended without a finish reason or a terminator",
		"an upstream that died while the gateway closed the body cleanly, or a gateway's own time limit",
		"compare close_ms of these requests: equal times point to a limit; go round the gateway"},
	{timeline.ConnReset, "the connection was reset",
		"a crashed server, a restarted gateway, or an idle limit in between",
		"look for a restart at that time; compare with a direct connection"},
	{timeline.EmptyOutput, "a complete answer with nothing in it",
		"reasoning that is not streamed and takes the whole length, a stop token at once, a filtered answer, an input over the context length, or a field that is not understood",
		"raise --output-tokens where usage counts reasoning; look at finish_reason where the API has one, and at the raw reply with --capture; where empty answers are right, use --allow-empty"},
	{timeline.CancelledRunEnd, "still running when the run ended; left out of every figure of latency",
		"answers longer than the time that was left",
		"raise --grace or --duration if there are many"},
	{timeline.CancelledUser, "the user hung up; neither good nor bad",
		"an interrupt, or a client that left (proxy)",
		"nothing to do; many of them can mean that answers are too slow"},
	{timeline.ClientResource, "this machine could not send the request, or not hold its reply",
		"out of file descriptors, ports or memory",
		"raise `ulimit -n`, keep connections alive, or use more machines; such failures are never the server's"},
	{timeline.Untold, "it failed in another tool's run, whose file does not say how",
		"whatever the message says, in that tool's words",
		"read the message; look at that tool's own log"},
}

// UnverifiedTLS is what a run says whose server's certificate was not looked at.
func UnverifiedTLS() Warning {
	return Warning{Name: "tls_unverified", Says: "The server's certificate was not verified (--insecure): whoever answered may be another, and could read the key."}
}
