// Command tokenmeter measures LLM inference servers: it records when every
// token of a reply arrived, and computes everything else from that record.
package main

import (
	"os"
	"os/signal"
)

func main() {
	quietPipes()
	if len(os.Args) > 1 {
		leaveAtSignals(os.Args[1])
	}
	os.Exit(Main(os.Args[1:], os.Stdout, os.Stderr, os.LookupEnv))
}

// quietPipes makes a closed stdout an error of the write instead of the end of
// the program: what is measured must reach the disk.
func quietPipes() {
	if len(brokenPipe) > 0 { // an empty list would mean every signal
		signal.Ignore(brokenPipe...)
	}
}
