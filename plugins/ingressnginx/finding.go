package ingressnginx

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// findProblems lists what is wrong with the Ingresses, or not to be seen in them.
func (p *proxy) findProblems(dropped []*entry) []model.Problem {
	out := append(slices.Clone(p.control.problems), p.control.findUnread()...)
	out = append(out, p.findRefusal()...)
	for _, e := range dropped {
		out = append(out, e.findDrop())
	}
	for _, e := range p.entries {
		out = append(out, e.findProblems()...)
	}
	for _, s := range p.ordered {
		out = append(out, s.findProblems()...)
	}
	return model.SortProblems(append(out, p.findLeaks()...))
}

// findUnread says what the cluster did not let be read that the proxy depends on.
func (c *controller) findUnread() []model.Problem {
	var out []model.Problem
	add := func(kind model.GroupKind, namespace, what string) {
		if c.in.Cluster.IsUnread(kind, namespace) {
			out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
				Ref:     &model.Ref{Group: kind.Group, Kind: kind.Kind, Namespace: namespace, Name: "*"},
				Message: fmt.Sprintf("objects of kind %s may not be listed: %s", kind.Kind, what),
				Hint:    "ask for the permission to list them"})
		}
	}
	if c.workload == nil {
		for _, kind := range []string{"Deployment", "DaemonSet"} {
			add(model.GroupKind{Group: "apps", Kind: kind}, c.config.ref.Namespace, "the flags of the controller are not known")
		}
	}
	if c.in.Cluster.HasUnread(endpointSliceKind) {
		out = append(out, model.Problem{Severity: model.Info, Code: model.NotEvaluated,
			Ref:     &model.Ref{Group: endpointSliceKind.Group, Kind: endpointSliceKind.Kind, Name: "*"},
			Message: "objects of kind EndpointSlice may not be listed: Services are taken to be ready",
			Hint:    "ask for the permission to list them"})
	}
	add(ingressClassKind, "", "a class is taken to be of the controller if it has the usual name")
	return out
}

// newProblem makes a problem of an annotation of the Ingress.
func (e *entry) newProblem(severity model.Severity, code model.Code, annotation, message, hint string) model.Problem {
	return model.Problem{Severity: severity, Code: code, Message: message, Hint: hint}.At(e.object, "metadata",
		"annotations", e.reader.fullName(annotation))
}

// findRefusal says that nginx refuses the configuration (N7), or that the ConfigMap makes it unknown.
func (p *proxy) findRefusal() []model.Problem {
	about := p.control.config.object
	if key := p.control.config.findSnippet(); key != "" {
		return []model.Problem{model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Message: key + " may do anything: what becomes of requests is not known"}.At(about, "data", key)}
	}
	if p.refused == "" {
		return nil
	}
	problem := model.Problem{Severity: model.Error, Code: configurationRefused.ID,
		Message: "nginx refuses the configuration: " + p.refused,
		Hint:    "repair it: until then the proxy goes on with what it had, and no change of any Ingress is in force"}
	if p.refusedBy != nil {
		problem = problem.At(p.refusedBy.object)
	}
	return []model.Problem{problem}
}

// findDrop says why the controller ignores an Ingress as a whole (N3).
func (e *entry) findDrop() model.Problem {
	for _, name := range e.reader.annotationNames() {
		if r, _ := findAnnotationRule(name); r.risk == criticalRisk && r.risk > e.reader.control.maxRisk {
			return e.newProblem(model.Warning, snippetIgnored.ID, name,
				fmt.Sprintf("the Ingress is ignored as a whole because of %s, which annotations-risk-level does not allow", name),
				"its paths get no requests until that is removed: let something else do what the snippet was written for first")
		}
	}
	return model.Problem{Severity: model.Warning, Code: model.AnnotationIgnored,
		Message: "the Ingress is ignored as a whole: " + e.reader.dropped,
		Hint:    "its paths are served by what the other Ingresses of the host say, or not at all"}.At(e.object)
}

// findProblems lists what is wrong with the annotations of an Ingress.
func (e *entry) findProblems() []model.Problem {
	v := e.reader
	var out []model.Problem
	if v.openedBy != "" {
		// what becomes of requests is known: no answer is incomplete
		out = append(out, e.newProblem(model.Warning, authenticationDropped.ID, v.openedBy,
			fmt.Sprintf("everybody gets in: auth-url is not asked, as the value of %s is not valid", v.openedBy),
			"correct the value, or remove the annotation"))
	}
	if v.denied != "" {
		message := v.denied + ": its paths answer 503"
		if e.settings.clientAuth.err != "" {
			message = e.settings.clientAuth.err + ": its hosts answer 403, whichever Ingress has the path"
		}
		out = append(out, model.Problem{Severity: model.Warning, Code: model.AnnotationIgnored, Message: message,
			Hint: "correct the annotation, or what it names"}.At(e.object))
	}
	if !v.control.config.readBoolean(snippetsAllowed, false) {
		for _, name := range v.annotationNames() {
			if strings.HasSuffix(name, "-snippet") && findRisk(name) == criticalRisk {
				out = append(out, e.newProblem(model.Warning, snippetIgnored.ID, name,
					fmt.Sprintf("%s is ignored: %s is not true", name, snippetsAllowed),
					"remove it, so that nobody relies on it"))
			}
		}
	}
	slices.Sort(v.valuesBad)
	for _, name := range slices.Compact(v.valuesBad) {
		if name != v.openedBy {
			out = append(out, e.newProblem(model.Warning, model.AnnotationIgnored, name,
				fmt.Sprintf("the value of %s is not valid, and does not count", name), "correct it, or remove it"))
		}
	}
	for _, note := range v.notes {
		out = append(out, model.Problem{Severity: model.Info, Code: model.NotEvaluated, Message: note,
			Hint: "it is taken to be missing; add it to the input"}.At(e.object))
	}
	return append(out, e.findUnknown()...)
}

// findUnknown says what makes the paths of an Ingress unknown. Who asks about them is told so.
func (e *entry) findUnknown() []model.Problem {
	var out []model.Problem
	l := &location{owner: e, settings: &e.settings}
	for _, why := range []string{l.unknownReason(), e.serverUnknown()} {
		if why != "" {
			out = append(out, model.Problem{Severity: model.Info, Code: model.NotEvaluated,
				Message: why + ": what becomes of its requests is not known"}.At(e.object))
		}
	}
	return out
}

func (e *entry) serverUnknown() string {
	if !e.settings.serverSnippet {
		return ""
	}
	return e.reader.formatName("server-snippet") + " may do anything on its hosts"
}

// findProblems lists what is not to be seen in the Ingresses of a host.
func (s *server) findProblems() []model.Problem {
	var out []model.Problem
	for _, n := range s.sensitive {
		if !n.isInForce() || n.root && !n.first.givesRest() && !n.second.givesRest() {
			continue
		}
		out = append(out, model.Problem{Severity: model.Info, Code: model.OrderUncertain, Message: n.formatMessage(),
			Hint: "in the cluster the older one counts"}.At(n.first.object))
	}
	return append(append(out, s.findUnclaimedRoot().findInheritance(s.host)...), s.findPlainPaths()...)
}

// findUnclaimedRoot returns the location that gets the requests to paths of the host that nobody has; nil:
// somebody has the path /.
func (s *server) findUnclaimedRoot() *location {
	for _, l := range s.locations {
		if l.path == "/" && !l.claimed && l.owner != nil && len(l.owner.rules) > 0 {
			return l
		}
	}
	return nil
}

// givesRest reports whether the Ingress says anything for the paths that nobody has, were it the first of its
// host.
func (e *entry) givesRest() bool { return e.fallback != nil || len(e.listInherited()) > 0 }

// listInherited lists the annotations of an Ingress that hold for the paths that nobody has. A redirect comes
// first.
func (e *entry) listInherited() []string {
	var out []string
	add := func(is bool, name string) {
		if is {
			out = append(out, name)
		}
	}
	add(e.settings.redirect.url != "", e.settings.redirect.by)
	add(e.settings.external != nil, "auth-url")
	add(e.settings.basic, "auth-type")
	for _, name := range []string{"allowlist-source-range", "denylist-source-range"} {
		_, by, state := e.reader.findValue(name)
		add(state == present, by)
	}
	return out
}

// findInheritance finds what holds for paths that nobody has (N10). That requests are refused which nobody
// would answer is a note.
func (l *location) findInheritance(host string) []model.Problem {
	if l == nil {
		return nil
	}
	what := l.owner.listInherited()
	if len(what) == 0 {
		return nil
	}
	severity := model.Warning
	if l.settings.redirect.url == "" && l.upstream.builtin {
		severity = model.Info
	}
	return []model.Problem{l.owner.newProblem(severity, unclaimedPathInherits.ID, what[0],
		fmt.Sprintf("%s also %s for all paths of the host %s that no Ingress has",
			strings.Join(what, " and "), chooseVerb(len(what)), host),
		"give the path / an Ingress of its own, if that is not meant")}
}

func chooseVerb(n int) string {
	if n == 1 {
		return "holds"
	}
	return "hold"
}

// findPlainPaths finds the paths that another annotation of the host makes expressions (N16).
func (s *server) findPlainPaths() []model.Problem {
	if !s.regex {
		return nil
	}
	var order []*entry
	first, more := map[*entry]*location{}, map[*entry]int{}
	for _, l := range s.locations {
		switch {
		case !l.claimed || l.split || l.isRegex() || l.owner == s.regexBy.owner || l.path == "/":
		case first[l.owner] == nil:
			first[l.owner] = l
			order = append(order, l.owner)
		default:
			more[l.owner]++
		}
	}
	by := "use-regex"
	if !s.regexBy.settings.rewrite.useRegex {
		by = "rewrite-target"
	}
	var out []model.Problem
	for _, e := range order {
		l := first[e]
		text := fmt.Sprintf("the path %s of the host %s", l.ingressPath(), s.host)
		if n := more[e]; n > 0 {
			text += fmt.Sprintf(", and of %d more of this Ingress", n)
		}
		problem := model.Problem{Severity: model.Warning, Code: hostIsRegex.ID,
			Message: fmt.Sprintf("%s makes an expression of %s: it takes all that begins so, in any case",
				s.regexBy.owner.reader.formatName(by), text),
			Hint: "give the Ingress with the annotation a host of its own"}.At(e.object)
		problem.Origin = &l.origin
		out = append(out, problem)
	}
	return out
}

// findLeaks finds the canaries that get requests to other paths than theirs (N25).
func (p *proxy) findLeaks() []model.Problem {
	others := map[*upstream][]string{}
	for _, s := range p.ordered {
		for _, l := range s.locations {
			u := l.upstream
			if !l.split && len(u.alternatives) > 0 && u.alternatives[0].isServed() && !u.splitAt[s][l.ingressPath()] &&
				l.settings.redirect.url == "" {
				others[u] = append(others[u], publicHost(s.host)+l.ingressPath())
			}
		}
	}
	var out []model.Problem
	seen := map[*upstream]bool{}
	for _, s := range p.ordered {
		for _, l := range s.locations {
			u := l.upstream
			if seen[u] || len(others[u]) == 0 {
				continue
			}
			seen[u] = true
			e := u.alternatives[0].from
			out = append(out, e.newProblem(model.Warning, canaryLeaks.ID, "canary", fmt.Sprintf(
				"the canary also gets requests to %s, which %s the same Service and port, %s:%d", formatPlaces(others[u]),
				chooseUse(len(others[u])), u.endpoints.ref.FullName(), u.endpoints.port),
				"give the path that is split a Service of its own"))
		}
	}
	return out
}

func chooseUse(n int) string {
	if n == 1 {
		return "uses"
	}
	return "use"
}

// formatPlaces lists some places, and counts the others.
func formatPlaces(places []string) string {
	const most = 3
	if len(places) <= most {
		return view.JoinWithAnd(places)
	}
	return fmt.Sprintf("%s and %d other paths", strings.Join(places[:most], ", "), len(places)-most)
}
