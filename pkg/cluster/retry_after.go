package cluster

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// maxRetryWait is how long a reading waits altogether because the server asks to be asked later.
const maxRetryWait = time.Minute

// reportedWait is how much longer it has to wait for that to be reported again.
const reportedWait = 5 * time.Second

// retryWaits is the time that a reading waits because the server says so. Requests that wait side by
// side count once.
type retryWaits struct {
	mu       sync.Mutex
	until    time.Time           // the end of the last wait
	total    time.Duration       // of all waits
	reported time.Duration       // of those that were reported
	report   func(time.Duration) // is told what the server asks for; nil: nobody is
}

// addWait adds the wait that an answer asks for. The error says that it is too long.
func (w *retryWaits) addWait(answer *http.Response) error {
	wait := readRetryAfter(answer)
	if wait == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	begin, end := time.Now(), time.Now().Add(wait)
	if w.until.After(begin) {
		begin = w.until
	}
	more := max(end.Sub(begin), 0)
	if w.total+more > maxRetryWait {
		return newLimitError("the server asks to retry after %s, and has asked for %s before: that is more than %s together",
			wait, w.total.Round(time.Second), maxRetryWait)
	}
	w.total += more
	w.until = begin.Add(more)
	if w.report != nil && w.total-w.reported >= reportedWait {
		w.reported = w.total
		w.report(wait)
	}
	return nil
}

// readRetryAfter returns how long a server wants to be left alone, 0 if it does not say. It is what
// the client library waits for.
func readRetryAfter(answer *http.Response) time.Duration {
	if answer.StatusCode != http.StatusTooManyRequests && answer.StatusCode < http.StatusInternalServerError {
		return 0
	}
	seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	if err != nil || seconds <= 0 {
		return 0
	}
	const longest = 1 << 30 // seconds: what is longer overflows
	return time.Duration(min(seconds, longest)) * time.Second
}
