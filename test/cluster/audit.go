package cluster

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"time"
)

// Request is a request that reached the server.
type Request struct {
	Verb      string // as RBAC knows it: get, list, watch, create, …
	Path      string
	Query     url.Values
	User      string // who asked, also where somebody else is impersonated
	UserAgent string
	Time      time.Time
}

// event is what is read of a line of the audit log.
type event struct {
	Verb       string    `json:"verb"`
	RequestURI string    `json:"requestURI"`
	UserAgent  string    `json:"userAgent"`
	Time       time.Time `json:"requestReceivedTimestamp"`
	User       struct {
		Username string `json:"username"`
	} `json:"user"`
}

// Requests are the requests of a user ("" for everybody but the harness) from a time on, in the order in which they came. A request is
// there before it is answered; one without valid credentials is not there.
func (c *Cluster) Requests(user string, since time.Time) []Request {
	c.tb.Helper()
	out, err := c.requests(user, since)
	if err != nil {
		c.tb.Fatalf("reading the audit log: %v", err)
	}
	return out
}

func (s *server) requests(user string, since time.Time) ([]Request, error) {
	log, err := os.Open(s.file("audit.log"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // nothing has been asked yet
	}
	if err != nil {
		return nil, err
	}
	defer log.Close()
	var out []Request
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return out, nil // what is left is a line that is being written
		}
		if err != nil {
			return nil, err
		}
		r, err := readEvent(line)
		if err != nil {
			return nil, err
		}
		if (user == "" || user == r.User) && !r.Time.Before(since) {
			out = append(out, r)
		}
	}
}

func readEvent(line []byte) (Request, error) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		return Request{}, err
	}
	uri, err := url.ParseRequestURI(e.RequestURI)
	if err != nil {
		return Request{}, fmt.Errorf("reading %s: %w", e.RequestURI, err)
	}
	return Request{Verb: e.Verb, Path: uri.Path, Query: uri.Query(), User: e.User.Username, UserAgent: e.UserAgent,
		Time: e.Time}, nil
}
