package sim

// action is what to do with a reply when a timer is due.
type action uint8

const (
	actToken   action = iota // the model's next step of a sequence
	actDeliver               // a delivery that was put off
	actPiece                 // the second half of a split write
	actPing
	actHead // the second half of a slow head
)

// timer is something that is due at a moment.
type timer struct {
	at  int64
	seq uint64 // order of setting, for equal moments
	do  action
	r   *reply
}

// timers is a heap of what is due, earliest first.
type timers struct {
	h   []timer
	seq uint64
}

func (t *timers) add(at int64, do action, r *reply) {
	t.seq++
	t.h = append(t.h, timer{at, t.seq, do, r})
	i := len(t.h) - 1
	for i > 0 {
		p := (i - 1) / 2
		if !t.before(i, p) {
			break
		}
		t.h[i], t.h[p] = t.h[p], t.h[i]
		i = p
	}
}

func (t *timers) next() (int64, bool) {
	if len(t.h) == 0 {
		return 0, false
	}
	return t.h[0].at, true
}

func (t *timers) pop() timer {
	top := t.h[0]
	last := len(t.h) - 1
	t.h[0] = t.h[last]
	t.h[last] = timer{}
	t.h = t.h[:last]
	i := 0
	for {
		c := 2*i + 1
		if c >= last {
			break
		}
		if c+1 < last && t.before(c+1, c) {
			c++
		}
		if !t.before(c, i) {
			break
		}
		t.h[i], t.h[c] = t.h[c], t.h[i]
		i = c
	}
	return top
}

func (t *timers) before(i, j int) bool {
	if t.h[i].at != t.h[j].at {
		return t.h[i].at < t.h[j].at
	}
	return t.h[i].seq < t.h[j].seq
}
