package proxy

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/record/timeline"
)

// An upstream is well when its answer ended, and sick when none began or one
// says so; what lies between tells nothing.
func TestSigns(t *testing.T) {
	const noHead = 0
	for _, tc := range []struct {
		status  int
		of      sign
		outcome []timeline.Outcome
	}{
		{noHead, ailing, []timeline.Outcome{timeline.ConnectRefused, timeline.DNS, timeline.TLS, timeline.TimeoutConnect, timeline.TimeoutTTFT,
			timeline.TimeoutTotal, timeline.ConnReset, timeline.Parse}},
		{noHead, noSign, []timeline.Outcome{timeline.CancelledUser, timeline.CancelledRunEnd, timeline.ClientResource}},
		{200, wellOff, []timeline.Outcome{timeline.OK, timeline.EmptyOutput, timeline.StreamError, timeline.BadContentType}},
		{200, ailing, []timeline.Outcome{timeline.TimeoutTTFT, timeline.ConnReset}},
		{200, noSign, []timeline.Outcome{timeline.TimeoutIdle, timeline.TimeoutTotal, timeline.StreamTruncated, timeline.Parse, timeline.CancelledUser}},
		{400, wellOff, []timeline.Outcome{timeline.HTTP4xx}},
		{429, wellOff, []timeline.Outcome{timeline.HTTP429}},
		{500, wellOff, []timeline.Outcome{timeline.HTTP5xx}},
		{502, ailing, []timeline.Outcome{timeline.HTTP5xx, timeline.StreamTruncated}},
		{503, ailing, []timeline.Outcome{timeline.HTTP5xx}},
		{504, ailing, []timeline.Outcome{timeline.HTTP5xx}},
	} {
		for _, outcome := range tc.outcome {
			want(t, fmt.Sprint(tc.status, " ", outcome), signOf(outcome, tc.status), tc.of)
		}
	}
}

// However short connections are kept, the upstream is not asked without a pause for
// what its models are called, nor does the proxy end.
func TestKeptForNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, play("0s "+whole(200, "application/json", `{"data":[]}`)), func(c *Config) {
			c.Upstreams[0].KeepIdle, c.Upstreams[0].LearnModels = 2, true
		})
		time.Sleep(10500 * time.Millisecond)
		synctest.Wait()
		h.up.mu.Lock()
		defer h.up.mu.Unlock()
		if n := len(h.up.requests); n > 11 {
			t.Errorf("%d requests in 10.5 s", n)
		}
	})
}

// No label has the upstream's key, however the upstream calls a model.
func TestNoLabelIsTheKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, play("0s "+whole(200, "application/json", `{"data":[{"id":"m-Canary-Operator-Kx4"},{"id":"m-CANARY-OPERATOR-KX4"},{"id":"plain"}]}`)), func(c *Config) {
			c.Upstreams[0].Key, c.Upstreams[0].LearnModels = "Canary-Operator-Kx4", true
		})
		synctest.Wait()
		time.Sleep(time.Second)
		want(t, "labels", fmt.Sprint(*h.p.ups[0].learnt.Load()), "[plain]")
	})
}

// One that takes requests and says nothing is spared like one that can't be
// reached, and is not taken for well by the next silence.
func TestAHungUpstreamIsSpared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hung, well := &upstreamFake{serve: play("0s KEEP")}, namedUpstream("well")
		h := open(t, nil, func(c *Config) {
			c.Upstreams = []Upstream{{Name: "hung", URL: "http://hung", Dial: hung.dial, Health: Health{Failures: 2, Spare: 10 * time.Second}},
				{Name: "well", URL: "http://well", Dial: well.dial}}
			c.Routes[0].Upstreams = []Share{{"hung", 1}, {"well", 1}}
			c.Routes[0].Timeout = time.Second
		})
		ask := func(n int) {
			for range n {
				h.talk(post(chatPath, `{"model":"m"}`), 0)
			}
		}
		seen := func() int {
			hung.mu.Lock()
			defer hung.mu.Unlock()
			return len(hung.requests)
		}
		ask(10)
		want(t, "requests to the hung one", seen(), 2)
		time.Sleep(10 * time.Second)
		ask(10) // two failures more, and it is spared for twice as long
		want(t, "requests after it was spared", seen(), 4)
		time.Sleep(11 * time.Second)
		ask(10)
		want(t, "requests while it is spared for longer", seen(), 4)
	})
}

// A client that takes its time over its body makes no upstream sick.
func TestASlowClientMakesNoUpstreamSick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, answerOK, func(c *Config) {
			c.Upstreams[0].Health.Failures = 1
			c.Routes[0].Timeout = time.Second
		})
		c := h.front.dial()
		defer c.Close()
		_, _ = io.WriteString(c, "POST /v1/messages/count_tokens HTTP/1.1\r\nhost: proxy\r\ncontent-length: 4\r\n\r\nab")
		time.Sleep(2 * time.Second)
		go func() { _, _ = io.WriteString(c, "cd") }()
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "status", resp.StatusCode, http.StatusRequestTimeout)
		c.Close()
		h.settled()
		want(t, "well", h.p.ups[0].healthy(h.p.clk.NS()), true)
	})
}

// authority is a pool with a certificate of its own.
func authority(t *testing.T) func() *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return func() *x509.CertPool {
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		pool.AddCert(cert)
		return pool
	}
}

// Upstreams whose settings are the same go on over a reload, with their pools
// and their health, those with an authority of their own among them.
func TestUpstreamsAreTakenOver(t *testing.T) {
	one, other := authority(t), authority(t)
	clk := clock.Start()
	with := func(cfg *tls.Config) Config {
		return Config{Clock: clk, Upstreams: []Upstream{{Name: "a", URL: "https://a", Header: http.Header{"X": {"y"}}, TLS: cfg}},
			Routes: []Route{{Name: "all", Upstreams: []Share{{"a", 1}}}}}
	}
	for name, tc := range map[string]struct {
		before, after *tls.Config
		same          bool
	}{
		"none":                    {nil, nil, true},
		"the same authority":      {&tls.Config{RootCAs: one()}, &tls.Config{RootCAs: one()}, true},
		"another authority":       {&tls.Config{RootCAs: one()}, &tls.Config{RootCAs: other()}, false},
		"one more authority":      {nil, &tls.Config{RootCAs: one()}, false},
		"no authority any more":   {&tls.Config{RootCAs: one()}, &tls.Config{}, false},
		"not verified any more":   {&tls.Config{RootCAs: one()}, &tls.Config{RootCAs: one(), InsecureSkipVerify: true}, false},
		"not verified as before":  {&tls.Config{InsecureSkipVerify: true}, &tls.Config{InsecureSkipVerify: true}, true},
		"another name to look at": {&tls.Config{RootCAs: one(), ServerName: "a"}, &tls.Config{RootCAs: one(), ServerName: "b"}, false},
	} {
		before, err := New(with(tc.before), nil)
		if err != nil {
			t.Fatal(err)
		}
		after, err := New(with(tc.after), before)
		if err != nil {
			t.Fatal(err)
		}
		want(t, name, after.ups[0] == before.ups[0], tc.same)
		before.Retire(after)
		after.Retire(nil)
	}
}

// An upstream that calls its models otherwise each time makes no series without end;
// the names of its first hour stay.
func TestNamesThatChangeAllTheTime(t *testing.T) {
	u, all := &upstream{}, map[string]bool{}
	for i := range 1000 {
		u.call([]string{"first", fmt.Sprint("a", i), fmt.Sprint("b", i)})
		for _, name := range *u.learnt.Load() {
			all[name] = true
		}
		if !slices.Contains(*u.learnt.Load(), "first") {
			t.Fatal("a name that was there from the beginning is none any more")
		}
	}
	want(t, "labels", len(all), mostEver)
}
