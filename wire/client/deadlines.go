package client

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
		x.place = len(*d)
		*d = append(*d, x)
	}
	d.down(d.up(x.place))
}

// drop takes x out.
func (d *deadlines) drop(x *exchange) {
	i, last := x.place, len(*d)-1
	if i < 0 {
		return
	}
	d.swap(i, last)
	(*d)[last] = nil
	*d = (*d)[:last]
	x.place = -1
	if i < last {
		d.down(d.up(i))
	}
}

func (d deadlines) swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].place, d[j].place = i, j
}

func (d deadlines) up(i int) int {
	for i > 0 && d[i].dueNS < d[(i-1)/2].dueNS {
		d.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
	return i
}

func (d deadlines) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(d); child++ {
			if d[child].dueNS < d[least].dueNS {
				least = child
			}
		}
		if least == i {
			return
		}
		d.swap(i, least)
		i = least
	}
}
