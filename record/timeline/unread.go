package timeline

import "strings"

// Unread are names of what a reply held and no reader knows, joined by spaces: each one
// of the kinds below, a colon, and a name that is fit to be shown. Empty: nothing was
// left unread, or nobody looked.
type Unread string

// The kinds of names.
const (
	TextName   = "text"   // under this member stands text that may have been generated
	CountName  = "count"  // this member of a usage counts tokens, and the others do not add up
	FinishName = "finish" // why the answer ended, by a reason that is not known
)

const (
	mostUnread    = 4  // names
	longestUnread = 48 // bytes
)

// Add adds a name. What is no letter, digit or usual sign in it becomes a question mark,
// and there are no more than four names.
func (u *Unread) Add(kind, name string) {
	if strings.Count(string(*u), ":") == mostUnread {
		return
	}
	if len(name) > longestUnread {
		name = name[:longestUnread]
	}
	show := []byte(name)
	for i, c := range show {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '-' && c <= '9' || c == '_' || c == '$' || c == '*') {
			show[i] = '?'
		}
	}
	if *u != "" {
		*u += " "
	}
	*u += Unread(kind + ":" + string(show))
}
