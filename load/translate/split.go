package translate

import (
	"errors"
	"strings"
)

// Split takes a command line apart, as a shell does with quotes and backslashes;
// nothing is substituted. The error says that a quote is not closed.
func Split(line string) (words []string, err error) {
	var word []byte
	begun, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		b := line[i]
		switch {
		case quote != 0 && b == quote:
			quote = 0
		case b == '\\' && quote != '\'' && i+1 < len(line):
			i++
			if line[i] == '\n' {
				continue
			}
			if quote != 0 && !strings.Contains("\"\\$`", line[i:i+1]) {
				word = append(word, '\\')
			}
			word, begun = append(word, line[i]), true
		case quote != 0:
			word = append(word, b)
		case b == '\'' || b == '"':
			quote, begun = b, true
		case strings.Contains(" \t\r\n", line[i:i+1]):
			if begun {
				words = append(words, string(word))
			}
			word, begun = word[:0], false
		default:
			word, begun = append(word, b), true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quote in the command line is not closed")
	}
	if begun {
		words = append(words, string(word))
	}
	return words, nil
}
