package model

import "sync"

// Memo holds what was made once, by key. Its zero value is empty; it is safe for concurrent use.
type Memo struct{ made sync.Map }

// Recall returns what make gives for a key, made once for a memo. It is not to be changed.
func Recall[T any](m *Memo, key any, make func() T) T {
	once, _ := m.made.LoadOrStore(key, sync.OnceValue(make))
	return once.(func() T)()
}
