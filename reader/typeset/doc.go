// Package typeset writes figures and texts as people read them: no more digits
// than are known, units in reach, lengths that fit, nothing that acts on a
// terminal.
package typeset
