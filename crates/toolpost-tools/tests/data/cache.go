// Package cache keeps values for a while.
package cache

import (
	"container/list"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrMissing is returned for a key that is not there, or no longer.
var ErrMissing = errors.New("cache: missing")

type entry struct {
	key     string
	value   []byte
	expires time.Time
}

// Cache is bounded in size; the least recently used value goes first.
type Cache struct {
	mu    sync.Mutex
	order *list.List
	byKey map[string]*list.Element
	size  int
	limit int
	now   func() time.Time
}

// New makes a cache of at most limit bytes.
func New(limit int) (*Cache, error) {
	if limit <= 0 {
		return nil, fmt.Errorf("cache: limit %d is not positive", limit)
	}
	return &Cache{
		order: list.New(),
		byKey: make(map[string]*list.Element),
		limit: limit,
		now:   time.Now,
	}, nil
}

// Get returns a copy of the value.
func (c *Cache) Get(key string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, ok := c.byKey[key]
	if !ok {
		return nil, ErrMissing
	}
	found := element.Value.(*entry)
	if !found.expires.IsZero() && c.now().After(found.expires) {
		c.remove(element)
		return nil, ErrMissing
	}
	c.order.MoveToFront(element)
	return append([]byte(nil), found.value...), nil
}

// Put stores a value; a ttl of zero keeps it until it is pushed out.
func (c *Cache) Put(key string, value []byte, ttl time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.byKey[key]; ok {
		c.remove(old)
	}
	kept := &entry{key: key, value: append([]byte(nil), value...)}
	if ttl > 0 {
		kept.expires = c.now().Add(ttl)
	}
	c.byKey[key] = c.order.PushFront(kept)
	c.size += len(value)
	for c.size > c.limit && c.order.Len() > 0 {
		c.remove(c.order.Back())
	}
}

func (c *Cache) remove(element *list.Element) {
	gone := c.order.Remove(element).(*entry)
	delete(c.byKey, gone.key)
	c.size -= len(gone.value)
}
