package typeset

import (
	"encoding/xml"
	"html"
	"strings"
	"testing"
)

// What readers of HTML and XML make of it is the text again.
func TestMarkupStaysText(t *testing.T) {
	for _, text := range []string{"", "plain – 日本語", `a<b> & "c" 'd'`, "</script><!-- &amp; ]]>", "one\ttwo\nthree\rfour"} {
		if got := html.UnescapeString(Markup(text)); got != text {
			t.Errorf("HTML reads %q as %q", text, got)
		}
		var read struct {
			At   string `xml:"at,attr"`
			Text string `xml:",chardata"`
		}
		if err := xml.Unmarshal([]byte(`<x at="`+Markup(text)+`">`+Markup(text)+`</x>`), &read); err != nil || read.At != text || read.Text != text {
			t.Errorf("XML reads %q as %q and %q (%v)", text, read.At, read.Text, err)
		}
	}
}

// All letters that XML has, and some that it has not, as package xml escapes them.
func TestMarkupIsThatOfXML(t *testing.T) {
	var text strings.Builder
	text.WriteString("\t\n\r")
	for r := ' '; r < 0x11000; r++ {
		text.WriteRune(r)
	}
	var want strings.Builder
	if err := xml.EscapeText(&want, []byte(text.String())); err != nil {
		t.Fatal(err)
	}
	if Markup(text.String()) != want.String() {
		t.Error("not what encoding/xml makes of it")
	}
}
