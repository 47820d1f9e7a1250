package imports

import (
	"net/http"
	"strconv"
	"strings"

	"tokenmeter/record/timeline"
)

// outcomeOf is the class of a failure of which no class is told: by its status, else by
// what the tool's client calls it. Words that say nothing of it claim nothing of the server.
func outcomeOf(status int, kind, words string) timeline.Outcome {
	if status == 0 { // error.type of OpenTelemetry; vLLM's errors are the status's reason alone
		status = statusIn(kind, words)
	}
	switch {
	case status == 429:
		return timeline.HTTP429
	case status >= 500:
		return timeline.HTTP5xx
	case status >= 400:
		return timeline.HTTP4xx
	}
	for _, c := range classes {
		for word := range strings.SplitSeq(c.words, "|") {
			if strings.Contains(kind, word) || strings.Contains(words, word) {
				return c.class
			}
		}
	}
	switch strings.ToLower(strings.TrimRight(strings.TrimSpace(words), ".")) {
	case "timeout", "timed out", "request timed out": // a CSV's, OpenAI's client's
		return timeline.TimeoutTotal
	}
	return timeline.Untold
}

// statusIn is the status of a failure that is nothing else; 0: there is none.
func statusIn(texts ...string) int {
	for _, text := range texts {
		if n, err := strconv.Atoi(text); err == nil && n >= 400 && n < 600 {
			return n
		}
		for n := 400; n < 600 && text != ""; n++ {
			if http.StatusText(n) == text {
				return n
			}
		}
	}
	return 0
}

// classes are words of what Python's clients (aiohttp, httpx, requests, OpenAI's) and the
// system call failures. The first that is there counts: a name that isn't found is a
// connection that isn't made, too.
var classes = []struct {
	class timeline.Outcome
	words string
}{
	{timeline.ClientResource, "Too many open files|Cannot assign requested address"},
	{timeline.DNS, "gaierror|ConnectorDNSError|getaddrinfo failed|Name or service not known|nodename nor servname|in name resolution"},
	{timeline.TLS, "CERTIFICATE_VERIFY_FAILED|SSLError|SSLCertVerificationError|ConnectorCertificateError|ConnectorSSLError|[SSL"},
	{timeline.TimeoutConnect, "ConnectTimeout|ConnectionTimeoutError|Connection timeout to host"},
	{timeline.ConnectRefused, "ConnectionRefusedError|Connection refused|Connect call failed|actively refused|ClientConnectorError|Cannot connect to host|" +
		"All connection attempts failed|No route to host|Network is unreachable"},
	{timeline.StreamTruncated, "ClientPayloadError|TransferEncodingError|ContentLengthError|IncompleteRead|incomplete chunked read|payload is not completed"},
	{timeline.ConnReset, "ConnectionResetError|Connection reset by peer|ServerDisconnectedError|Server disconnected|BrokenPipeError"},
	{timeline.TimeoutTotal, "TimeoutError|ReadTimeout|Timeout on reading data"},
	{timeline.StreamError, "SSEResponseError"},
	{timeline.EmptyOutput, "No responses with actual content|Never received a valid chunk"},
}
