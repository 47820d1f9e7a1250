package ranks

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"testing"

	"tokenmeter/wire/tokens/bpe"
)

// The vocabularies are those whose SHA-256 tiktoken demands of a rank file.
func TestVocabulariesAreThePublishedOnes(t *testing.T) {
	for name, c := range map[string]struct {
		ranks func() *bpe.Ranks
		sum   string
	}{
		"o200k_base":  {O200kBase, "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"},
		"cl100k_base": {Cl100kBase, "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"},
	} {
		r, sum := c.ranks(), sha256.New()
		for id := range r.Len() {
			token := r.Token(uint32(id))
			fmt.Fprintf(sum, "%s %d\n", base64.StdEncoding.EncodeToString([]byte(token)), id)
			if got := r.Find(token); got != uint32(id) {
				t.Fatalf("%s: Find(%q) = %d, want %d", name, token, got, id)
			}
		}
		if got := hex.EncodeToString(sum.Sum(nil)); got != c.sum {
			t.Errorf("%s: SHA-256 %s, want %s", name, got, c.sum)
		}
	}
}

func TestUnpackRefusesWhatIsCut(t *testing.T) {
	for _, n := range []int{0, 1, 20, 1000, len(o200kBase) / 2, len(o200kBase) - 1} {
		if _, err := unpack(o200kBase[:n], vocabulary{}); err == nil {
			t.Errorf("%d bytes were taken", n)
		}
	}
	if _, err := unpack(cl100kBase, vocabulary{}); err == nil {
		t.Error("cl100k_base was unpacked without the tokens that it leaves to o200k_base")
	}
}

func BenchmarkLoadO200kBase(b *testing.B) {
	for b.Loop() {
		O200kBase()
	}
}

func BenchmarkLoadCl100kBase(b *testing.B) {
	for b.Loop() {
		Cl100kBase()
	}
}
