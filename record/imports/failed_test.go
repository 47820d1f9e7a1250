package imports

import (
	"fmt"
	"testing"

	"tokenmeter/record/timeline"
)

// A failure without a status is of the class that the tool's client names, and says nothing
// of the server where it names none. The words are those of AIPerf 0.13 and inference-perf
// 0.7 where nothing listened, of aiohttp, httpx, requests and OpenAI's client, and of vLLM's
// errors, which are an HTTP status's reason (vllm/benchmarks/lib/endpoint_request_func.py).
func TestWhatFailed(t *testing.T) {
	for _, c := range []struct {
		kind, words string
		want        timeline.Outcome
	}{
		{"ClientConnectorError", `ClientConnectorError(ConnectionKey(host='127.0.0.1', port=18619, is_ssl=False, ssl=True, proxy=None), ConnectionRefusedError(111, "Connect call failed ('127.0.0.1', 18619)"))`, timeline.ConnectRefused},
		{"ClientConnectorError", "Cannot connect to host 127.0.0.1:18619 ssl:default [Connect call failed ('127.0.0.1', 18619)]", timeline.ConnectRefused},
		{"", "httpx.ConnectError: All connection attempts failed", timeline.ConnectRefused},
		{"ClientConnectorDNSError", "Cannot connect to host nowhere:80 ssl:default [Name or service not known]", timeline.DNS},
		{"", "ConnectError: [Errno -3] Temporary failure in name resolution", timeline.DNS},
		{"ClientConnectorCertificateError", "Cannot connect to host h:443 ssl:True [SSLCertVerificationError: (1, '[SSL: CERTIFICATE_VERIFY_FAILED]')]", timeline.TLS},
		{"ConnectionTimeoutError", "Connection timeout to host http://10.0.0.1/", timeline.TimeoutConnect},
		{"TimeoutError", "TimeoutError()", timeline.TimeoutTotal},
		{"", "Traceback (most recent call last):\n…\nasyncio.exceptions.TimeoutError", timeline.TimeoutTotal},
		{"", "Request timed out.", timeline.TimeoutTotal},
		{"ServerDisconnectedError", "Server disconnected", timeline.ConnReset},
		{"", "ClientOSError: [Errno 104] Connection reset by peer", timeline.ConnReset},
		{"ClientPayloadError", "Response payload is not completed: <TransferEncodingError: 400>", timeline.StreamTruncated},
		{"", "OSError: [Errno 24] Too many open files", timeline.ClientResource},
		{"SSEResponseError", "overloaded", timeline.StreamError},
		{"", "Too Many Requests", timeline.HTTP429},
		{"", "Bad Request", timeline.HTTP4xx},
		{"503", "busy", timeline.HTTP5xx}, // error.type of OpenTelemetry
		{"", "Never received a valid chunk to calculate TTFT.", timeline.EmptyOutput},
		{"", "the model is too hot", timeline.Untold},
		{"", "", timeline.Untold},
	} {
		if got := outcomeOf(0, c.kind, c.words); got != c.want {
			t.Errorf("%s %q: %s, want %s", c.kind, c.words, got, c.want)
		}
	}
	for status, want := range map[int]timeline.Outcome{429: timeline.HTTP429, 404: timeline.HTTP4xx, 502: timeline.HTTP5xx} {
		if got := outcomeOf(status, "ClientResponseError", "Connection refused"); got != want { // a gateway's words
			t.Errorf("%d: %s, want %s", status, got, want)
		}
	}
	// Where no status is in the words nor in the class, none is made up.
	_, all := read(t, "f.csv", fmt.Appendf(nil, "start_s,e2e_ms,error\n0,5,%q\n", "Service Unavailable"))
	if tl := all[0]; tl.Outcome != timeline.HTTP5xx || tl.HTTPStatus != 0 {
		t.Errorf("%s, %d", tl.Outcome, tl.HTTPStatus)
	}
}
