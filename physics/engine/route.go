package engine

// route is the instance of two roles whose turn it is.
func (e *Engine) route(a, b role) *instance {
	turn := &e.turn[0]
	if a == onlyDecode {
		turn = &e.turn[1]
	}
	for {
		in := e.instances[*turn]
		*turn = (*turn + 1) % len(e.instances)
		if in.role == a || in.role == b {
			return in
		}
	}
}
