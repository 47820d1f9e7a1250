package client

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// Servers that send as fast as they are read keep neither their requests from being given
// up nor another from its reply. In pieces of a byte they are faster than their reader.
func TestServersThatNeverStop(t *testing.T) {
	const floods = 8
	endless := strings.Repeat("1\r\n\n\r\n", 200_000)
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	flows := make(chan bool)
	go func() {
		for n := 0; ; n++ {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer nc.Close()
				req, err := http.ReadRequest(bufio.NewReader(nc))
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, req.Body)
				_, _ = io.WriteString(nc, head+chunk(tok("w")))
				if n >= floods {
					_, _ = io.WriteString(nc, chunk(fin+done)+"0\r\n\r\n")
					return
				}
				_, err = io.WriteString(nc, endless)
				for flows <- true; err == nil; {
					_, err = io.WriteString(nc, endless)
				}
			}()
		}
	}()
	c, err := New(Config{BaseURL: "http://" + ln.Addr().String(), API: api.OpenAIChat, Form: ReactorForm})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, giveUp := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range floods {
		all.Go(func() { want(t, "outcome", send(ctx, c).Outcome, timeline.CancelledUser) })
		<-flows
	}
	want(t, "another's outcome", send(t.Context(), c).Outcome, timeline.OK)
	giveUp()
	all.Wait()
}
