// Package child ends a program together with all that it started.
package child
