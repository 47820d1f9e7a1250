package probe

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"tokenmeter/base/limitio"
	"tokenmeter/base/printable"
	"tokenmeter/record/run"
)

// lesson is what the answers to a kind have taught of a target. It outlives days
// and processes: else what a target took yesterday and refuses today would look
// like what it never took, and one that bills more than it may would pass the
// budget once a day.
type lesson struct {
	Taken   bool      `json:"taken"`             // the target has answered it once
	Retry   time.Time `json:"retry,omitzero"`    // it was refused before it was ever taken: not asked until then
	MostIn  int64     `json:"most_in,omitzero"`  // tokens that one request has had,
	MostOut int64     `json:"most_out,omitzero"` // and that one answer has cost
}

// lessonsFile lies beside what was spent.
const lessonsFile = "lessons.json"

// subject names what a lesson is of. Another length is another thing to ask.
func subject(t *Target, k *Kind) string {
	return fmt.Sprintf("%s: %s of %s, %d in, %d out, %d images", t.Name, k.Name, t.Model, k.Input, k.Output, k.Images)
}

func readLessons(path string) (map[string]lesson, error) {
	lessons := map[string]lesson{}
	data, err := limitio.File(path, 16<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return lessons, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &lessons); err != nil {
		return nil, fmt.Errorf("%s does not say what targets take: %w; remove it, and that is learnt anew", path, err)
	}
	if lessons == nil { // the file says null
		lessons = map[string]lesson{}
	}
	for name, one := range lessons {
		if one.MostIn < 0 || one.MostOut < 0 {
			return nil, fmt.Errorf("%s does not say what targets take: fewer than no tokens of %.200q; remove it, and that is learnt anew", path, name)
		}
	}
	return lessons, nil
}

// lesson is what is known of a subject.
func (l *Ledger) lesson(subject string) lesson {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lessons[subject]
}

// learn keeps a lesson.
func (l *Ledger) learn(subject string, now lesson) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lessons[subject] == now {
		return nil
	}
	l.lessons[subject] = now
	data, err := json.MarshalIndent(l.lessons, "", "  ")
	if err != nil {
		return err
	}
	return run.ReplaceFile(filepath.Join(filepath.Dir(l.path), lessonsFile), func(f *os.File) error {
		_, err := f.Write(append(printable.JSON(data), '\n'))
		return err
	})
}
