package scrape

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A page through a server's life: not there yet, there, away, and another engine's.
func TestLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		after := func() time.Duration { return time.Since(began) }
		l := NewLive(Watch{Pages: []Page{{URL: "http://a/metrics"}}, Every: 5 * time.Second})
		var asked atomic.Int32
		l.page.client.Transport = roundTrip(func(*http.Request) (*http.Response, error) {
			asked.Add(1)
			says := func(status int, text string) (*http.Response, error) {
				return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(text))}, nil
			}
			switch s := int(after() / time.Second); {
			case s < 60:
				return nil, errors.New("nobody there")
			case s < 600:
				return says(200, fmt.Sprintf("vllm:num_requests_running 3\nvllm:generation_tokens_total %d\n", 100*s))
			case s < 1200:
				return says(503, "")
			}
			return says(200, "sglang:num_running_reqs 7\nsglang:generation_tokens_total 9\n")
		})
		var told []string
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			l.Run(ctx, func(err error) { told = append(told, fmt.Sprintf("%v: %v", after().Round(time.Second), err)) })
			close(done)
		}()
		at := func(s int, running float64) map[string]float64 {
			time.Sleep(time.Duration(s)*time.Second - after())
			synctest.Wait()
			now := l.Now()
			if running < 0 && now != nil || running >= 0 && now["running"] != running {
				t.Errorf("after %d s: %v, want %v running", s, now, running)
			}
			return now
		}
		at(30, -1)
		if n := asked.Load(); n > 5 { // 0, 10, 30, …: ever less often
			t.Errorf("a page that is not there was asked for %d times in half a minute", n)
		}
		at(125, 3)
		if a, b := at(200, 3)["output_tokens"], at(590, 3)["output_tokens"]; b-a != 39000 {
			t.Errorf("from 200 s to 590 s there were %v tokens at 100 a second", b-a)
		}
		at(640, -1) // what it said before is nobody's reading of now
		failed := l.Failed()
		at(1190, -1)
		if n := l.Failed() - failed; n < 9 || n > 12 {
			t.Errorf("in nine minutes it was tried %d times, want about once a minute", n)
		}
		at(1300, 7)
		stop()
		<-done
		if len(told) != 3 || !strings.Contains(told[0], "nobody there") || !strings.Contains(told[1], "503") || !strings.HasSuffix(told[2], "<nil>") {
			t.Errorf("it told %q", told)
		}
	})
}

// A page that was only guessed is missed with one word, and found when it is there.
func TestLiveGuessed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		l := NewLive(Watch{Pages: []Page{{URL: "http://a/metrics", Else: []string{"http://a/v1/metrics"}, Guessed: true}}})
		l.page.client.Transport = roundTrip(func(q *http.Request) (*http.Response, error) {
			status := http.StatusNotFound
			if q.URL.Path == "/v1/metrics" && time.Since(began) > 5*time.Minute {
				status = http.StatusOK
			}
			return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader("num_requests_running 1\nnum_requests_waiting 0\nnum_request_max 9\n"))}, nil
		})
		var told []string
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			l.Run(ctx, func(err error) { told = append(told, fmt.Sprint(err)) })
			close(done)
		}()
		time.Sleep(7 * time.Minute)
		synctest.Wait()
		if now := l.Now(); now["running"] != 1 {
			t.Errorf("it read %v", now)
		}
		stop()
		<-done
		if len(told) != 1 || !strings.Contains(told[0], "404") {
			t.Errorf("it told %q", told)
		}
	})
}
