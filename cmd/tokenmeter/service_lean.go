//go:build lean

package main

// lean: what lacking lists is not in this build.
const lean = true

var serviceScreens map[string]everyday

// service is empty in a lean build.
type service struct{}
