package main

import (
	"fmt"
	"io"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// How long reducing a contradiction to its core may take for each attempt.
const reduceAtMost = time.Second

func check(holds []*hold, size int, timeout time.Duration, explanations io.Writer) counts {
	result := counts{Holds: len(holds)}
	byMonitor := map[string][]*hold{}
	for _, one := range holds {
		byMonitor[one.monitor] = append(byMonitor[one.monitor], one)
	}
	monitors := make([]string, 0, len(byMonitor))
	for monitor := range byMonitor {
		monitors = append(monitors, monitor)
	}
	sort.Strings(monitors)
	result.Monitors = len(monitors)
	for _, monitor := range monitors {
		told := 0
		for _, window := range windows(byMonitor[monitor], size) {
			result.Windows++
			switch porcupine.CheckOperationsTimeout(lockModel, operations(window), timeout) {
			case porcupine.Unknown:
				result.Unknown++
				fmt.Fprintf(explanations, "%s: no answer in %v for the acquisitions from %s on\n", monitor, timeout,
					window[0].name())
			case porcupine.Illegal:
				result.Illegal++
				if told++; told <= 5 {
					explain(monitor, core(window), explanations)
				}
			}
		}
	}
	return result
}

// Parts of one monitor's history that are searched one by one, since the search's cost is not linear.
//
// Leaving whole acquisitions out, with their endings, makes no history wrong that was right: what is found is true. And
// little is missed: two acquisitions that contradict each other for their times have others between them that do so too,
// down to neighbours, and windows overlap by half. For tokens that is not so (who has waited long may come with a token
// that is too low), therefore each acquisition has with it the one of the highest token that was granted before it was
// asked for.
func windows(holds []*hold, size int) [][]*hold {
	sort.SliceStable(holds, func(a, b int) bool { return holds[a].granted < holds[b].granted })
	highest := make([]*hold, len(holds)) // up to and including each
	for i, one := range holds {
		highest[i] = one
		if i > 0 && highest[i-1].token > one.token {
			highest[i] = highest[i-1]
		}
	}
	var parts [][]*hold
	for first := 0; first == 0 || first+size/2 < len(holds); first += size / 2 {
		last := first + size
		if last > len(holds) {
			last = len(holds)
		}
		part := append([]*hold{}, holds[first:last]...)
		there := map[*hold]bool{}
		for _, one := range part {
			there[one] = true
		}
		for _, one := range holds[first:last] {
			before := sort.Search(len(holds), func(i int) bool { return holds[i].granted >= one.invoked })
			if before > 0 && !there[highest[before-1]] {
				there[highest[before-1]] = true
				part = append(part, highest[before-1])
			}
		}
		parts = append(parts, part)
	}
	return parts
}

// A smallest set of these that cannot be ordered.
func core(holds []*hold) []*hold {
	left := append([]*hold{}, holds...)
	for i := 0; i < len(left); {
		without := append(append([]*hold{}, left[:i]...), left[i+1:]...)
		if porcupine.CheckOperationsTimeout(lockModel, operations(without), reduceAtMost) == porcupine.Illegal {
			left = without
		} else {
			i++
		}
	}
	return left
}

func explain(monitor string, holds []*hold, explanations io.Writer) {
	fmt.Fprintf(explanations, "%s: no order of these is that of a lock (times in ns):\n", monitor)
	for _, one := range holds {
		ends := fmt.Sprintf("%d", one.endsBy)
		if one.endsBy == never {
			ends = "any time"
		}
		fmt.Fprintf(explanations, "  %s: asked for at %d, granted at %d with token %d, ended between %d and %s\n",
			one.name(), one.invoked, one.granted, one.token, one.endsFrom, ends)
	}
}
