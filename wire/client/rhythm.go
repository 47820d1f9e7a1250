package client

import (
	"cmp"
	"math/bits"
)

// How long a reactor may look away.
const (
	longestNap  = 2_000_000 // ns
	shortestNap = 50_000    // below it, waiting for the next event costs no more
	napOfGap    = 4         // a nap is at most this part of a short gap between tokens
	napOfReply  = 100       // and of a reply: its stream may have to send the next request
	fewReads    = 2         // reads a nap below which waiting costs no more
	shortGaps   = 0.02      // the share of gaps that count as short
	newlyJoined = 0.02      // share of tokens that may be joined beyond what comes joined without naps
	recovery    = 1.1
	settleEvery = 100_000_000
	settleReads = 64
)

// rhythm learns from what arrives how long the reactor may look away. The
// kernel keeps the time of every arrival, so being late costs nothing as long as no
// two tokens of one stream wait at once: the kernel would merge them under the
// stamp of the later one.
type rhythm struct {
	napNS int64 // the answer; 0: wait for every event

	gaps   [128]uint32 // between tokens of one stream, by size
	reads  int64       // since settled
	tokens int64
	joined int64 // tokens that came with another in one read
	// How much comes joined without naps: the sender's doing, or that of a
	// machine that leaves us no time.
	anyway  float64
	suspect int64   // the nap that joined more, while one stretch without shows whether it did; 0: none
	blamed  float64 // share of joined tokens in it
	most    float64 // ns; what joining has taught

	replyNS   float64 // mean duration; 0: none ended yet
	startNS   int64   // when the first request was sent
	settledNS int64
}

func newRhythm() rhythm { return rhythm{most: longestNap} }

// sent notes a request.
func (r *rhythm) sent(ns int64) {
	if r.startNS == 0 {
		r.startNS, r.settledNS = ns, ns
	}
}

// read notes tokens that came in one read, a gap after the read of tokens
// before it in its stream; 0: it was the first.
func (r *rhythm) read(tokens, gapNS int64) {
	r.reads++
	r.tokens += tokens
	if tokens > 1 {
		r.joined += tokens
	}
	if gapNS > 0 {
		r.gaps[sizeOf(gapNS)]++
	}
}

// ended notes how long a request took.
func (r *rhythm) ended(ns int64) {
	r.replyNS = cmp.Or(r.replyNS, float64(ns))
	r.replyNS += (float64(ns) - r.replyNS) / 16
}

// settle draws the conclusions, now and then.
func (r *rhythm) settle(nowNS int64) {
	passed := nowNS - r.settledNS
	if passed < settleEvery || r.reads < settleReads && r.napNS == 0 {
		return
	}
	r.learn()
	reply := cmp.Or(r.replyNS, float64(nowNS-r.startNS))
	nap := min(r.most, float64(r.shortGap())/napOfGap, reply/napOfReply)
	if nap < shortestNap || float64(r.reads)*nap < fewReads*float64(passed) || r.suspect > 0 {
		nap = 0
	}
	r.napNS = int64(nap)
	r.settledNS, r.reads, r.tokens, r.joined = nowNS, 0, 0, 0
	for i := range r.gaps {
		r.gaps[i] -= r.gaps[i] / 4
	}
}

// learn holds what naps joined against what comes joined anyway. When that has
// become more, a stretch without naps tells whose doing it is.
func (r *rhythm) learn() {
	if r.tokens == 0 {
		return
	}
	share := float64(r.joined) / float64(r.tokens)
	if r.napNS == 0 {
		if r.suspect > 0 && share+newlyJoined < r.blamed {
			r.most = float64(r.suspect) / 2
		}
		r.anyway, r.suspect = share, 0
	} else if share > r.anyway+newlyJoined {
		r.suspect, r.blamed = r.napNS, share
	}
	r.most = min(r.most*recovery, longestNap)
}

// shortGap is a gap that few are shorter than, rounded down; 0: none is known.
func (r *rhythm) shortGap() int64 {
	var all, below uint32
	for _, n := range r.gaps {
		all += n
	}
	if all == 0 {
		return 0
	}
	for i, n := range r.gaps {
		if below += n; float64(below) > shortGaps*float64(all) {
			return leastOf(i)
		}
	}
	return 0
}

// sizeOf numbers sizes in steps of half a power of two.
func sizeOf(ns int64) int {
	n := bits.Len64(uint64(ns))
	if n < 2 {
		return 2 * n
	}
	return 2*n + int(ns>>(n-2)&1)
}

// leastOf is the smallest size with a number.
func leastOf(size int) int64 {
	n := size / 2
	if n < 2 {
		return int64(n)
	}
	return int64(2+size%2) << (n - 2)
}
