package ingressnginx

import "net/netip"

// limits are how many requests of one client an Ingress lets through (N34).
type limits struct {
	perSecond, perMinute, connections int // 0: none
	burst                             int // the multiplier of what may come at once
	free                              []netip.Prefix
}

func (l *limits) any() bool { return l.perSecond > 0 || l.perMinute > 0 || l.connections > 0 }

// readLimits reads the limits on requests.
func (v *annotationReader) readLimits() limits {
	l := limits{burst: v.integerOr("limit-burst-multiplier", 5)}
	l.perSecond, _ = v.readInteger("limit-rps")
	l.perMinute, _ = v.readInteger("limit-rpm")
	l.connections, _ = v.readInteger("limit-connections")
	if text, state := v.readText("limit-allowlist"); state == present {
		l.free, _ = parseRanges(text)
	}
	return l
}
