package main

import (
	"context"
	"strings"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/go-zookeeper/zk"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
)

func zkMaker(servers string) (maker, error) {
	connection, _, err := zk.Connect(strings.Split(servers, ","), 40*time.Second, zk.WithLogInfo(false))
	if err != nil {
		return nil, err
	}
	return func(monitor string) (locker, error) {
		return zk.NewLock(connection, "/go/"+monitor, zk.WorldACL(zk.PermAll)), nil
	}, nil
}

type etcdLock struct{ mutex *concurrency.Mutex }

func (l etcdLock) Lock() error   { return l.mutex.Lock(context.Background()) }
func (l etcdLock) Unlock() error { return l.mutex.Unlock(context.Background()) }

// Every lock has a session of its own: a session's key is the same for all its mutexes of one name, so goroutines that
// share one would not exclude each other.
func etcdMaker(servers string) (maker, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: strings.Split(servers, ","), DialTimeout: 10 * time.Second})
	if err != nil {
		return nil, err
	}
	shared, err := concurrency.NewSession(client, concurrency.WithTTL(40))
	if err != nil {
		return nil, err
	}
	first := true
	return func(monitor string) (locker, error) {
		session := shared
		if !first && !strings.Contains(monitor, "-") {
			if session, err = concurrency.NewSession(client, concurrency.WithTTL(40)); err != nil {
				return nil, err
			}
		}
		first = false
		return etcdLock{concurrency.NewMutex(session, "/"+monitor)}, nil
	}, nil
}

type redisLock struct{ mutex *redsync.Mutex }

func (l redisLock) Lock() error { return l.mutex.Lock() }
func (l redisLock) Unlock() error {
	_, err := l.mutex.Unlock()
	return err
}

func redisMaker(servers string) (maker, error) {
	client := redis.NewClient(&redis.Options{Addr: servers})
	sync := redsync.New(goredis.NewPool(client))
	return func(monitor string) (locker, error) {
		return redisLock{sync.NewMutex(monitor, redsync.WithTries(1 << 30), redsync.WithExpiry(10*time.Second))}, nil
	}, nil
}
