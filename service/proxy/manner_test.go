package proxy

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
)

// asked tells of each request at the server whether it was asked for usage.
func (f *upstreamFake) asked() (list []bool) {
	for _, r := range f.requests {
		list = append(list, strings.Contains(r.body, `"include_usage":true`))
	}
	return list
}

// What one model's replies showed holds for it alone, and for as long as it does so.
func TestMannersAreOfOneModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		finish := family{tells: always, at: withFinish}
		own := family{tells: ifAsked}
		serve := func(c net.Conn, r *received) bool {
			if strings.Contains(r.body, `"model":"m"`) {
				return finish.serve(c, r)
			}
			return own.serve(c, r)
		}
		h := open(t, serve, nil)
		one := post(chatPath, hello)
		other := strings.Replace(one, `"m"`, `"n"`, 1)
		for _, request := range []string{one, other, one, other, one, other} {
			h.talk(request, 0)
			h.settled()
		}
		want(t, "asked", fmt.Sprint(h.up.asked()), "[true true false true false true]")
		finish = own // another engine behind the same name
		for range 3 {
			h.talk(one, 0)
			h.settled()
		}
		want(t, "asked again", fmt.Sprint(h.up.asked()[6:]), "[false true true]")
	})
}

// A trial that came to no end tells nothing: the next request is one.
func TestATrialThatFailedIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := family{tells: ifAsked, at: withFinish}
		n := 0
		h := open(t, func(c net.Conn, r *received) bool {
			switch n++; n {
			case 2:
				return play("1ms "+whole(503, "text/plain", "busy"))(c, r)
			case 3:
				return play("1ms "+sseHead+chunk(tok("A")), "2ms CUT")(c, r)
			}
			return f.serve(c, r)
		}, nil)
		for range 6 {
			h.talk(post(chatPath, hello), 0)
			h.settled()
		}
		want(t, "asked", fmt.Sprint(h.up.asked()), "[true false false false true true]")
	})
}

// Who says that no usage is wanted and gets it shows that it comes anyway.
func TestUsageInSpiteOfARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := family{tells: always}
		h := open(t, f.serve, nil)
		h.talk(post(chatPath, `{"model":"m","stream":true,"stream_options":{"include_usage":false}}`), 0)
		h.settled()
		got := h.talk(post(chatPath, hello), 0)
		h.settled()
		want(t, "the client sees it", strings.Contains(got.body, "usage"), true)
		want(t, "asked", fmt.Sprint(h.up.asked()), "[false false]")
	})
}

// Where clients get compressed replies nothing could be taken out of them.
func TestCompressedRepliesAreNotAskedForUsage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := family{tells: ifAsked, zips: ifAsked}
		h := open(t, f.serve, func(c *Config) { c.Routes[0].KeepEncoding = true })
		for _, header := range [][]string{{"accept-encoding: gzip"}, {"accept-encoding: identity"}, nil} {
			request := post(chatPath, hello, header...)
			got := h.talk(request, 0)
			h.settled()
			want(t, fmt.Sprint(header), same(directly(t, f.serve, request), got), "")
		}
		want(t, "asked", fmt.Sprint(h.up.asked()), "[false true true]")
	})
}

// Names that clients make up fill no memory.
func TestMannersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := family{tells: ifAsked}
		h := open(t, f.serve, nil)
		for i := range mostManners + 10 {
			h.talk(post(chatPath, fmt.Sprintf(`{"model":"m%d","stream":true}`, i)), 0)
		}
		h.settled()
		want(t, "kept", len(h.p.ups[0].manners), mostManners+1)
	})
}
