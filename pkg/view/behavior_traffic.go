package view

import (
	"fmt"
	"math"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
)

// Traffic is what an access log has of the requests for which something changes.
type Traffic struct {
	Lines    int      `json:"lines"`    // of the log, blank ones left out
	Unread   int      `json:"unread"`   // of these, that are no request in a form that is known
	Hostless int      `json:"hostless"` // requests without a host: they count for every host
	Requests int      `json:"requests"` // that were held against the changes
	Touched  int      `json:"touched"`  // of these, for which something changes
	Percent  float64  `json:"percent"`  // that these are of all
	Notes    []string `json:"notes"`    // what the figures leave open, a sentence each
}

// TrafficShare is how many of the logged requests a change touches.
type TrafficShare struct {
	Requests int     `json:"requests"` // for which it changes something
	Percent  float64 `json:"percent"`  // that these are of all that were logged
}

// logCount counts logged requests by change.
type logCount struct {
	log     *AccessLog
	all     [][]request.Request // the readings of each
	touched []map[int]bool      // by change: which
	looks   bool                // at parts of requests that logs do not have
}

func newLogCount(log *AccessLog) *logCount {
	if log == nil {
		return nil
	}
	c := &logCount{log: log, all: make([][]request.Request, len(log.all))}
	for i := range log.all {
		c.all[i] = log.all[i].requests()
		if c.all[i] == nil {
			log.unread += log.times[i]
			log.times[i] = 0
		}
	}
	return c
}

// weigh counts the logged requests of a class for which something changes.
func (d *behavior) weigh(at int, p *space.Pair) {
	c := d.log
	if c == nil {
		return
	}
	for len(c.touched) <= at {
		c.touched = append(c.touched, map[int]bool{})
	}
	class := p.Any()
	c.looks = c.looks || class.Looks()
	for i, readings := range c.all {
		if c.touched[at][i] {
			continue
		}
		for j := range readings {
			if c.log.all[i].host == "" && class.ContainsAnyHost(&readings[j]) || c.log.all[i].host != "" && class.Contains(&readings[j]) {
				c.touched[at][i] = true
			}
		}
	}
}

func (c *logCount) total() int { return c.log.lines - c.log.unread - c.log.dropped }

func (c *logCount) sum(which map[int]bool) TrafficShare {
	out := TrafficShare{}
	for i := range which {
		out.Requests += c.log.times[i]
	}
	if total := c.total(); total > 0 {
		out.Percent = math.Round(10000*float64(out.Requests)/float64(total)) / 100
	}
	return out
}

func (c *logCount) share(at int) *TrafficShare {
	out := c.sum(c.touched[at])
	return &out
}

func (c *logCount) traffic() *Traffic {
	all := map[int]bool{}
	for _, which := range c.touched {
		for i := range which {
			all[i] = true
		}
	}
	sum := c.sum(all)
	out := &Traffic{Lines: c.log.lines, Unread: c.log.unread, Hostless: c.log.hostless, Requests: c.total(), Touched: sum.Requests, Percent: sum.Percent, Notes: []string{}}
	note := func(format string, args ...any) { out.Notes = append(out.Notes, fmt.Sprintf(format, args...)) }
	if out.Unread > 0 {
		note("%s of the log cannot be read", Counted(out.Unread, "line"))
	}
	if out.Hostless > 0 {
		note("the log has no host for %s: each counts for every host", Counted(out.Hostless, "request"))
	}
	if c.looks {
		note("logs do not have the headers that matches look at: logged requests are taken to have none")
	}
	if c.log.dropped > 0 {
		note("%s left out: the log has more than %s different ones", Counted(c.log.dropped, "request is|requests are"), grouped(mostLogged))
	}
	return out
}
