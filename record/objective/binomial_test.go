package objective

import (
	"encoding/csv"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"tokenmeter/record/timeline"
)

// What n requests of which so many are slow say of a percentile is what the binomial
// law says: exactly where none or all are slow, and never more where some are, for
// then how they depend on each other is estimated too. Where the law leaves no doubt,
// requests that come in any order are enough.
func TestStatesAgainstTheBinomialLaw(t *testing.T) {
	file, err := os.Open("testdata/binomial.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := csv.NewReader(file)
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	settled, agreed := 0, 0
	for _, row := range rows[1:] {
		n, _ := strconv.Atoi(row[0])
		slow, _ := strconv.Atoi(row[1])
		text, want := "p"+row[2]+" ttft < 500ms", row[3]
		order := rand.New(rand.NewPCG(uint64(n), uint64(slow))).Perm(n)
		var tls []*timeline.Timeline
		for i := range n {
			ttft := 100.0
			if order[i] < slow {
				ttft = 900
			}
			tl := reply(i, ttft, 10, 3)
			tl.DueUS = int64(i) * 100_000
			tl.StartUS = tl.DueUS
			tls = append(tls, tl)
		}
		got := judged(t, []string{text}, tls, false).Objectives[0].State
		exact := slow == 0 || slow == n
		if exact && got != want || got != want && got != Open {
			t.Errorf("%d of %d slow: %s is %s, and %s by the binomial law", slow, n, text, got, want)
		}
		if want != Open && !exact {
			settled++
			if got == want {
				agreed++
			}
		}
	}
	if settled == 0 || agreed < settled*8/10 {
		t.Errorf("of %d mixed cases that the law settles only %d are settled", settled, agreed)
	}
}
