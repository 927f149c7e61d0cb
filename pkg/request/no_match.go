package request

import (
	"fmt"
)

// answerNoMatch answers where no rule matches.
func (t *trace) answerNoMatch() {
	a := t.answer
	a.Status = t.notFoundStatus()
	chosen := t.answeringTables[0][0]
	switch {
	case t.request.Protocol == TLS && chosen.facts.Protocol == "HTTPS":
		t.addReason("the server name leads to " + t.matcher.listenerName(chosen) + ", which takes HTTP only")
	case t.committedTo != "":
		t.addReason(t.settings.Name + " chooses the path first: " + t.committedTo +
			" is the best one, and no other condition of its matches holds")
	case len(t.answeringTables) > 1:
		t.addReason("no rule matches on any of the " + fmt.Sprint(len(t.answeringTables)) + " listeners that fit")
	case t.shadowing:
		host := "routes for hostname " + t.virtualHost + " decide"
		if t.virtualHost == "" {
			host = "routes for every host decide"
		}
		t.addReason("no rule on " + t.matcher.listenerName(chosen) + " matches: " + host + " alone (" +
			t.settings.implementationName() + ")" + t.isolationNote())
	case len(t.matcher.findIndex(chosen.id)) == 0:
		t.addReason("no route is attached to " + t.matcher.listenerName(chosen) + t.isolationNote())
	case !t.matcher.hasRouteForHost(chosen.id, t.request):
		t.addReason("no route on " + t.matcher.listenerName(chosen) + " is for " + t.request.Host + t.isolationNote())
	default:
		t.addReason("no rule on " + t.matcher.listenerName(chosen) + " matches" + t.isolationNote())
	}
	t.checkUnsureCandidates(nil)
	t.checkOpenHost()
	t.checkListenerFilters()
}

// checkOpenHost makes the rule uncertain if another virtual host may decide instead.
func (t *trace) checkOpenHost() {
	if t.openHost != "" {
		t.answer.makeRuleUncertain(t.openHost)
	}
}

// isolationNote says that a less specific listener is not used.
func (t *trace) isolationNote() string {
	if len(t.fittingListeners) < 2 || len(t.answeringTables) > 0 && len(t.answeringTables[0]) > 1 {
		return ""
	}
	return "; " + t.matcher.listenerName(t.fittingListeners[1]) +
		" is not used, because only the most specific listener answers"
}
