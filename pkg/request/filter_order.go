package request

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// isPreflight reports whether a browser would send the request to ask whether another one is allowed.
func (r *Request) isPreflight() bool {
	_, origin := r.findHeader("Origin")
	_, asks := r.findHeader("Access-Control-Request-Method")
	return r.Protocol == HTTP && r.Method == "OPTIONS" && origin && asks
}

// noteFilterOrder says what comes before authentication for the request.
func (t *trace) noteFilterOrder() {
	filters := t.answer.Filters
	if t.request.isPreflight() && slices.Contains(filters, "CORS") {
		t.addReason("it is a CORS preflight: " + explainPreflight(t.settings, "it", "reaches"))
	}
	if why := explainFiltersInOrder(t.settings, filters); why != "" {
		t.addReason(why)
	}
}

// explainPreflight says whether the data plane authenticates what is a preflight, named by a subject
// with the verb for it.
func explainPreflight(s *matchSettings, what, reaches string) string {
	switch s.Preflight {
	case routing.PreflightBeforeAuth:
		return s.Name + " answers " + what + " before authentication"
	case routing.PreflightAfterAuth:
		return s.Name + " authenticates " + what + " first"
	}
	return "whether " + what + " " + reaches + " authentication is not known of " +
		chooseText(s.described, s.Name, "the implementation")
}

// explainFiltersInOrder says that what an extension keeps out comes after a redirect or a rewrite;
// "" if it does not.
func explainFiltersInOrder(s *matchSettings, filters []string) string {
	if s.Filters != routing.FiltersInOrder {
		return ""
	}
	changes := slices.IndexFunc(filters, func(f string) bool { return f == "RequestRedirect" || f == "URLRewrite" })
	if changes < 0 || !slices.Contains(filters[changes:], "ExtensionRef") {
		return ""
	}
	return s.Name + " runs filters in order: " + filters[changes] + " comes before ExtensionRef"
}

// AuthenticationNotes says of a request that is authenticated what its rule answers before that, a
// sentence each.
func (m *Matcher) AuthenticationNotes(a *Answer) []string {
	if a.Rule == topology.None || a.Gateway == topology.None {
		return nil
	}
	s, rule := m.settingsAt(a.Gateway), m.graph.Node(a.Rule).Ref.String()
	var out []string
	if slices.Contains(a.Filters, "CORS") && s.Preflight != routing.PreflightAfterAuth {
		out = append(out, rule+": "+explainPreflight(s, "CORS preflights", "reach"))
	}
	if why := explainFiltersInOrder(s, a.Filters); why != "" {
		out = append(out, rule+": "+why)
	}
	return out
}
