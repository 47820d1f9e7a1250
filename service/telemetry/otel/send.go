package otel

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// sender posts messages of OTLP to one URL. OpenTelemetry's own exporters over HTTP
// do the same and bring gRPC with them, which is 2 MB of the binary. Source:
// opentelemetry.io/docs/specs/otlp, 1.9, "OTLP/HTTP".
type sender struct {
	url     string
	headers map[string]string
	timeout time.Duration // of a message, with its repeats
	client  *http.Client
}

func newSender(url string, headers map[string]string, config *tls.Config, timeout time.Duration) *sender {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if config != nil {
		transport.TLSClientConfig = config
	}
	return &sender{url: url, headers: headers, timeout: timeout, client: &http.Client{Transport: transport,
		// Headers with keys go to nobody else, and a POST that became a GET sends nothing.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// firstWait is how long is waited before a message is sent again where the other
// side does not say; each further wait is twice as long.
const firstWait = 500 * time.Millisecond

// post sends a message, again and again within the timeout where the other side asks
// for that. A message of which a part was refused is an error.
func (s *sender) post(ctx context.Context, m proto.Message) error {
	data, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write(data); err != nil {
		return err
	}
	if err := zip.Close(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	for wait := firstWait; ; wait *= 2 {
		again, err := s.once(ctx, packed.Bytes())
		if again < 0 {
			return err
		}
		timer := time.NewTimer(max(again, wait))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(err, ctx.Err())
		}
	}
}

// once sends the message; again is how long to wait before the next try, and below 0
// where there is none.
func (s *sender) once(ctx context.Context, packed []byte) (again time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(packed))
	if err != nil {
		return -1, err
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	request.Header.Set("Content-Encoding", "gzip")
	for name, value := range s.headers {
		request.Header.Set(name, value)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return -1, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 4<<20))
	switch code := response.StatusCode; {
	case code/100 == 2 && err == nil:
		return -1, partly(body)
	case code == http.StatusTooManyRequests, code == http.StatusBadGateway, code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		return time.Duration(min(max(seconds, 0), 24*60*60)) * time.Second, fmt.Errorf("HTTP %d", code)
	default:
		return -1, errors.Join(fmt.Errorf("HTTP %d", code), err)
	}
}

// partly is an error if the answer says that something was rejected: its first field
// is partial_success, of which the first is how much.
func partly(answer []byte) error {
	partial, _ := field(answer, 1)
	if _, rejected := field(partial, 1); rejected > 0 {
		return fmt.Errorf("%d of the values were rejected", rejected)
	}
	return nil
}

// field is a field of a message of protobuf, as bytes or as a number.
func field(message []byte, number protowire.Number) (data []byte, value uint64) {
	for len(message) > 0 {
		n, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return nil, 0
		}
		message = message[size:]
		switch {
		case n == number && kind == protowire.BytesType:
			data, _ := protowire.ConsumeBytes(message)
			return data, 0
		case n == number && kind == protowire.VarintType:
			value, _ := protowire.ConsumeVarint(message)
			return nil, value
		}
		if size = protowire.ConsumeFieldValue(n, kind, message); size < 0 {
			return nil, 0
		}
		message = message[size:]
	}
	return nil, 0
}

// HeadersOf reads OTEL_EXPORTER_OTLP_HEADERS: name=value with commas, values as in a
// URL; what is none of it is left out. Source:
// opentelemetry.io/docs/specs/otel/protocol/exporter.
func HeadersOf(environment string) map[string]string {
	all := map[string]string{}
	for part := range strings.SplitSeq(environment, ",") {
		name, value, ok := strings.Cut(part, "=")
		if value, err := url.PathUnescape(strings.TrimSpace(value)); ok && err == nil && strings.TrimSpace(name) != "" {
			all[strings.TrimSpace(name)] = value
		}
	}
	return all
}
