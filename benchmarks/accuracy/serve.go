package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"tokenmeter/physics/sim"
)

// serve runs the simulated server until its stdin is closed.
func serve() error {
	f, err := os.Create(*truthFile)
	if err != nil {
		return err
	}
	truth := bufio.NewWriterSize(f, 1<<20)
	server := sim.New(sim.Config{Model: "sim", Overhead: 50 * time.Millisecond, DecodeBase: *gap,
		OutputTokens: *tokens, Truth: truth})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go server.Serve(ln)
	fmt.Printf("http://%s\n", ln.Addr())
	io.Copy(io.Discard, os.Stdin)
	if err := server.Close(); err != nil {
		return err
	}
	if err := truth.Flush(); err != nil {
		return err
	}
	return f.Close()
}
