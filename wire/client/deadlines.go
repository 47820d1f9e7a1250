package client

import "container/heap"

// deadlines are the exchanges of a reactor, the one whose limits are to be
// looked at first on top. A limit that moves on while tokens come is not moved
// here: the exchange is looked at when the old one is reached, and put back.
type deadlines []*exchange

// next is when the first exchange is to be looked at.
func (d deadlines) next() int64 {
	if len(d) == 0 {
		return farFuture
	}
	return d[0].dueNS
}

// set puts x in, or moves it.
func (d *deadlines) set(x *exchange, ns int64) {
	x.dueNS = ns
	if x.place < 0 {
		heap.Push(d, x)
	} else {
		heap.Fix(d, x.place)
	}
}

// drop takes x out.
func (d *deadlines) drop(x *exchange) {
	if x.place >= 0 {
		heap.Remove(d, x.place)
	}
}

// What heap.Interface wants:

func (d deadlines) Len() int           { return len(d) }
func (d deadlines) Less(i, j int) bool { return d[i].dueNS < d[j].dueNS }

func (d deadlines) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].place, d[j].place = i, j
}

func (d *deadlines) Push(x any) {
	x.(*exchange).place = len(*d)
	*d = append(*d, x.(*exchange))
}

func (d *deadlines) Pop() any {
	last := len(*d) - 1
	x := (*d)[last]
	(*d)[last] = nil
	*d, x.place = (*d)[:last], -1
	return x
}
