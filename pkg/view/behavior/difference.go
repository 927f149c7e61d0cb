package behavior

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// Difference is how the answers to a request differ between proxies that different objects configure.
type Difference string

// The differences.
const (
	NoMatchNow    Difference = "NoMatchNow"
	RedirectGone  Difference = "RedirectGone"
	OtherRedirect Difference = "OtherRedirect"
	RedirectNow   Difference = "RedirectNow"
	NewAccess     Difference = "NewAccess"
	AccessLost    Difference = "AccessLost"
	OtherBackend  Difference = "OtherBackend" // or other shares
	OtherPath     Difference = "OtherPath"    // at the backend
	BackendNow    Difference = "BackendNow"   // that asks for a credential
	OtherAnswer   Difference = "OtherAnswer"
	OtherSettings Difference = "OtherSettings" // of which the verdict does not speak
)

// The verdicts of a comparison.
const (
	Equivalent = "Equivalent"
	Different  = "Different"
	NotProved  = "NotProved"
)

// compareAnswers returns how two answers differ, and which access is gained or lost; "" if they are
// the same. Not compared is the status of a request that both sides refuse.
func compareAnswers(before, after *sideAnswer) (Difference, string) {
	b, a := before.Outcome, after.Outcome
	switch {
	case before.isRefused() && after.isRefused(), before.signsIn() && after.signsIn():
		return "", ""
	case len(before.NeedsAuth) > 0 && after.openedAccess() != "":
		return NewAccess, AccessOpened
	case b == request.Redirect && a == request.Redirect:
		if before.Status != after.Status || tidyLocation(before.Location) != tidyLocation(after.Location) {
			return OtherRedirect, ""
		}
		return "", ""
	case b == request.Matched && a == request.Matched:
		return compareMatched(before, after)
	case a == request.NoMatch:
		return NoMatchNow, before.closedAccess()
	case b == request.Redirect && a == request.Matched:
		return RedirectGone, after.openedAccess()
	case b == request.Redirect:
		return RedirectGone, ""
	case a == request.Redirect:
		return RedirectNow, before.closedAccess()
	case a == request.Matched && before.isShutOut() && before.needsAllOf(after):
		return NewAccess, AccessOpened
	case a == request.Matched && before.isRefused() && before.DeniedBy != ingress.BodySize:
		if access := after.openedAccess(); access != "" {
			return NewAccess, access
		}
		return BackendNow, ""
	case b == request.Matched && after.isRefused() && after.DeniedBy != ingress.BodySize:
		return AccessLost, AccessClosed
	case b == a && before.Status == after.Status:
		return "", ""
	}
	return OtherAnswer, ""
}

// compareMatched compares two answers of backends.
func compareMatched(before, after *sideAnswer) (Difference, string) {
	was, is := before.authKey(), after.authKey()
	switch {
	case was != is && is == "":
		return NewAccess, AccessOpened
	case was != is && was == "":
		return AccessLost, AccessClosed
	case was != is && before.needsAllOf(after):
		return NewAccess, AccessOpened
	case was != is && after.needsAllOf(before):
		return AccessLost, AccessClosed
	case was != is:
		return OtherAnswer, ""
	case before.shareKey() != after.shareKey():
		return OtherBackend, ""
	case before.pathKey() != after.pathKey():
		return OtherPath, ""
	}
	return "", ""
}

// signsIn reports whether the proxy sends the client to where it can sign in.
func (s *sideAnswer) signsIn() bool {
	return s.Status == 302 && len(s.NeedsAuth) > 0 &&
		(s.Outcome == request.Redirect || s.Outcome == request.Denied)
}

// isRefused reports whether the proxy refuses the request.
func (s *sideAnswer) isRefused() bool {
	return s.Outcome == request.NoMatch || s.Outcome == request.Denied || s.Outcome == request.Misdirected
}

// isShutOut reports whether a request is refused by who sends it, whatever credentials it has.
func (s *sideAnswer) isShutOut() bool {
	switch s.DeniedBy {
	case ingress.AllowList, ingress.DenyList, ingress.Blocked, ingress.ClientCertificate:
		return s.Outcome == request.Denied
	}
	return false
}

// openedAccess is the access that is gained if nothing reached the backend before.
func (s *sideAnswer) openedAccess() string {
	if s.Outcome == request.Matched && len(s.NeedsAuth) == 0 {
		return AccessOpened
	}
	return ""
}

// closedAccess is the access that is lost if nothing reaches the backend any more.
func (s *sideAnswer) closedAccess() string {
	if s.openedAccess() != "" {
		return AccessClosed
	}
	return ""
}

// needsAllOf reports whether all that the other side asks for is asked for here too.
func (s *sideAnswer) needsAllOf(o *sideAnswer) bool {
	own := strings.Split(s.authKey(), ",")
	return !slices.ContainsFunc(strings.Split(o.authKey(), ","),
		func(need string) bool { return !slices.Contains(own, need) })
}

// authKey is the same for the same credentials: "basic,external" are both, "basic|external" is either.
func (s *sideAnswer) authKey() string {
	var all []string
	for _, alternatives := range s.NeedsAuth {
		var words []string
		for _, w := range alternatives {
			words = append(words, string(w))
		}
		slices.Sort(words)
		all = append(all, strings.Join(words, "|"))
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ",")
}

// shareKey is the same for the same backends with the same shares.
func (s *sideAnswer) shareKey() string {
	shares, divisor := map[string]int{}, 0
	for i := range s.Backends {
		b := &s.Backends[i]
		if b.Weight > 0 {
			shares[b.Ref.WithoutSection().String()+":"+strconv.Itoa(int(b.Port))] += b.Weight
		}
	}
	for _, w := range shares {
		divisor = commonDivisor(divisor, w)
	}
	var out []string
	for name, w := range shares {
		out = append(out, fmt.Sprint(name, " ", w/divisor))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// pathKey is the same for the same paths at the backends.
func (s *sideAnswer) pathKey() string {
	var out []string
	for i := range s.Backends {
		if s.Backends[i].Weight > 0 {
			out = append(out, cmp.Or(s.Backends[i].Path, "/"))
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

// classKey is the same for answers that are shown as one: all that is compared but what is made of
// the path.
func (s *sideAnswer) classKey() string {
	key := string(s.Outcome)
	switch s.Outcome {
	case request.Matched:
		key += " " + s.shareKey()
	case request.Denied:
		key += " " + string(s.DeniedBy) + " " + strconv.Itoa(s.Status)
	default:
		key += " " + strconv.Itoa(s.Status)
	}
	return key + " " + s.authKey()
}

// tidyLocation returns a location in which an empty path is written as a slash.
func tidyLocation(url string) string {
	scheme, rest, found := strings.Cut(url, "://")
	if !found {
		return url
	}
	at := strings.IndexAny(rest, "/?#")
	switch {
	case at < 0:
		return url + "/"
	case rest[at] != '/':
		return scheme + "://" + rest[:at] + "/" + rest[at:]
	}
	return url
}
