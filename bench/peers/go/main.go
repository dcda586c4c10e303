// Locks written in Go as workers of the comparison: worker zk|etcd|redis SERVERS. Jobs: see bench/compare/job.h.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

type job struct {
	Monitors []string `json:"monitors"`
	Threads  int      `json:"threads"`
	Sections int64    `json:"sections"`
	Seconds  float64  `json:"seconds"`
	HoldUs   int64    `json:"hold_us"`
	PauseUs  float64  `json:"pause_us"`
	Fresh    bool     `json:"fresh"`
}

type section struct{ wait, cycle time.Duration }

// locker is one lock of one monitor, for one goroutine.
type locker interface {
	Lock() error
	Unlock() error
}

// maker makes the lock of a monitor.
type maker func(monitor string) (locker, error)

const maxSamples = 20000

func passTime(duration time.Duration) {
	end := time.Now().Add(duration)
	if duration > 200*time.Microsecond {
		time.Sleep(duration - 200*time.Microsecond)
	}
	for time.Now().Before(end) {
	}
}

func work(j job, index int, make maker, next *atomic.Int64, end time.Time) ([]section, error) {
	var own []section
	monitor := j.Monitors[index%len(j.Monitors)]
	var lock locker
	var err error
	if !j.Fresh {
		if lock, err = make(monitor); err != nil {
			return nil, err
		}
	}
	for {
		number := next.Add(1) - 1
		if (j.Sections > 0 && number >= j.Sections) || (!end.IsZero() && !time.Now().Before(end)) {
			return own, nil
		}
		if j.PauseUs > 0 {
			passTime(time.Duration(rand.ExpFloat64() * j.PauseUs * 1000))
		}
		if j.Fresh {
			if lock, err = make(fmt.Sprintf("%s-%d", monitor, number)); err != nil {
				return own, err
			}
		}
		asked := time.Now()
		if err = lock.Lock(); err != nil {
			return own, err
		}
		held := time.Now()
		if j.HoldUs > 0 {
			passTime(time.Duration(j.HoldUs) * time.Microsecond)
		}
		done := time.Now()
		if err = lock.Unlock(); err != nil {
			return own, err
		}
		own = append(own, section{held.Sub(asked), held.Sub(asked) + time.Since(done)})
	}
}

func run(j job, make maker) (map[string]any, error) {
	if j.Threads == 0 {
		j.Threads = 1
	}
	var next atomic.Int64
	var mutex sync.Mutex
	var group sync.WaitGroup
	var results []section
	var failure error
	begin := time.Now()
	var end time.Time
	if j.Seconds > 0 {
		end = begin.Add(time.Duration(j.Seconds * float64(time.Second)))
	}
	for i := 0; i < j.Threads; i++ {
		group.Add(1)
		go func(index int) {
			defer group.Done()
			own, err := work(j, index, make, &next, end)
			mutex.Lock()
			defer mutex.Unlock()
			results = append(results, own...)
			if err != nil {
				failure = err
			}
		}(i)
	}
	group.Wait()
	if failure != nil {
		return nil, failure
	}
	seconds := time.Since(begin).Seconds()
	waits, cycles := []float64{}, []float64{}
	step := len(results)/maxSamples + 1
	for i := 0; i < len(results); i += step {
		waits = append(waits, float64(results[i].wait.Nanoseconds())/1000)
		cycles = append(cycles, float64(results[i].cycle.Nanoseconds())/1000)
	}
	return map[string]any{"sections": len(results), "seconds": seconds, "wait_us": waits, "cycle_us": cycles}, nil
}

func serve() error {
	if len(os.Args) != 3 {
		return fmt.Errorf("usage: worker zk|etcd|redis SERVERS")
	}
	makers := map[string]func(string) (maker, error){"zk": zkMaker, "etcd": etcdMaker, "redis": redisMaker}
	connect, known := makers[os.Args[1]]
	if !known {
		return fmt.Errorf("unknown kind %q", os.Args[1])
	}
	make, err := connect(os.Args[2])
	if err != nil {
		return err
	}
	fmt.Println(`{"ready":true}`)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var j job
		if err := json.Unmarshal(lines.Bytes(), &j); err != nil {
			return err
		}
		answer, err := run(j, make)
		if err != nil {
			return err
		}
		if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}
