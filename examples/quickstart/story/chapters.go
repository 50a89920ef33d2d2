package main

import "context"

// A chapter plays one kind of trouble, checks the promise, and says what it
// measured. A new chapter is a file with its function and a line here.
type chapter struct {
	title string
	play  func(context.Context, *stage) (row, error)
}

var chapters = []chapter{
	{"re-fires, without oneticket", playStraight},
	{"re-fires", playRefires},
	{"race", playRace},
	{"lost acknowledgement", playLost},
	{"severity change", playSeverity},
	{"resolve", playResolve},
	{"restart", playRestart},
	{"observe", playObserve},
}

// The storm that is sent straight, through oneticket and past a rule on trial.
const (
	stormFaults  = 20
	stormRefires = 10 // after the first fire
)
