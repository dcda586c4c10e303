package main

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

type kind int

const (
	acquire kind = iota
	end
)

// What is done to the lock, by one acquisition.
type input struct {
	what  kind
	hold  *hold
	token int64
}

// The lock as a sequential object: somebody holds it, and this was the highest token.
type state struct {
	holder *hold
	token  int64
}

// An acquisition succeeds while nobody holds, with a higher token than all before (0: of a client that knows none); only
// the holder's own comes to an end.
var lockModel = porcupine.Model{
	Init: func() interface{} { return state{} },
	Step: func(before, in, _ interface{}) (bool, interface{}) {
		lock, operation := before.(state), in.(input)
		if operation.what == end {
			return lock.holder == operation.hold, state{nil, lock.token}
		}
		if lock.holder != nil || operation.token != 0 && operation.token <= lock.token {
			return false, lock
		}
		if operation.token == 0 {
			return true, state{operation.hold, lock.token}
		}
		return true, state{operation.hold, operation.token}
	},
	DescribeOperation: func(in, _ interface{}) string {
		operation := in.(input)
		if operation.what == end {
			return "end of " + operation.hold.name()
		}
		return fmt.Sprintf("%s: token %d", operation.hold.name(), operation.token)
	},
}

// The acquisition took effect between call and return; the ending between its own two times.
func operations(holds []*hold) []porcupine.Operation {
	history := make([]porcupine.Operation, 0, 2*len(holds))
	for i, one := range holds {
		history = append(history,
			porcupine.Operation{ClientId: i, Input: input{acquire, one, one.token}, Call: one.invoked, Return: one.granted},
			porcupine.Operation{ClientId: i, Input: input{end, one, 0}, Call: one.endsFrom, Return: one.endsBy})
	}
	return history
}
