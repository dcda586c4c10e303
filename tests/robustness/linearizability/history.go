package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"
)

const never = int64(math.MaxInt64)

// One acquisition that was granted. Its ending took effect at some time from endsFrom to endsBy.
type hold struct {
	process  string
	call     int64
	monitor  string
	token    int64
	guid     string
	session  string
	invoked  int64
	granted  int64
	endsFrom int64
	endsBy   int64
}

func (h *hold) name() string {
	return h.process + " call " + strconv.FormatInt(h.call, 10)
}

// The contender of a process that it was granted to: sections under one grant have the same.
func (h *hold) grant() string {
	return h.process + " " + h.session + " " + h.guid
}

type event struct {
	T       *int64          `json:"t"`
	Process string          `json:"process"`
	Kind    string          `json:"kind"`
	Event   string          `json:"event"`
	Call    *int64          `json:"call"`
	Monitor string          `json:"monitor"`
	Token   string          `json:"token"`
	Code    *string         `json:"code"`
	GUID    string          `json:"guid"`
	Session string          `json:"session"`
	ID      json.RawMessage `json:"id"`
	Fault   string          `json:"fault"`
	Target  string          `json:"target"`
	Detail  string          `json:"detail"`
	Type    string          `json:"type"`
	Path    string          `json:"path"`
	Zxid    int64           `json:"zxid"`
	Timeout int64           `json:"session_timeout_ms"`
	Linger  int64           `json:"linger_ms"`
}

// A call as it is being put together; what has not happened is `never`.
type record struct {
	hold
	doubted  int64 // unhealthy, lost or released, whichever was first
	release  int64
	released int64
	code     string
}

type process struct {
	name string
	kind string
	last int64 // its last sign of life
	// So long after a robbery it may still use a lock that has stayed with it.
	blind int64
	calls map[int64]*record
}

// After a pause a process must get the processor before it can do anything.
const waking = int64(250 * time.Millisecond)

type pause struct{ begin, end int64 }

type history struct {
	processes map[string]*process
	pauses    map[string][]*pause // when a process was stopped
	paused    map[string]*pause   // by the fault's number
	// When somebody's lock was taken away by force: "MONITOR/NODE" was deleted, or the session "0x…" ended.
	force  map[string][]int64
	nodes  map[string]event  // who made it, by "MONITOR/NODE": names come again
	robbed map[string]string // "MONITOR/NODE" that somebody else deleted, by the guid in it
	locks  map[string]string // the guid that a transaction wrote into a lock, by "MONITOR/TOKEN"
}

// What is of no interest here and makes up most of a history. Of the servers' transactions, who made and deleted which node is asked.
var skipped = [][]byte{[]byte(`"access_begin"`), []byte(`"access_end"`),
	[]byte(`"type":"close_session"`)}

func readHistory(directory string) ([]*hold, error) {
	files, err := filepath.Glob(filepath.Join(directory, "*.ndjson"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no *.ndjson files, so no history", directory)
	}
	sort.Strings(files)
	all := history{processes: map[string]*process{}, pauses: map[string][]*pause{}, paused: map[string]*pause{}, force: map[string][]int64{},
		nodes: map[string]event{}, robbed: map[string]string{}, locks: map[string]string{}}
	for _, name := range files {
		if err := all.readFile(name); err != nil {
			return nil, err
		}
	}
	return all.holds(), nil
}

func (h *history) readFile(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewReaderSize(file, 1<<20)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		torn := errors.Is(err, io.EOF)
		if err != nil && !torn {
			return err
		}
		if len(line) > 0 {
			if problem := h.take(line); problem != nil && !(torn && !json.Valid(line)) {
				return fmt.Errorf("%s:%d: %w", filepath.Base(name), number, problem)
			}
		}
		if torn {
			return nil
		}
	}
}

func (h *history) take(line []byte) error {
	for _, word := range skipped {
		if bytes.Contains(line, word) {
			return nil
		}
	}
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	if e.T == nil || e.Process == "" || e.Kind == "" || e.Event == "" {
		return errors.New("an event has t, process, kind and event")
	}
	p := h.processes[e.Process]
	if p == nil {
		p = &process{name: e.Process, kind: e.Kind, calls: map[int64]*record{}}
		h.processes[e.Process] = p
	}
	if *e.T > p.last {
		p.last = *e.T
	}
	switch e.Event {
	case "started":
		if e.Linger > 0 {
			p.blind = e.Timeout*int64(time.Millisecond) + waking
		}
	case "invoke", "granted", "unhealthy", "lost", "release", "released":
		return p.take(e)
	case "fault_begin":
		h.takeFault(e)
	case "fault_end":
		if one, known := h.paused[string(e.ID)]; known {
			one.end = *e.T
		}
	case "server_transaction":
		h.takeTransaction(e)
	}
	return nil
}

func (h *history) takeTransaction(e event) {
	parts := strings.Split(e.Path, "/")
	if len(parts) < 3 {
		return
	}
	if parts[len(parts)-1] == "privateLock" {
		if e.GUID != "" { // in the transaction that created it, with what wrote to it
			h.locks[parts[len(parts)-2]+"/"+strconv.FormatInt(e.Zxid, 10)] = e.GUID
		}
		return
	}
	node := strings.Join(parts[len(parts)-2:], "/")
	if e.Type == "create" {
		h.nodes[node] = e
	} else if made, known := h.nodes[node]; known && e.Type == "delete" {
		if made.Session != e.Session {
			h.robbed[made.GUID] = node
		}
		delete(h.nodes, node)
	}
}

func (h *history) takeFault(e event) {
	hit := ""
	switch {
	case strings.HasPrefix(e.Fault, "client_paused"):
		one := &pause{*e.T, never}
		h.pauses[e.Target] = append(h.pauses[e.Target], one)
		h.paused[string(e.ID)] = one
		return
	case strings.HasSuffix(e.Fault, "_deleted"):
		hit = e.Target + "/" + e.Detail
	case e.Fault == "session_expired":
		hit = e.Detail
	default:
		return
	}
	h.force[hit] = append(h.force[hit], *e.T)
}

// When the lock was taken from its holder, by what was done to it and to nothing else; never if nothing was. This may be
// before it was told that it had been granted, but not after its last sign of life: names come again.
func (h *history) forced(p *process, call *record) int64 {
	hits := append([]int64{}, h.force[call.session]...)
	if node, robbed := h.robbed[call.guid]; robbed {
		hits = append(hits, h.force[node]...)
	}
	sort.Slice(hits, func(a, b int) bool { return hits[a] < hits[b] })
	last := never
	for _, at := range hits {
		if at <= call.doubted && at <= p.last {
			last = at
		}
	}
	return last
}

func (p *process) take(e event) error {
	if e.Call == nil || e.Monitor == "" {
		return fmt.Errorf("%s without call and monitor", e.Event)
	}
	call := p.calls[*e.Call]
	if e.Event == "invoke" {
		if call != nil {
			return errors.New("this call was invoked before")
		}
		p.calls[*e.Call] = &record{
			hold:     hold{process: p.name, call: *e.Call, monitor: e.Monitor, invoked: *e.T, granted: never},
			doubted:  never,
			release:  never,
			released: never,
		}
		return nil
	}
	if call == nil || call.monitor != e.Monitor {
		return errors.New("this call was never invoked for this monitor")
	}
	if e.Event != "granted" && call.granted == never {
		return errors.New("this call was not granted")
	}
	switch e.Event {
	case "granted":
		if call.granted != never {
			return errors.New("this call was granted before")
		}
		token, err := strconv.ParseInt(e.Token, 10, 64)
		if err != nil {
			return err
		}
		call.token, call.granted, call.guid, call.session = token, *e.T, e.GUID, e.Session
	case "lost":
		call.doubt(*e.T)
	case "unhealthy":
		call.doubt(*e.T)
	case "release":
		call.release = *e.T
		call.doubt(*e.T)
	case "released":
		if call.release == never || e.Code == nil {
			return errors.New("released without release, or without code")
		}
		call.released, call.code = *e.T, *e.Code
	}
	return nil
}

func (r *record) doubt(at int64) {
	if at < r.doubted {
		r.doubted = at
	}
}

// The acquisitions of which somebody was told. One that was cut off before may have taken effect or not: leaving it out
// asks less of the lock, never more. So does leaving out one of a lock that had stayed with its process and had just
// been taken away by force.
func (h *history) holds() []*hold {
	var all []*hold
	for _, p := range h.processes {
		for _, call := range p.calls {
			if call.granted == never {
				continue
			}
			if call.guid == "" && call.token != 0 {
				call.guid = h.locks[call.monitor+"/"+strconv.FormatInt(call.token, 10)]
			}
			if force := h.forced(p, call); force < call.invoked && call.invoked <= force+p.blind {
				continue
			}
			one := call.hold
			one.endsFrom, one.endsBy = h.ending(p, call)
			all = append(all, &one)
		}
	}
	sort.Slice(all, func(a, b int) bool {
		if all[a].granted != all[b].granted {
			return all[a].granted < all[b].granted
		}
		return all[a].token < all[b].token
	})
	return all
}

// When a lock may have ended. A confirmed release: between its call and its return, or when the lock was taken by force,
// which a release whose reply was lost cannot tell from its own doing. Otherwise at any time after the last moment at
// which its holder was certain, and went on running.
func (h *history) ending(p *process, call *record) (int64, int64) {
	if call.released != never && call.code == "" {
		from := call.release
		if force := h.forced(p, call); force < from {
			from = force
		}
		return from, call.released
	}
	if p.kind != "api" && p.kind != "async" {
		return call.invoked, never // it knows of no loss, not even of one before it was told of the grant
	}
	from := call.doubted
	if p.last < from {
		from = p.last
	}
	for _, one := range h.pauses[p.name] {
		// Also one in which it would have been told that it was granted.
		tellingIt := one.begin >= call.invoked && (one.end == never || one.end+waking >= call.granted)
		if (one.begin >= call.granted || tellingIt) && one.begin < from {
			from = one.begin
		}
	}
	if force := h.forced(p, call); force < from {
		from = force
	}
	return from, never
}
