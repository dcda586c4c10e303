// Judges a recorded history (tests/robustness/README.md) with an independent checker: is there an order of all
// acquisitions and endings, each within the time between its call and its return, in which they are those of one lock
// whose tokens rise? Porcupine searches for it, monitor by monitor.
//
//	linearizability [-window N] [-timeout D] DIRECTORY
//
// The last line of the output is one JSON object with the counts; what cannot be ordered is explained on stderr, reduced
// to the acquisitions that contradict each other. Exit 0, or 1 if something cannot be ordered, or 2 if the history
// cannot be understood. A search that takes longer than the time-out is counted as unknown.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

const (
	exitClean    = 0
	exitIllegal  = 1
	exitUnread   = 2
	exitUsage    = 64
	windowSize   = 100
	searchAtMost = 10 * time.Second
)

type counts struct {
	Monitors int `json:"monitors"`
	Holds    int `json:"holds"`
	Windows  int `json:"windows"`
	Illegal  int `json:"illegal"`
	Unknown  int `json:"unknown"`
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(arguments []string, out, explanations io.Writer) int {
	flags := flag.NewFlagSet("linearizability", flag.ContinueOnError)
	flags.SetOutput(explanations)
	window := flags.Int("window", windowSize, "how many acquisitions are ordered at once")
	timeout := flags.Duration("timeout", searchAtMost, "for the search in one window")
	if err := flags.Parse(arguments); err != nil || flags.NArg() != 1 || *window < 2 {
		fmt.Fprintln(explanations, "usage: linearizability [-window N] [-timeout D] DIRECTORY")
		return exitUsage
	}
	holds, err := readHistory(flags.Arg(0))
	if err != nil {
		fmt.Fprintln(explanations, "linearizability:", err)
		return exitUnread
	}
	result := check(holds, *window, *timeout, explanations)
	line, err := json.Marshal(result)
	if err != nil {
		fmt.Fprintln(explanations, "linearizability:", err)
		return exitUnread
	}
	fmt.Fprintln(out, string(line))
	if result.Illegal > 0 {
		return exitIllegal
	}
	return exitClean
}
