//go:build unix

package main

import "syscall"

const terminate = syscall.SIGTERM
