package api

// This file reads values that several APIs share.

// problem reads the value of an error member; nil when it says that there is none.
func (c *scan) problem() []byte {
	c.space()
	from := c.i
	switch c.peek() {
	case 'n', 'f':
		c.skip()
		return nil
	}
	c.skip()
	if c.bad {
		return nil
	}
	if raw := c.b[from:c.i]; string(raw) != `""` && string(raw) != "{}" {
		return raw
	}
	return nil
}

// object passes over an object and returns its bytes; nil when it is empty.
func (c *scan) object() []byte {
	from := c.i
	c.skip()
	if c.bad || c.i-from <= len("{}") {
		return nil
	}
	return c.b[from:c.i]
}

// length counts the elements of an array; notTold for any other value.
func (c *scan) length() int64 {
	if c.peek() != '[' {
		c.skip()
		return notTold
	}
	n := int64(0)
	for range c.elements {
		c.skip()
		n++
	}
	return n
}

// logprobs counts the tokens that a logprobs object lists, whatever its shape.
func (c *scan) logprobs() int64 {
	n := int64(notTold)
	for name := range c.members {
		switch string(name) {
		case "content", "refusal", "tokens":
			if l := c.length(); l != notTold {
				n = max(n, 0) + l
			}
		default:
			c.skip()
		}
	}
	return n
}
