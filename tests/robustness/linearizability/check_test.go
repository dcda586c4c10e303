package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A history written by hand: times in milliseconds.
type planted struct {
	lines map[string][]string
}

func newPlanted() *planted { return &planted{lines: map[string][]string{}} }

func (p *planted) event(at int64, process, kind, name, keys string) *planted {
	line := fmt.Sprintf(`{"t":%d,"process":%q,"kind":%q,"event":%q%s}`, 1_000_000_000+at*1_000_000, process, kind, name, keys)
	p.lines[process] = append(p.lines[process], line)
	return p
}

func (p *planted) about(at int64, process, name string, call int, keys string) *planted {
	kind := "api"
	if strings.HasPrefix(process, "literal") {
		kind = "literal"
	}
	return p.event(at, process, kind, name, fmt.Sprintf(`,"call":%d,"monitor":"P1"%s`, call, keys))
}

func (p *planted) granted(invoked, granted int64, process string, call int, token int64) *planted {
	p.about(invoked, process, "invoke", call, "")
	return p.about(granted, process, "granted", call, fmt.Sprintf(`,"token":"%d"`, token))
}

func (p *planted) released(release, released int64, process string, call int, code string) *planted {
	p.about(release, process, "release", call, "")
	return p.about(released, process, "released", call, fmt.Sprintf(`,"code":%q`, code))
}

func (p *planted) fault(at int64, kind, target, detail string) *planted {
	return p.event(at, "runner", "runner", "fault_begin",
		fmt.Sprintf(`,"fault":%q,"target":%q,"detail":%q,"id":1`, kind, target, detail))
}

func (p *planted) write(t *testing.T) string {
	t.Helper()
	directory := t.TempDir()
	for process, lines := range p.lines {
		text := strings.Join(lines, "\n") + "\n"
		if err := os.WriteFile(filepath.Join(directory, process+".ndjson"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return directory
}

func (p *planted) expect(t *testing.T, exit int, contains string) {
	t.Helper()
	var out, explained bytes.Buffer
	if got := run([]string{p.write(t)}, &out, &explained); got != exit {
		t.Fatalf("exit %d, not %d\n%s%s", got, exit, out.String(), explained.String())
	}
	if all := out.String() + explained.String(); !strings.Contains(all, contains) {
		t.Fatalf("%q is not in:\n%s", contains, all)
	}
}

func TestOneAfterTheOther(t *testing.T) {
	p := newPlanted()
	p.granted(0, 10, "a", 1, 100).released(20, 22, "a", 1, "")
	p.granted(5, 21, "b", 1, 101).released(30, 31, "b", 1, "")
	p.expect(t, exitClean, `{"monitors":1,"holds":2,"windows":1,"illegal":0,"unknown":0}`)
}

func TestTwoAtOnce(t *testing.T) {
	p := newPlanted()
	p.granted(0, 10, "a", 1, 100).released(20, 22, "a", 1, "")
	p.granted(5, 19, "b", 1, 101).released(30, 31, "b", 1, "")
	p.granted(0, 70, "c", 1, 103).released(71, 72, "c", 1, "")
	p.expect(t, exitIllegal, "a call 1: asked for at")
}

func TestOnlyWhatContradictsIsTold(t *testing.T) {
	p := newPlanted()
	p.granted(0, 10, "a", 1, 100).released(20, 22, "a", 1, "")
	p.granted(5, 19, "b", 1, 101).released(30, 31, "b", 1, "")
	p.granted(0, 70, "c", 1, 103).released(71, 72, "c", 1, "")
	var out, explained bytes.Buffer
	run([]string{p.write(t)}, &out, &explained)
	if strings.Contains(explained.String(), "c call 1") {
		t.Fatalf("c has nothing to do with it:\n%s", explained.String())
	}
}

func TestATokenThatFalls(t *testing.T) {
	p := newPlanted()
	p.granted(0, 10, "a", 1, 100).released(20, 22, "a", 1, "")
	p.granted(30, 40, "b", 1, 99).released(50, 51, "b", 1, "")
	p.expect(t, exitIllegal, `"illegal":1`)
}

func TestATokenGrantedTwice(t *testing.T) {
	p := newPlanted()
	p.granted(0, 10, "a", 1, 100).released(20, 22, "a", 1, "")
	p.granted(0, 40, "b", 1, 100).released(50, 51, "b", 1, "")
	p.expect(t, exitIllegal, `"illegal":1`)
}

// A section of a process whose locks stay with it.
func (p *planted) under(invoked, granted int64, process string, call int, token int64, guid string) *planted {
	p.about(invoked, process, "invoke", call, "")
	return p.about(granted, process, "granted", call, fmt.Sprintf(`,"token":"%d","guid":%q,"session":"0x5"`, token, guid))
}

func TestALockMayBeTakenAgainUnderItsGrant(t *testing.T) {
	p := newPlanted()
	p.under(0, 10, "a", 1, 100, "g").released(20, 22, "a", 1, "")
	p.under(30, 31, "a", 2, 100, "g").released(40, 41, "a", 2, "unconfirmed")
	p.under(50, 51, "a", 3, 100, "g").released(60, 61, "a", 3, "")
	p.under(55, 70, "b", 1, 101, "h").released(80, 81, "b", 1, "")
	p.expect(t, exitClean, `"illegal":0`)
}

func TestOneGrantIsNotForTwoAtOnce(t *testing.T) {
	p := newPlanted()
	p.under(0, 10, "a", 1, 100, "g").released(20, 22, "a", 1, "")
	p.under(11, 12, "a", 2, 100, "g").released(13, 14, "a", 2, "")
	p.expect(t, exitIllegal, `"illegal":1`)
}

func TestAGrantIsOfOneContender(t *testing.T) {
	p := newPlanted()
	p.under(0, 10, "a", 1, 100, "g").released(20, 22, "a", 1, "")
	p.under(30, 31, "a", 2, 100, "h").released(40, 41, "a", 2, "")
	p.expect(t, exitIllegal, `"illegal":1`)
}

func TestALockIsNotTakenAgainAfterAnother(t *testing.T) {
	p := newPlanted()
	p.under(0, 10, "a", 1, 100, "g").released(20, 22, "a", 1, "")
	p.under(0, 25, "b", 1, 101, "h").released(26, 27, "b", 1, "")
	p.under(30, 31, "a", 2, 100, "g").released(40, 41, "a", 2, "")
	p.expect(t, exitIllegal, `"illegal":1`)
}

func TestALockIsNotTakenAgainAfterAClientWithoutTokens(t *testing.T) {
	p := newPlanted()
	p.under(0, 10, "a", 1, 100, "g").released(20, 22, "a", 1, "")
	p.granted(0, 25, "literal-1", 1, 0).released(26, 27, "literal-1", 1, "")
	p.under(30, 31, "a", 2, 100, "g").released(40, 41, "a", 2, "")
	p.expect(t, exitIllegal, `"illegal":1`)
}

// The news of a removal by force may still be on its way, for as long as a session lasts, where locks stay at all.
func TestARobbedLockMayBeTakenAgainForAMoment(t *testing.T) {
	taken := func(at int64, started string) *planted {
		p := newPlanted()
		p.event(0, "a", "api", "started", started)
		p.under(1, 10, "a", 1, 100, "g").released(20, 22, "a", 1, "")
		p.under(0, 50, "b", 1, 101, "h").released(55, 56, "b", 1, "")
		p.under(at, at+1, "a", 2, 100, "g").about(at+2, "a", "lost", 2, `,"reason":"removed"`)
		p.event(9000, "runner", "runner", "server_transaction", `,"type":"create","path":"/robustness/P1/A-0000000007","guid":"g","session":"0x5"`)
		p.event(9001, "runner", "runner", "server_transaction", `,"type":"delete","path":"/robustness/P1/A-0000000007","session":"0x1"`)
		return p
	}
	lingering := `,"session_timeout_ms":2000,"linger_ms":400`
	taken(60, lingering).expect(t, exitIllegal, `"illegal":1`)
	taken(60, lingering).fault(40, "holder_deleted", "P1", "A-0000000007").expect(t, exitClean, `"illegal":0`)
	taken(3000, lingering).fault(40, "holder_deleted", "P1", "A-0000000007").expect(t, exitIllegal, `"illegal":1`)
	p := taken(60, `,"session_timeout_ms":2000`)
	p.fault(40, "holder_deleted", "P1", "A-0000000007").expect(t, exitIllegal, `"illegal":1`)
}

func TestTheGrantMayBeToldLate(t *testing.T) {
	p := newPlanted()
	p.granted(0, 40, "a", 1, 100).released(41, 42, "a", 1, "")
	p.granted(0, 39, "b", 1, 99).released(39, 43, "b", 1, "")
	p.expect(t, exitClean, `"illegal":0`)
}

func TestAConfirmedReleaseIsNoLaterThanItsReturn(t *testing.T) {
	p := newPlanted()
	p.granted(0, 10, "a", 1, 100).released(20, 22, "a", 1, "")
	p.granted(0, 15, "b", 1, 101).released(16, 17, "b", 1, "unconfirmed")
	p.expect(t, exitIllegal, `"illegal":1`)
}

func TestAnUnconfirmedReleaseMayTakeEffectLater(t *testing.T) {
	p := newPlanted()
	p.granted(0, 10, "a", 1, 100).released(20, 22, "a", 1, "unconfirmed")
	p.granted(0, 50, "b", 1, 101).released(51, 52, "b", 1, "")
	p.expect(t, exitClean, `"illegal":0`)
}

func TestALostLockEndsAfterItsHolderHadDoubts(t *testing.T) {
	p := newPlanted()
	p.granted(0, 10, "a", 1, 100).about(20, "a", "unhealthy", 1, "").event(90, "a", "api", "ended", "")
	p.granted(0, 25, "b", 1, 101).released(30, 31, "b", 1, "")
	p.expect(t, exitClean, `"illegal":0`)
	p.granted(0, 32, "c", 1, 102).about(40, "c", "lost", 1, `,"reason":"deadline_passed"`)
	p.granted(0, 39, "b", 2, 103).released(50, 51, "b", 2, "")
	p.expect(t, exitIllegal, `"illegal":1`)
}

func TestAKilledHolderHoldsUntilItsLastSign(t *testing.T) {
	p := newPlanted()
	p.granted(0, 10, "a", 1, 100).event(20, "a", "api", "heartbeat", "")
	p.granted(0, 21, "b", 1, 101).released(30, 31, "b", 1, "")
	p.expect(t, exitClean, `"illegal":0`)
	p.event(23, "a", "api", "heartbeat", "")
	p.granted(0, 22, "c", 1, 102).released(22, 22, "c", 1, "")
	p.expect(t, exitIllegal, `"illegal":1`)
}

func TestAPausedHolderIsCertainUntilThePause(t *testing.T) {
	p := newPlanted()
	p.granted(0, 10, "a", 1, 100).about(5000, "a", "lost", 1, `,"reason":"deadline_passed"`)
	p.granted(0, 3000, "b", 1, 101).released(3010, 3011, "b", 1, "")
	p.expect(t, exitIllegal, `"illegal":1`)
	p.event(20, "runner", "runner", "fault_begin", `,"fault":"client_paused","target":"a","id":1`)
	p.expect(t, exitClean, `"illegal":0`)
}

func TestAPausedProcessIsToldOfItsGrantTooLate(t *testing.T) {
	p := newPlanted()
	p.granted(0, 5000, "a", 1, 100).about(5001, "a", "unhealthy", 1, "")
	p.granted(0, 3000, "b", 1, 101).released(3010, 3011, "b", 1, "")
	p.expect(t, exitIllegal, `"illegal":1`)
	p.event(20, "runner", "runner", "fault_begin", `,"fault":"client_paused","target":"a","id":1`)
	p.event(4990, "runner", "runner", "fault_end", `,"fault":"client_paused","id":1`)
	p.expect(t, exitClean, `"illegal":0`)
}

func TestAPauseThatWasOverIsNoExcuse(t *testing.T) {
	p := newPlanted()
	p.granted(0, 5000, "a", 1, 100).about(6000, "a", "unhealthy", 1, "")
	p.granted(0, 5500, "b", 1, 101).released(5510, 5511, "b", 1, "")
	p.event(20, "runner", "runner", "fault_begin", `,"fault":"client_paused","target":"a","id":1`)
	p.event(4000, "runner", "runner", "fault_end", `,"fault":"client_paused","id":1`)
	p.expect(t, exitIllegal, `"illegal":1`)
}

func TestForceMayEndALockBeforeItsHolderKnows(t *testing.T) {
	p := robbed()
	p.expect(t, exitIllegal, `"illegal":1`)
	p.fault(40, "holder_deleted", "P1", "A-0000000007")
	p.expect(t, exitClean, `"illegal":0`)
	p = robbed()
	p.fault(40, "session_expired", "a", "0x5")
	p.expect(t, exitClean, `"illegal":0`)
}

// As members of a set are, of which the client does not tell the guids: what was written into the lock says it.
func TestForceMayEndALockWhoseHolderToldNoGuid(t *testing.T) {
	p := newPlanted()
	p.about(0, "a", "invoke", 1, "")
	p.about(10, "a", "granted", 1, `,"token":"100","guid":"","session":"0x5"`).about(60, "a", "lost", 1, `,"reason":"removed"`)
	p.granted(0, 50, "b", 1, 101).released(55, 56, "b", 1, "")
	p.event(90, "runner", "runner", "server_transaction", `,"type":"create","path":"/robustness/P1/A-0000000007","guid":"g","session":"0x5"`)
	p.event(91, "runner", "runner", "server_transaction", `,"type":"delete","path":"/robustness/P1/A-0000000007","session":"0x1"`)
	p.fault(40, "lock_deleted", "P1", "A-0000000007")
	p.event(92, "runner", "runner", "server_transaction", `,"zxid":101,"type":"set","path":"/robustness/P1/privateLock","guid":"g","session":"0x5"`)
	p.expect(t, exitIllegal, `"illegal":1`) // another token
	p.event(93, "runner", "runner", "server_transaction", `,"zxid":100,"type":"set","path":"/robustness/P1/privateLock","guid":"g","session":"0x5"`)
	p.expect(t, exitClean, `"illegal":0`)
}

func TestForceMayEndALockOfOneThatIsKilledThen(t *testing.T) {
	p := newPlanted()
	p.about(0, "a", "invoke", 1, "")
	p.about(10, "a", "granted", 1, `,"token":"100","guid":"g","session":"0x5"`)
	p.event(60, "a", "api", "heartbeat", "")
	p.granted(0, 50, "b", 1, 101).released(55, 56, "b", 1, "")
	p.expect(t, exitIllegal, `"illegal":1`)
	p.event(90, "runner", "runner", "server_transaction", `,"type":"create","path":"/robustness/P1/A-0000000007","guid":"g","session":"0x5"`)
	p.event(91, "runner", "runner", "server_transaction", `,"type":"delete","path":"/robustness/P1/A-0000000007","session":"0x1"`)
	p.fault(40, "holder_deleted", "P1", "A-0000000007")
	p.fault(500, "holder_deleted", "P1", "A-0000000007") // a later one of that name
	p.expect(t, exitClean, `"illegal":0`)
}

func TestAReleaseMayBeTakenForConfirmedAfterForce(t *testing.T) {
	p := newPlanted()
	p.about(0, "a", "invoke", 1, "")
	p.about(10, "a", "granted", 1, `,"token":"100","guid":"g","session":"0x5"`).released(60, 65, "a", 1, "")
	p.granted(0, 50, "b", 1, 101).released(55, 56, "b", 1, "")
	p.expect(t, exitIllegal, `"illegal":1`)
	p.fault(40, "session_expired", "a", "0x5")
	p.expect(t, exitClean, `"illegal":0`)
}

func TestForceAgainstAnotherOneIsNoExcuse(t *testing.T) {
	p := robbed()
	p.fault(40, "holder_deleted", "P2", "A-0000000007")
	p.fault(40, "waiter_deleted", "P1", "A-0000000008")
	p.fault(40, "session_expired", "a", "0x6")
	p.expect(t, exitIllegal, `"illegal":1`)
}

func TestForceMayEndALockBeforeItsHolderIsTold(t *testing.T) {
	p := newPlanted()
	p.about(0, "a", "invoke", 1, "")
	p.about(60, "a", "granted", 1, `,"token":"100","guid":"g","session":"0x5"`).about(70, "a", "lost", 1, `,"reason":"removed"`)
	p.granted(0, 50, "b", 1, 101).released(55, 56, "b", 1, "")
	p.expect(t, exitIllegal, `"illegal":1`)
	p.fault(40, "session_expired", "a", "0x5")
	p.expect(t, exitClean, `"illegal":0`)
}

// The lock of one was removed, and another one was granted it before it was told.
func robbed() *planted {
	p := newPlanted()
	p.about(0, "a", "invoke", 1, "")
	p.about(10, "a", "granted", 1, `,"token":"100","guid":"g","session":"0x5"`).about(60, "a", "lost", 1, `,"reason":"removed"`)
	p.granted(0, 50, "b", 1, 101).released(55, 56, "b", 1, "")
	p.event(90, "runner", "runner", "server_transaction", `,"type":"create","path":"/robustness/P1/A-0000000007","guid":"g","session":"0x5"`)
	p.event(91, "runner", "runner", "server_transaction", `,"type":"delete","path":"/robustness/P1/A-0000000007","session":"0x1"`)
	return p
}

func TestClientsWithoutTokensTakePart(t *testing.T) {
	p := newPlanted()
	p.granted(0, 10, "literal-1", 1, 0).released(20, 21, "literal-1", 1, "")
	p.granted(0, 15, "b", 1, 101).released(16, 17, "b", 1, "")
	p.expect(t, exitIllegal, `"illegal":1`)
	q := newPlanted()
	q.granted(0, 10, "literal-1", 1, 0).released(20, 21, "literal-1", 1, "")
	q.granted(0, 25, "b", 1, 101).released(26, 27, "b", 1, "")
	q.expect(t, exitClean, `"illegal":0`)
}

func TestMonitorsAreApart(t *testing.T) {
	p := newPlanted()
	p.granted(0, 10, "a", 1, 100).released(20, 22, "a", 1, "")
	p.event(0, "b", "api", "invoke", `,"call":1,"monitor":"P2"`)
	p.event(15, "b", "api", "granted", `,"call":1,"monitor":"P2","token":"7"`)
	p.expect(t, exitClean, `{"monitors":2,`)
}

func TestATornLastLineIsTolerated(t *testing.T) {
	p := newPlanted()
	p.granted(0, 10, "a", 1, 100)
	directory := p.write(t)
	file := filepath.Join(directory, "a.ndjson")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cut := len(text) - 10
	if err := os.WriteFile(file, text[:cut], 0o644); err != nil {
		t.Fatal(err)
	}
	holds, err := readHistory(directory)
	if err != nil || len(holds) != 0 {
		t.Fatalf("%v %v", holds, err)
	}
	if err := os.WriteFile(file, append(text[:cut], '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readHistory(directory); err == nil {
		t.Fatal("a broken line that is not the last one was taken")
	}
}

func TestWhatIsNoHistoryIsRefused(t *testing.T) {
	empty := newPlanted()
	empty.expect(t, exitUnread, "no history")
	p := newPlanted()
	p.about(10, "a", "granted", 1, `,"token":"5"`)
	p.expect(t, exitUnread, "a.ndjson:1: this call was never invoked")
}

// Many contenders at once, in an order that has nothing to do with that of their calls.
func crowd(monitors, holds, waiting int) []*hold {
	var all []*hold
	for m := 0; m < monitors; m++ {
		for i := 0; i < holds; i++ {
			granted := int64(waiting+i) * 10
			asked := granted - int64(1+(i*7919)%waiting)*10
			all = append(all, &hold{
				process: "p", call: int64(i), monitor: fmt.Sprint("m", m), token: int64(i + 1),
				invoked: asked, granted: granted + 3, endsFrom: granted + 5, endsBy: granted + 9,
			})
		}
	}
	return all
}

func TestACrowdIsOrderedInTime(t *testing.T) {
	var explained bytes.Buffer
	result := check(crowd(2, 3000, 60), windowSize, searchAtMost, &explained)
	if result.Illegal != 0 || result.Unknown != 0 || result.Windows != 2*59 {
		t.Fatalf("%+v\n%s", result, explained.String())
	}
}

func TestTwoAtOnceAreFoundInACrowd(t *testing.T) {
	for _, victim := range []int{0, 49, 50, 99, 100, 149, 1000, 2998} {
		holds := crowd(1, 3000, 60)
		holds[victim].endsFrom += 9
		holds[victim].endsBy += 9
		var explained bytes.Buffer
		if result := check(holds, windowSize, searchAtMost, &explained); result.Illegal == 0 {
			t.Fatalf("hold %d overlaps with the next one, unnoticed", victim)
		}
	}
}

func TestALowTokenIsFoundHoweverLongItsOwnerHasWaited(t *testing.T) {
	holds := crowd(1, 3000, 60)
	// Granted last, asked for just after hold 1000 was granted, with a token between those of 999 and 1000.
	for i := 1000; i < 3000; i++ {
		holds[i].token++
	}
	last := holds[2999]
	last.token = 1000
	last.invoked = holds[1000].granted + 1
	var explained bytes.Buffer
	if result := check(holds, windowSize, searchAtMost, &explained); result.Illegal == 0 {
		t.Fatal("not found")
	}
}

func TestASearchThatTakesTooLongIsUnknown(t *testing.T) {
	var explained bytes.Buffer
	result := check(crowd(1, 400, 60), 400, time.Nanosecond, &explained)
	if result.Unknown != 1 || result.Illegal != 0 || !strings.Contains(explained.String(), "no answer in 1ns") {
		t.Fatalf("%+v\n%s", result, explained.String())
	}
}
