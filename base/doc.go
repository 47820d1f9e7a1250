// Package base is the wing of what any program could use: configuration files,
// secrets, printable text, bounded reads, the clock and seeded random numbers.
// Its packages import nothing of ours.
package base
