package pattern

import "errors"

// program is what a machine runs.
type program []inst

// inst is one step.
type inst struct {
	op   op
	set  *set
	x, y int     // where to go on: first x, then y
	sub  program // of a look, of an atomic group
	node *node
}

type op uint8

const (
	opOne   op = iota // one character of set
	opStar            // characters of set, as many as there are, fewer on the way back
	opAll             // characters of set, as many as there are, for good
	opSplit           // x, and on the way back y
	opJump            // x
	opLook
	opAtomic
	opPlace
	opMatch
)

// mostSteps bounds a program, which intervals write out.
const mostSteps = 20000

func compile(n *node) (program, error) {
	var p program
	if err := p.add(n); err != nil {
		return nil, err
	}
	return append(p, inst{op: opMatch}), nil
}

func (p *program) emit(i inst) int {
	*p = append(*p, i)
	return len(*p) - 1
}

func (p *program) add(n *node) error {
	if len(*p) > mostSteps {
		return errors.New("it is too long")
	}
	switch n.kind {
	case one:
		p.emit(inst{op: opOne, set: n.set})
	case sequence:
		for _, part := range n.parts {
			if err := p.add(part); err != nil {
				return err
			}
		}
	case either:
		return p.either(n.parts)
	case repeat:
		return p.repeat(n)
	case place:
		p.emit(inst{op: opPlace, node: n})
	case look, atomic:
		sub, err := compile(n.parts[0])
		if err != nil {
			return err
		}
		if n.kind == atomic {
			p.emit(inst{op: opAtomic, sub: sub})
			return nil
		}
		if n.behind && n.parts[0].single() == nil {
			return errors.New("looking behind for more than one character is not supported")
		}
		p.emit(inst{op: opLook, sub: sub, node: n})
	}
	return nil
}

func (p *program) either(parts []*node) error {
	var ends []int
	for i, part := range parts {
		split := -1
		if i < len(parts)-1 {
			split = p.emit(inst{op: opSplit})
			(*p)[split].x = len(*p)
		}
		if err := p.add(part); err != nil {
			return err
		}
		if split >= 0 {
			ends = append(ends, p.emit(inst{op: opJump}))
			(*p)[split].y = len(*p)
		}
	}
	for _, i := range ends {
		(*p)[i].x = len(*p)
	}
	return nil
}

func (p *program) repeat(n *node) error {
	if n.how == possessive {
		if s := n.parts[0].single(); s != nil && n.max < 0 {
			for range n.min {
				p.emit(inst{op: opOne, set: s})
			}
			p.emit(inst{op: opAll, set: s})
			return nil
		}
		inner := *n
		inner.how = greedy
		return p.add(&node{kind: atomic, parts: []*node{&inner}})
	}
	for range n.min {
		if err := p.add(n.parts[0]); err != nil {
			return err
		}
	}
	if n.max < 0 {
		return p.star(n)
	}
	var splits []int
	for range n.max - n.min {
		splits = append(splits, p.emit(inst{op: opSplit}))
		if err := p.add(n.parts[0]); err != nil {
			return err
		}
	}
	for _, i := range splits {
		(*p)[i].branch(i+1, len(*p), n.how)
	}
	return nil
}

func (p *program) star(n *node) error {
	if s := n.parts[0].single(); s != nil && n.how == greedy {
		p.emit(inst{op: opStar, set: s})
		return nil
	}
	split := p.emit(inst{op: opSplit})
	if err := p.add(n.parts[0]); err != nil {
		return err
	}
	p.emit(inst{op: opJump, x: split})
	(*p)[split].branch(split+1, len(*p), n.how)
	return nil
}

// branch sets where a split goes: into the body or past it.
func (i *inst) branch(body, past int, how how) {
	i.x, i.y = body, past
	if how == lazy {
		i.x, i.y = past, body
	}
}

// single is the set of a part that always is one character, or nil.
func (n *node) single() *set {
	switch {
	case n.kind == one:
		return n.set
	case n.kind == sequence && len(n.parts) == 1:
		return n.parts[0].single()
	}
	return nil
}
