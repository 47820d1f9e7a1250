package doctor

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/api/engines"
	"tokenmeter/wire/client"
)

// reach says how far away the server is: the shortest of a few new connections.
func (p *patient) reach(ctx context.Context) {
	best := p.first.Timeline
	cfg := p.o.Client
	cfg.NoKeepAlive = true
	if cl, err := client.New(cfg); err == nil {
		defer cl.Close()
		for range connections - 1 {
			r, err := p.get(ctx, cl, api.Probes[0], getTime)
			if err != nil {
				break
			}
			if total(r.Timeline) < total(best) {
				best = r.Timeline
			}
		}
	}
	head, hasHead := best.HeadUS.Get()
	answer := timeline.Opt[int64]{}
	if sent, ok := best.SentUS.Get(); ok && hasHead {
		answer = timeline.Some(max(head-sent, 0))
	}
	c := Check{Name: "reach", Verdict: OK, Facts: facts{"dns_ms": ms(best.DNSUS), "connect_ms": ms(best.ConnectUS),
		"tls_ms": ms(best.TLSUS), "answer_ms": ms(answer), "address": textOrNull(best.Remote)}}
	var parts []string
	for _, step := range []struct {
		name string
		us   timeline.Opt[int64]
	}{{"name", p.first.Timeline.DNSUS}, {"connection", best.ConnectUS}, {"TLS", best.TLSUS}, {"answer to a GET", answer}} {
		if us, ok := step.us.Get(); ok {
			parts = append(parts, fmt.Sprintf("%s %.3g ms", step.name, float64(us)/1000))
		}
	}
	c.Value = strings.Join(parts, ", ")
	if best.Remote != "" {
		c.Value += " (" + best.Remote + ")"
	}
	if us := best.ConnectUS.Or(0); us > farUS {
		c.warn("every TTFT holds at least one way there and back, %.3g ms: measure from a machine nearer to the server to judge the server", float64(us)/1000)
	}
	p.add(c)
}

// farUS is a round trip that a person's figures would show.
const farUS = 20_000

// total is the time of all steps to the head.
func total(tl *timeline.Timeline) int64 { return tl.HeadUS.Or(1 << 60) }

// certificate says when the server's name was taken on trust.
func (p *patient) certificate() {
	if !p.first.Timeline.TLSUS.OK() {
		return
	}
	c := Check{Name: "certificate", Verdict: OK, Value: "verified"}
	if cfg := p.o.Client.TLS; cfg != nil && cfg.InsecureSkipVerify {
		c.Verdict, c.Value = Warn, "not verified (--insecure)"
		c.Fix = "anybody in between can read the key: give the authority's certificate with --ca-file"
	}
	c.Facts = facts{"verified": c.Verdict == OK}
	p.add(c)
}

// access says whether the server lets us in, and whether it is one for
// inference at all: known says that some GET told an API. False ends the look.
func (p *patient) access(known bool) bool {
	c := Check{Name: "access", Verdict: OK, Facts: facts{"http_status": p.status},
		Value: fmt.Sprintf("GET %s answers HTTP %d", asked(p.first), p.status)}
	switch s := p.status; {
	case s == http.StatusUnauthorized:
		c.Verdict, c.Fix = Fail, "give the key with --api-key-env or --api-key-file"
	case s == http.StatusForbidden:
		c.Verdict, c.Fix = Warn, "the list of models was refused: name one with --model, or check the URL and the key"
	case s == http.StatusTooManyRequests:
		c.Verdict, c.Fix = Warn, "the server limits requests: wait, or ask for a higher limit before measuring"
	case s == 502 || s == 503 || s == 504:
		c.Verdict, c.Fix = Fail, "it is not ready, or its upstream is not: tokenmeter bench waits for it with --wait-ready 10m"
	case s >= 500:
		c.Verdict, c.Fix = Warn, "read the server's log"
	case !known && !p.provider():
		c.Verdict, c.Fix = Warn, noServer
	}
	p.add(c)
	return c.Verdict != Fail
}

// noServer is a doubt that a completion settles.
const noServer = "this may be no inference server: check host, port and path"

// provider reports whether the host is one that is known, whatever models it lists.
func (p *patient) provider() bool {
	u, err := url.Parse(p.o.Client.BaseURL)
	return err == nil && api.ProviderOf(u.Host) != nil
}

// asked is the path of a GET, as the server saw it.
func asked(r *client.Response) string {
	_, rest, _ := strings.Cut(r.URL, "://")
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		return rest[i:]
	}
	return api.Probes[0]
}

// identity says which engine and which API answer, and how that was found out.
func (p *patient) identity(s engines.Server, asked *api.API) {
	p.found.Engine, p.found.Version = s.Engine, s.Version
	c := Check{Name: "server", Verdict: OK, Value: strings.TrimSpace(s.Engine + " " + s.Version),
		Facts: facts{"engine": textOrNull(s.Engine), "version": textOrNull(s.Version)}}
	if s.Engine == "" {
		c.Verdict, c.Value = "", "it does not tell its name"
		if h := p.first.Header.Get("Server"); h != "" {
			c.Value += `; its Server header says "` + h + `"`
		}
	}
	p.add(c)

	name := p.o.Client.API.Name
	c = Check{Name: "api", Verdict: OK, Facts: facts{"api": name, "told_by": textOrNull(s.By), "speaks": append([]string{}, s.APIs...)}}
	switch {
	case asked != nil && s.Engine != "" && ofOneEngine(asked) && !slices.Contains(s.APIs, asked.Name):
		c.Verdict = Warn
		c.Value = fmt.Sprintf("%s, as the URL or --api says; this server is known to speak %s", name, strings.Join(s.APIs, ", "))
		c.Fix = "leave out --api, or name one of these"
	case asked != nil:
		c.Value = name + ", as the URL or --api says"
	case s.API() == nil:
		c.Verdict = Warn
		c.Value = name + ", the default: no GET told which API it speaks"
		c.Fix = "check the URL; name the API with --api"
	default:
		c.Value = fmt.Sprintf("%s, told by GET %s", name, s.By)
		if rest := slices.DeleteFunc(slices.Clone(s.APIs), func(a string) bool { return a == name }); len(rest) > 0 {
			c.Value += "; also " + strings.Join(rest, ", ")
		}
	}
	p.add(c)
}

// ofOneEngine reports whether an API is some engine's own, so that another, once it is
// named, hardly speaks it. What many servers share they learn with their versions.
func ofOneEngine(a *api.API) bool {
	switch a {
	case api.OllamaChat, api.OllamaGenerate, api.LlamaCpp, api.TGI, api.SGLang, api.Triton:
		return true
	}
	return false
}

func (p *patient) models(s engines.Server) {
	p.found.Models = append(p.found.Models, s.Models...)
	c := Check{Name: "models", Verdict: OK, Value: listed(s.Models), Facts: facts{"models": len(s.Models)}}
	switch {
	case len(s.Models) == 0 && p.o.Model == "":
		c.Verdict, c.Value = Warn, "none are listed"
		c.Fix = "name one with --model"
	case len(s.Models) == 0:
		c.Verdict, c.Value = "", "none are listed"
	case p.o.Model == "" && len(s.Models) > 1:
		c.Fix = "choose one with --model"
	case p.o.Model != "" && !s.MayHave(p.o.Model):
		c.Verdict = Warn
		c.Value = fmt.Sprintf("%s is not among them: %s", p.o.Model, c.Value)
		c.Fix = "check --model"
	}
	if s.More {
		c.Value += ", and more on further pages"
	}
	if p.o.Model == "" && len(s.Models) == 1 {
		p.o.Model = s.Models[0]
	}
	p.add(c)
}

func listed(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}

// keepAlive sees whether a connection outlives its reply.
func (p *patient) keepAlive(ctx context.Context) {
	if client.OverWebSocket(p.o.Client.BaseURL) {
		return // a conversation has one of its own, whatever becomes of those of GETs
	}
	// The connections of the client before are closed, by us: this one needs its own.
	if _, err := p.get(ctx, p.cl, api.Probes[0], getTime); err != nil {
		return
	}
	p.idle(ctx)
	r, err := p.get(ctx, p.cl, api.Probes[0], getTime)
	if err != nil {
		return // what was reached a moment ago; the probe or the run will show it
	}
	c := Check{Name: "keep_alive", Verdict: OK, Facts: facts{"reused": reused(r.Timeline), "idle_timeout_s": orNull(idleTimeout(p.first.Header))}}
	c.Value = "connections are kept after a GET"
	if !reused(r.Timeline) {
		c.Verdict, c.Value = Warn, "the server closes the connection after a GET"
		c.Fix = "each request pays for a new connection, which is part of its TTFT: look for keep-alive in the server or the proxy before it"
		if p.o.Client.NoKeepAlive {
			c.Verdict, c.Value, c.Fix = OK, "a new connection each, as asked (--no-keepalive)", ""
		}
	}
	if s, ok := idleTimeout(p.first.Header).Get(); ok {
		c.Value += fmt.Sprintf("; it announces to close idle ones after %g s", s)
	}
	p.add(c)
}

// idle gives the server the time to close a connection.
func (p *patient) idle(ctx context.Context) {
	select {
	case <-time.After(settleTime):
	case <-ctx.Done():
	}
}

// reused reports whether a request went out on a connection that had lived on.
func reused(tl *timeline.Timeline) bool { return tl.Reused.Or(false) && tl.ConnRetries == 0 }

// idleTimeout reads "Keep-Alive: timeout=5, max=100".
func idleTimeout(h http.Header) timeline.Opt[float64] {
	for part := range strings.SplitSeq(h.Get("Keep-Alive"), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if strings.EqualFold(name, "timeout") {
			if s, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil && s >= 0 && s < 1e9 {
				return timeline.Some(s)
			}
		}
	}
	return timeline.Opt[float64]{}
}

// path says where arrivals on this very path are stamped.
func (p *patient) path() {
	c := Check{Name: "path_stamps", Verdict: OK, Facts: facts{"clock": string(p.clock)},
		Value: "arrivals from this server are stamped by the kernel"}
	if p.clock != timeline.Kernel {
		c.Verdict, c.Value = Warn, "arrivals from this server are stamped when they are read"
		c.Fix = "a busy client then makes the server look slow; "
		switch {
		case p.o.Client.HTTP2:
			c.Fix += "leave out --http2"
		case strings.Contains(p.o.Client.BaseURL, "unix:"):
			c.Fix += "a Unix socket has no stamps, TCP on 127.0.0.1 has"
		default:
			c.Fix += "keep this machine's load low, and watch client_lag"
		}
	}
	p.add(c)
}

// coding says whether bodies are compressed although that was not asked for.
func (p *patient) coding(encoding, of string) {
	c := Check{Name: "compression", Verdict: OK, Value: "none", Facts: facts{"content_encoding": textOrNull(encoding)}}
	if e := strings.ToLower(strings.TrimSpace(encoding)); e != "" && e != "identity" {
		c.Verdict = Warn
		c.Value = fmt.Sprintf("%s is answered with %s although it was declined", of, e)
		c.Fix = "a compressed stream comes in blocks, not in tokens: switch compression off for text/event-stream"
	}
	p.replace(c)
}

// replace takes a check in the place of one of the same name, unless that one
// was worse.
func (p *patient) replace(c Check) {
	i := slices.IndexFunc(p.checks, func(x Check) bool { return x.Name == c.Name })
	if i < 0 {
		p.add(c)
	} else if c.Of = OfTarget; p.checks[i].Verdict == OK {
		p.checks[i] = c
	}
}

func (p *patient) http2(ctx context.Context) {
	if !p.mayTryHTTP2() {
		return
	}
	c := Check{Name: "http2", Verdict: OK, Value: "not spoken", Facts: facts{"http2": false}}
	if p.speaksHTTP2(ctx) {
		c.Value, c.Facts["http2"] = "spoken (--http2); HTTP/1.1 is measured more exactly", true
	}
	p.add(c)
}

// http2Alone looks whether that is why a server could not be understood.
func (p *patient) http2Alone(ctx context.Context, c *Check) {
	if p.mayTryHTTP2() && p.speaksHTTP2(ctx) {
		c.Fix = "it speaks HTTP/2 alone: give --http2"
	}
}

// mayTryHTTP2 is false where it is spoken already, or opens no WebSocket.
func (p *patient) mayTryHTTP2() bool {
	return !p.o.Client.HTTP2 && !client.OverWebSocket(p.o.Client.BaseURL)
}

func (p *patient) speaksHTTP2(ctx context.Context) bool {
	cfg := p.o.Client
	cfg.HTTP2 = true
	cl, err := client.New(cfg)
	if err != nil {
		return false
	}
	defer cl.Close()
	_, err = p.get(ctx, cl, api.Probes[0], http2Time)
	return err == nil
}

// date tells the difference to the server's clock. It is for people who
// compare logs; no figure uses it.
func (p *patient) date() {
	c := Check{Name: "server_clock", Facts: facts{"ahead_s": nil}, Value: "not told"}
	sent, err := http.ParseTime(p.first.Header.Get("Date"))
	if err == nil {
		tl := p.first.Timeline
		seen := p.o.Client.Clock.Wall().Add(time.Duration(tl.DueUS+tl.HeadUS.Or(0)) * time.Microsecond)
		ahead := sent.Sub(seen.Truncate(time.Second)).Seconds()
		c.Verdict, c.Facts["ahead_s"] = OK, ahead
		switch cmp.Compare(ahead, 0) {
		case 0:
			c.Value = "the same as ours, to the second"
		case 1:
			c.Value = fmt.Sprintf("%g s ahead of ours", ahead)
		default:
			c.Value = fmt.Sprintf("%g s behind ours", -ahead)
		}
		c.Value += "; no figure uses it"
	}
	p.add(c)
}
