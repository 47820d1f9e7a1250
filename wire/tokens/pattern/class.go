package pattern

import (
	"errors"
	"strings"
)

// class reads what follows a square bracket, up to its end.
func (p *parser) class() (*set, error) {
	if p.depth++; p.depth > mostNested {
		return nil, errors.New("it is nested too deeply")
	}
	defer func() { p.depth-- }()
	s := &set{negated: p.take("^")}
	part, empty := s, true
	for {
		switch {
		case p.rest == "":
			return nil, errors.New("a [ is not closed")
		case p.rest[0] == ']':
			if empty {
				return nil, errors.New("a class is empty")
			}
			p.rest = p.rest[1:]
			return s, nil
		case strings.HasPrefix(p.rest, "[:"):
			return nil, errors.New("[: :] is not supported")
		case p.rest[0] == '[':
			p.rest = p.rest[1:]
			inner, err := p.class()
			if err != nil {
				return nil, err
			}
			part.sets = append(part.sets, inner)
		case p.take("&&"):
			if empty {
				return nil, errors.New("&& follows nothing")
			}
			part = new(set)
			s.cut = append(s.cut, part)
			empty = true
			continue
		default:
			if err := p.item(part); err != nil {
				return nil, err
			}
		}
		empty = false
	}
}

// item reads one character, range or \class into a set.
func (p *parser) item(into *set) error {
	s, err := p.single(true)
	if err != nil {
		return err
	}
	lo, isChar := s.char()
	if isChar && strings.HasPrefix(p.rest, "-") && !strings.HasPrefix(p.rest, "-]") && len(p.rest) > 1 {
		if strings.HasPrefix(p.rest, "-[") || strings.HasPrefix(p.rest, "-&&") {
			return errors.New("a range in a class has no end")
		}
		p.rest = p.rest[1:]
		end, err := p.single(true)
		if err != nil {
			return err
		}
		hi, ok := end.char()
		if !ok || hi < lo {
			return errors.New("a range in a class has no end")
		}
		s = new(set)
		s.add(lo, hi)
	}
	if p.fold {
		if err := s.fold(); err != nil {
			return err
		}
	}
	if len(s.ranges) > 0 && !s.negated && s.categories == 0 {
		into.ranges = append(into.ranges, s.ranges...)
		return nil
	}
	into.sets = append(into.sets, s)
	return nil
}

// char is the only character of a set that was read as one.
func (s *set) char() (rune, bool) {
	if len(s.ranges) != 1 || s.negated || s.categories != 0 || s.ranges[0].Lo != s.ranges[0].Hi {
		return 0, false
	}
	return s.ranges[0].Lo, true
}
