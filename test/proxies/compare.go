package main

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// difference is a request of which kubectl-dopolicy says something else than what the proxy does.
type difference struct {
	// Signature groups differences that most likely have one cause: what differs, and which sort of thing each side has.
	Signature string
	Request   request
	Ours      answer
	Theirs    reply
	Trial     *trial // where policies are asked
}

// verdict is how one answer of kubectl-dopolicy stands to what the proxy did.
type verdict string

const (
	agree       verdict = "agrees"
	conditional verdict = "is conditional"
	differs     verdict = "differs"
	unasked     verdict = "is not asked" // no rule takes the request, of which protection is asked
)

// compare judges one answer. Where it differs, it says what differs.
func compare(w *world, r request, ours *answer, theirs reply) (verdict, *difference) {
	var signature string
	switch refused := theirs.Refused != ""; {
	case ours.saysRefused() && refused:
		return agree, nil
	case ours.saysRefused():
		signature = "refused: ours only"
	case ours.Outcome == "Conditional":
		return conditional, nil
	case refused && ours.Route == nil && ours.Outcome == "Redirect":
		signature = "refused: ours Redirect before any rule"
	case refused && ours.Listener == "" && ours.Outcome == "NoMatch":
		signature = "refused: ours NoMatch without a listener"
	case refused:
		signature = "refused: ours " + ours.Outcome
	default:
		signature = compareCertain(w, r, ours, theirs)
	}
	if signature == "" {
		return agree, nil
	}
	return differs, &difference{Signature: signature, Request: r, Ours: *ours, Theirs: theirs}
}

// saysRefused reports whether an answer depends on what the proxy keeps instead of a configuration that it refuses.
func (a *answer) saysRefused() bool {
	return slices.ContainsFunc(a.Why, func(why string) bool { return strings.Contains(why, "refuses all routes") })
}

// compareCertain is the signature of the difference, or "".
func compareCertain(w *world, r request, ours *answer, theirs reply) string {
	if len(theirs.Ties) > 0 {
		return "chance: ours " + ours.Outcome
	}
	sorts := fmt.Sprintf("ours %s, theirs %s", w.sortOfAnswer(ours), w.sortOfReply(theirs))
	switch ours.Outcome {
	case "Matched":
		return w.compareMatched(ours, theirs, sorts)
	case "NoMatch", "Misdirected", "BackendError":
		switch expected := ours.expectedStatus(r); {
		case r.GRPC && ours.Outcome == "NoMatch" && ours.Status == 0 && theirs.Status == http.StatusNotFound: // of gRPC it is not said how it is refused
		case theirs.Backend != "" || theirs.Location != "" || theirs.Closed != (expected == 0):
			return "rule: " + sorts
		case r.GRPC && ours.Status == 0 && ours.Outcome == "BackendError" && theirs.Status >= 500: // that the call fails is all that is said
		case theirs.Status != expected:
			return fmt.Sprintf("status: ours %d, theirs %d", expected, theirs.Status)
		}
	case "Redirect":
		location := theirs.absoluteLocation(r, ours)
		switch {
		case location == "":
			return "rule: " + sorts
		case location != ours.Location:
			return "location: " + strings.Join(locationParts(ours.Location, location), ", ")
		case !r.GRPC && theirs.Status != ours.Status: // gRPC has no redirects; what a proxy makes of it is not judged
			return fmt.Sprintf("status: ours %d, theirs %d", ours.Status, theirs.Status)
		}
	default:
		return "outcome: ours " + ours.Outcome
	}
	return ""
}

func (w *world) compareMatched(ours *answer, theirs reply, sorts string) string {
	for _, b := range ours.Backends {
		if b.Weight == 0 || b.Ref.Namespace+"/"+b.Ref.Name != theirs.Backend {
			continue
		}
		if ours.Sends == nil {
			return ""
		}
		path, _, _ := strings.Cut(theirs.Path, "?") // the query goes on as it came
		switch {
		case ours.Sends.Path != path:
			return "sends: path"
		case !strings.EqualFold(ours.Sends.Host, hostOnly(theirs.Host)): // and the port, if the client wrote one
			return "sends: host"
		case ours.Sends.Method != theirs.Method:
			return "sends: method"
		}
		return ""
	}
	// A backend that is missing is left out of the answer, and its share of the requests fails.
	fails := theirs.Backend == "" && (theirs.Status == http.StatusInternalServerError || theirs.Status == http.StatusServiceUnavailable)
	if r := w.rule(ours); r != nil && fails && slices.ContainsFunc(list(r.spec(), "backendRefs"), func(ref any) bool {
		return text(ref, "name") == "missing"
	}) {
		return ""
	}
	return "rule: " + sorts
}

// expectedStatus is the status that the proxy answers with by itself; 0: none. Of gRPC the answer has none: it says what the status of HTTP would be.
func (a *answer) expectedStatus(r request) int {
	if a.Status != 0 || !r.GRPC || r.TLS && a.Listener == "" {
		return a.Status
	}
	return map[string]int{"NoMatch": http.StatusNotFound, "Misdirected": http.StatusMisdirectedRequest, "BackendError": http.StatusInternalServerError}[a.Outcome]
}

// absoluteLocation is where a client goes. A proxy may write that without the host: it stays where it is, as the answer has it if that is for
// the same host.
func (r reply) absoluteLocation(of request, ours *answer) string {
	if !strings.HasPrefix(r.Location, "/") {
		return r.Location
	}
	scheme := "http"
	if of.TLS {
		scheme = "https"
	}
	if to, err := url.Parse(ours.Location); err == nil && to.Scheme == scheme && strings.EqualFold(to.Hostname(), hostOnly(of.Host)) {
		return to.Scheme + "://" + to.Host + r.Location
	}
	return scheme + "://" + of.Host + r.Location
}

// sortOfAnswer is a rule by its kind and what it asks of a path, or another outcome.
func (w *world) sortOfAnswer(a *answer) string {
	if r := w.rule(a); r != nil && a.Outcome == "Matched" {
		return r.sort()
	}
	if a.Status != 0 {
		return fmt.Sprintf("%s %d", a.Outcome, a.Status)
	}
	return a.Outcome
}

func (w *world) sortOfReply(r reply) string {
	switch rule := w.ruleOf(r.Backend); {
	case rule != nil:
		return rule.sort()
	case r.Closed:
		return "closed"
	}
	return fmt.Sprint(r.Status)
}

// sort is the kind of the rule's route, and how its first match asks for a path.
func (r *rule) sort() string {
	kind := r.route["kind"].(string)
	matches := list(r.spec(), "matches")
	if len(matches) == 0 {
		return kind + " without matches"
	}
	if kind == "GRPCRoute" {
		if at(matches[0], "method") == nil {
			return kind + " without method"
		}
		return kind
	}
	if path := text(matches[0], "path", "type"); path != "" {
		return kind + " " + path
	}
	return kind + " without path"
}

// locationParts are the parts in which two URLs differ.
func locationParts(a, b string) []string {
	x, errX := url.Parse(a)
	y, errY := url.Parse(b)
	if errX != nil || errY != nil {
		return []string{"text"}
	}
	var out []string
	for _, part := range []struct{ name, x, y string }{{"scheme", x.Scheme, y.Scheme}, {"host", x.Hostname(), y.Hostname()}, {"port", x.Port(), y.Port()},
		{"path", x.EscapedPath(), y.EscapedPath()}, {"query", x.RawQuery, y.RawQuery}} {
		if part.x != part.y {
			out = append(out, part.name)
		}
	}
	return out
}
