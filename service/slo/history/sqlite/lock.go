package sqlite

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"
)

// HeldError says that another process writes a store.
type HeldError struct {
	Path string
	By   string // who, in words
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s is written by %s; two on one store would count everything twice: stop that one, or name another file in store", e.Path, e.By)
}

// holder is what a lock file says of who holds it.
type holder struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

// lockEnd is what the name of a lock file has after that of its store.
const lockEnd = ".lock"

// lock takes a store for this process, for as long as the file that it returns
// is open: the system gives it back when the process ends, however it does. The
// lock file stays.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path+lockEnd, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	held, err := tryLock(f)
	if err == nil && held {
		by := "another process"
		var h holder
		if data, err := io.ReadAll(io.LimitReader(f, 4<<10)); err == nil && json.Unmarshal(data, &h) == nil && h.PID != 0 {
			by = fmt.Sprintf("process %d on %s since %s", h.PID, h.Host, h.Since.Format(time.RFC3339))
		}
		err = &HeldError{path, by}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	host, _ := os.Hostname()
	data, _ := json.Marshal(holder{os.Getpid(), host, time.Now().UTC().Truncate(time.Second)})
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt(append(data, '\n'), 0) // only words for others
	}
	return f, nil
}
