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

// The lock as a sequential object: somebody holds it, this was the highest token, and this the grant that was used last.
type state struct {
	holder *hold
	token  int64
	grant  string
}

// An acquisition succeeds while nobody holds, with a higher token than all before (0: of a client that knows none), or
// under the grant that was used last, which has stayed with its process; only the holder's own comes to an end.
var lockModel = porcupine.Model{
	Init: func() interface{} { return state{} },
	Step: func(before, in, _ interface{}) (bool, interface{}) {
		lock, operation := before.(state), in.(input)
		if operation.what == end {
			return lock.holder == operation.hold, state{nil, lock.token, lock.grant}
		}
		grant := operation.hold.grant()
		again := operation.token == lock.token && grant == lock.grant
		if lock.holder != nil || operation.token != 0 && operation.token <= lock.token && !again {
			return false, lock
		}
		if operation.token == 0 {
			return true, state{operation.hold, lock.token, grant}
		}
		return true, state{operation.hold, operation.token, grant}
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
