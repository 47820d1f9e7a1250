package workload

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"tokenmeter/load/workload/records"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// source is a class's file.
type source struct {
	file   *records.File
	format *format
	reading
	block   int64
	timed   bool
	answers bool          // one of the first records has a known answer
	lengths bool          // and a length, for a text to be made
	zero    time.Duration // the time of the first record

	shuffle *uint64 // the seed of a random order; nil: as in the file

	mu    sync.Mutex
	kept  []uint32       // record of entry k, as far as the file was passed; identity while nothing was skipped
	next  int64          // record that was not looked at yet
	skips map[skip]int64 // records that were passed and are not sent
	// systems is how many conversations began with a system turn that is not sent.
	systems int64
	// unchecked is how many answers were no checks.
	unchecked int64
	elsewhere int64 // records that name a model which is not asked
	answered  int64 // records of messages that end with an answer
	named     int64 // records that name a session
	several   int64 // records of several turns
	unsent    unsent
	total     int64 // entries; −1: not known yet

	// sessions are the entries that wait for each other, by their numbers; nil:
	// each is sent on its own.
	sessions [][]uint32
	delayed  bool    // some record has a delay after its session's record before it
	speed    float64 // at which times are played; 0: 1
	supposed bool    // that times are in milliseconds: only the columns' names say so
	guessed  bool    // and nothing in the first record is Mooncake's or AIPerf's alone

	hashSeed maphash.Seed
}

// besides is what is said of records beside them.
type besides struct {
	modelless bool   // models that they name are not asked, but those of a column that was named
	model     string // the one that is, of all
	isAnswer  bool   // what stands under answer is one, whatever stands beside it
}

// openSource looks at the first record that holds something.
func openSource(file *records.File, name, unit string, block int64, columns map[string]string, said besides) (*source, error) {
	s := &source{file: file, total: -1, hashSeed: maphash.MakeSeed(), skips: map[skip]int64{}}
	first, _, err := file.Row(0)
	if err == io.EOF {
		return nil, fmt.Errorf("%s: %w", file.Name, records.ErrEmpty)
	}
	if err != nil {
		return nil, err
	}
	if s.format, err = formatOf(name, file.Form, first); err != nil {
		return nil, fmt.Errorf("%s: %w", file.Name, err)
	}
	told := s.columnsOf(first, columns, unit)
	_, named := columns["model"]
	_, checked := columns["answer"]
	s.besides = besides{said.modelless && !named, said.model, said.isAnswer || checked}
	s.supposed = told == "" && s.format.unit == "ms" && s.format.name != name
	s.block = cmp.Or(block, s.format.block)
	s.unsent = unsentOf(s.format.name)
	e, err := s.entry(0)
	if err != nil && block == 0 && s.format.name == "mooncake" && (name == "" || name == "auto") && !dated(first.Names()) {
		return openSource(file, "jsonl", unit, block, columns, said) // the ids are of other blocks than Mooncake's
	}
	if err != nil {
		return nil, err
	}
	if s.zero, s.timed = e.at.Get(); s.timed {
		s.dates = timeline.Some(e.dated)
	}
	since := ""
	if scale := timeUnits[cmp.Or(s.unit, "s")]; told == "" && s.timed && scale > 0 {
		x := float64(s.zero) / scale
		if since = epochUnit(x); since != "" && since != cmp.Or(s.unit, "s") {
			if s.supposed && s.format.name == "aiperf" { // then it is none of AIPerf's
				return openSource(file, "jsonl", unit, block, columns, said)
			}
			return nil, fmt.Errorf("%s: %w", file.Name, inAnotherUnit(strconv.FormatFloat(x, 'f', -1, 64), since))
		}
	}
	s.guessed = since == "" && s.vague(&e, first.Names())
	s.lengths = e.messages == nil && e.turns == nil
	return s, nil
}

// vague reports whether a record's times are in milliseconds as far as anybody knows, and
// have columns that others have too: lengths alone, a text alone, or some that are not AIPerf's.
func (s *source) vague(e *entry, names []string) bool {
	if !s.supposed || e.hashes != nil {
		return false
	}
	if s.format.name == "aiperf" {
		return !hasAny("output_length", records.Payload)(names)
	}
	return e.messages == nil || foreign(names)
}

// certain refuses a time that has a part of a millisecond where these are only guessed.
// Delays of Mooncake's form are AIPerf's for certain.
func (s *source) certain(i int64, e *entry) error {
	at := e.at.Or(0)
	if s.format.name == "aiperf" {
		at += e.delay.Or(0)
	}
	if !s.guessed || at%time.Millisecond == 0 {
		return nil
	}
	return fmt.Errorf("%s: the time or delay of record %d has a part of a millisecond, the unit of Mooncake's traces and AIPerf's files, whose columns these are: write time_in: s (GuideLLM's), or ms, beside file: in a workload file", s.file.Name, i+1)
}

// columnsOf says which columns are read and in which unit the times are; it returns the
// unit that the user or the column's name told.
func (s *source) columnsOf(first records.Row, columns map[string]string, unit string) (told string) {
	s.columns = columns
	if _, known := s.get(first, "time"); !known && columns["time"] == "" {
		if name := timeColumn(first.Names()); name != "" {
			if s.columns = maps.Clone(columns); s.columns == nil {
				s.columns = map[string]string{}
			}
			s.columns["time"] = name
		}
	}
	_, named := unitOf(s.columns["time"])
	told = cmp.Or(unit, named)
	s.unit = cmp.Or(told, s.format.unit)
	return told
}

// ahead is how many records are looked at before a run starts: mistakes mostly
// show in the first ones.
const ahead = 1000

// check reads the first records, or all of them.
func (s *source) check(all bool) error {
	for i := int64(0); all || i < ahead; i++ {
		_, err := s.at(i)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// at returns entry i from the front; io.EOF behind the last.
func (s *source) at(i int64) (entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for int64(len(s.kept)) <= i {
		if s.total >= 0 {
			return entry{}, io.EOF
		}
		if s.next > math.MaxUint32-1 {
			return entry{}, fmt.Errorf("%s: more than 4 billion records", s.file.Name)
		}
		e, err := s.record(s.next, &s.unsent)
		why, skip := skipped(err)
		switch {
		case err == io.EOF:
			if s.total = int64(len(s.kept)); s.total == 0 {
				return entry{}, fmt.Errorf("%s: nothing in it can be sent: %s", s.file.Name, strings.Join(reasons(s.skips), "; "))
			}
			return entry{}, io.EOF
		case skip:
			s.next++
			s.skips[why]++
			continue
		case err != nil:
			return entry{}, err
		}
		s.delayed = s.delayed || e.delay.OK()
		count(&s.systems, e.system)
		count(&s.named, e.session != "")
		count(&s.unchecked, e.unchecked)
		count(&s.elsewhere, e.elsewhere)
		if s.next < ahead && e.check != nil { // all of these are read before it is asked for
			s.answers = true
		}
		count(&s.several, len(e.turns) > 1 || len(e.messages) > 1 && slices.ContainsFunc(e.messages[:len(e.messages)-1], func(m api.Message) bool { return m.Role == "assistant" }))
		count(&s.answered, len(e.messages) > 0 && e.messages[len(e.messages)-1].Role == "assistant")
		s.kept = append(s.kept, uint32(s.next))
		s.next++
		if int64(len(s.kept)) == i+1 {
			return e, nil
		}
	}
	return s.record(int64(s.kept[i]), nil)
}

// record reads one record of the file; what of it is not sent is told to unsent, if
// that is not nil.
func (s *source) record(i int64, unsent *unsent) (entry, error) {
	row, line, err := s.file.Row(i)
	if err != nil {
		return entry{}, err
	}
	if unsent != nil && i < ahead {
		row = &watched{row, unsent.read}
	}
	e, err := s.format.read(&s.reading, row)
	if err == nil {
		err = e.blocks(s.block)
	}
	if unsent != nil {
		unsent.look(row)
		for _, name := range e.unsent {
			unsent.held[name]++
		}
	}
	if _, skip := skipped(err); err != nil && !skip {
		err = fmt.Errorf("%s:%d: %w", s.file.Name, line, err)
	}
	return e, err
}

// entry returns what item i sends: the file from its front, again and again;
// for the warm-up from its end, so that what is measured was not seen before.
func (s *source) entry(i int64) (entry, error) {
	if s.shuffle != nil {
		return s.shuffled(i)
	}
	if i < 0 {
		return s.fromEnd(-i)
	}
	e, err := s.at(i)
	if err == io.EOF {
		s.mu.Lock()
		n := s.total
		s.mu.Unlock()
		return s.at(i % n)
	}
	return e, err
}

// fromEnd returns the k-th entry from the end.
func (s *source) fromEnd(k int64) (entry, error) {
	s.mu.Lock()
	n := s.total
	s.mu.Unlock()
	passed := int64(0)
	for j := int64(1); n < 0; j++ {
		row, _, err := s.file.Last(j)
		if err == io.EOF {
			break
		}
		if err != nil {
			return entry{}, err
		}
		e, err := s.format.read(&s.reading, row)
		_, skip := skipped(err)
		switch {
		case skip:
			passed++
		case err != nil:
			return entry{}, fmt.Errorf("%s, record %d from the end: %w", s.file.Name, j, err)
		case j-passed == k:
			return e, nil
		}
	}
	n, err := s.count()
	if err != nil {
		return entry{}, err
	}
	return s.at(around(-k, n))
}

// around is the place of item i among n that come again and again.
func around(i, n int64) int64 { return (i%n + n) % n }

// count returns the number of items: entries or sessions, reading to the end
// where it must.
func (s *source) count() (int64, error) {
	if s.sessions != nil {
		return int64(len(s.sessions)), nil
	}
	return s.entries()
}

// entries returns the number of entries, reading to the end where it must.
func (s *source) entries() (int64, error) {
	for i := int64(0); ; i += 1000 {
		s.mu.Lock()
		n := s.total
		i = max(i, int64(len(s.kept)))
		s.mu.Unlock()
		if n >= 0 {
			return n, nil
		}
		if _, err := s.at(i); err != nil && err != io.EOF {
			return 0, err
		}
	}
}
