package sim

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The English vocabulary: one word is one token, so that counting the words of
// a reply gives the true number of tokens.
var english = strings.Fields(`
the of and to in is you that it he was for on are as with his they at be this
have from or one had by word but not what all were we when your can said there
use an each which she do how their if will up other about out many then them
these so some her would make like him into time has look two more write go see
number no way could people my than first water been call who oil its now find
long down day did get come made may part over new sound take only little work
know place year live me back give most very after thing our just name good
sentence man think say great where help through much before line right too mean
old any same tell boy follow came want show also around form three small set put
end does another well large must big even such because turn here why ask went
men read need land different home us move try kind hand picture again change off
play spell air away animal house point page letter mother answer found study
still learn should world high every near add food between own below country
plant last school father keep tree never start city earth eye light thought head
under story saw left few while along might close something seem next hard open
example begin life always those both paper together got group often run`)

// word is token i of the reply with a given start, without its space.
func word(vocabulary string, start uint64, i int) string {
	if vocabulary == "numbered" {
		return "w" + strconv.Itoa(int((start+uint64(i))%1000))
	}
	return english[(start+uint64(i)*7919)%uint64(len(english))]
}

// wordTokens is how many tokens a word is: one, or one for every so many letters.
func (c *Config) wordTokens(word string) int {
	if c.LettersPerToken < 1 {
		return 1
	}
	return (utf8.RuneCountInString(word) + c.LettersPerToken - 1) / c.LettersPerToken
}

// countTokens is how many tokens a text has.
func (c *Config) countTokens(s string) (n int) {
	if c.LettersPerToken < 1 {
		return countWords(s)
	}
	for w := range strings.FieldsSeq(s) {
		n += c.wordTokens(w)
	}
	return n
}

// countWords is how many words a text has, each of which is a token by default.
func countWords(s string) int {
	n, in := 0, false
	for _, r := range s {
		space := unicode.IsSpace(r)
		if !space && !in {
			n++
		}
		in = !space
	}
	return n
}
