package api

import (
	"fmt"
	"sync"

	"tokenmeter/record/timeline"
)

// Room is memory that the replies in flight share: their events, the text that
// is kept, and what of an event has come. A reply that needs more than is left
// ends as ClientResource, so that servers whose replies have no end can't fill
// the memory, however many there are. nil has no end.
type Room struct {
	most   int64
	inHand int64 // of each reply, that is not asked for

	mu   sync.Mutex
	used int64
	of   map[*timeline.Timeline]int64
}

// NewRoom returns a room of so many bytes, beyond the first bytes of each reply, inHand:
// who knows how many replies there will be leaves it out of the room.
func NewRoom(bytes, inHand int64) *Room {
	return &Room{most: bytes, inHand: inHand, of: map[*timeline.Timeline]int64{}}
}

// Free gives back what a reply took. It is called when its timeline is kept no
// longer.
func (r *Room) Free(tl *timeline.Timeline) {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.used -= r.of[tl]
	delete(r.of, tl)
	r.mu.Unlock()
}

// take makes room for a reply that holds so many bytes by now.
func (r *Room) take(tl *timeline.Timeline, holds int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	more := max(holds-r.inHand, 0) - r.of[tl]
	if r.used+more > r.most {
		return &noRoomError{r.most}
	}
	r.used += more
	r.of[tl] += more
	return nil
}

// Borrow takes memory for what is told of replies beside their reading. No more than half
// of the room is lent, so that no reply ends for want of it.
func (r *Room) Borrow(bytes int64) (ok bool) {
	if r == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.used+bytes > r.most/2 {
		return false
	}
	r.used += bytes
	return true
}

// Return gives back what was borrowed.
func (r *Room) Return(bytes int64) {
	if r != nil {
		r.mu.Lock()
		r.used -= bytes
		r.mu.Unlock()
	}
}

type noRoomError struct{ most int64 }

func (e *noRoomError) Error() string {
	return fmt.Sprintf("the replies in flight took the %d MiB of memory that is for them; measure with fewer streams or shorter answers, or on a machine with more memory", e.most>>20)
}

// makeRoom asks for what the reply holds after a read, or a piece of what that decodes to.
// Each adds a bounded amount, so what it holds for a moment beyond its room is bounded too.
func (s *Stream) makeRoom() error {
	if s.opts.Room == nil {
		return nil
	}
	holds := s.tl.Events.Bytes() + 2*int64(s.kept.bytes) // text is there twice while it is joined
	if s.framer != nil {
		holds += int64(s.framer.Held())
	}
	if holds <= max(s.holds, s.opts.Room.inHand) {
		return nil
	}
	s.holds = holds
	return s.opts.Room.take(s.tl, holds)
}
