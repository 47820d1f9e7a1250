package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A daemon that could not write what it recorded says so with its last word.
func TestWhatIsLostIsAnError(t *testing.T) {
	for _, removed := range []bool{false, true} {
		folder := filepath.Join(t.TempDir(), "rows")
		synctest.Test(t, func(t *testing.T) {
			w := begin(t, file(`{name: m, listen: "front:1"}`, allRoutes+"rows: {folder: "+folder+"}\n"))
			if removed {
				if err := os.RemoveAll(folder); err != nil {
					t.Fatal(err)
				}
			}
			if status, _, err := w.get("front:1", ask); err != nil || status != 200 {
				t.Fatal(status, err)
			}
			time.Sleep(2 * time.Second)
			w.stop()
			err := <-w.ended
			var lost *LostError
			if errors.As(err, &lost) != removed || removed && !strings.Contains(err.Error(), "could not be written: 1") {
				t.Errorf("removed: %t, ended with %v", removed, err)
			}
		})
	}
}
