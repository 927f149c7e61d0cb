package behavior

import (
	"fmt"
	"math"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
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

// trafficCounter counts logged requests by the changes that touch them.
type trafficCounter struct {
	log               *AccessLog
	readings          [][]request.Request // the readings of each
	touched           []map[int]bool      // by change: which
	needsMoreThanLogs bool                // matches look at parts of requests that logs do not have
}

func newTrafficCounter(log *AccessLog) *trafficCounter {
	if log == nil {
		return nil
	}
	c := &trafficCounter{log: log, readings: make([][]request.Request, len(log.requests))}
	for i := range log.requests {
		c.readings[i] = log.requests[i].toRequests()
		if c.readings[i] == nil {
			log.unread += log.counts[i]
			log.counts[i] = 0
		}
	}
	return c
}

// countTraffic counts the logged requests of a class for which something changes.
func (d *behaviorComparer) countTraffic(at int, p *space.Pair) {
	c := d.log
	if c == nil {
		return
	}
	for len(c.touched) <= at {
		c.touched = append(c.touched, map[int]bool{})
	}
	class := p.AnyClass()
	c.needsMoreThanLogs = c.needsMoreThanLogs || class.HasFieldTests()
	for i, readings := range c.readings {
		if c.touched[at][i] {
			continue
		}
		for j := range readings {
			if c.log.requests[i].host == "" && class.ContainsAnyHost(&readings[j]) || c.log.requests[i].host != "" &&
				class.Contains(&readings[j]) {
				c.touched[at][i] = true
			}
		}
	}
}

func (c *trafficCounter) countRequests() int { return c.log.lines - c.log.unread - c.log.dropped }

func (c *trafficCounter) sumShare(which map[int]bool) TrafficShare {
	out := TrafficShare{}
	for i := range which {
		out.Requests += c.log.counts[i]
	}
	if total := c.countRequests(); total > 0 {
		out.Percent = math.Round(10000*float64(out.Requests)/float64(total)) / 100
	}
	return out
}

func (c *trafficCounter) shareOf(at int) *TrafficShare {
	out := c.sumShare(c.touched[at])
	return &out
}

func (c *trafficCounter) buildTraffic() *Traffic {
	all := map[int]bool{}
	for _, which := range c.touched {
		for i := range which {
			all[i] = true
		}
	}
	sum := c.sumShare(all)
	out := &Traffic{Lines: c.log.lines, Unread: c.log.unread, Hostless: c.log.hostless, Requests: c.countRequests(),
		Touched: sum.Requests, Percent: sum.Percent, Notes: []string{}}
	note := func(format string, args ...any) { out.Notes = append(out.Notes, fmt.Sprintf(format, args...)) }
	if out.Unread > 0 {
		note("%s of the log cannot be read", view.FormatCount(out.Unread, "line"))
	}
	if out.Hostless > 0 {
		note("the log has no host for %s: each counts for every host", view.FormatCount(out.Hostless, "request"))
	}
	if c.needsMoreThanLogs {
		note("logs do not have the headers that matches look at: logged requests are taken to have none")
	}
	if c.log.dropped > 0 {
		note("%s left out: the log has more than %s different ones", view.FormatCount(c.log.dropped,
			"request is|requests are"), view.FormatNumber(maxLoggedRequests))
	}
	return out
}
