package dataplane

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Rejected and Warming are the codes of updates that are not in use.
const (
	Rejected model.Code = "DataplaneRejected"
	Warming  model.Code = "DataplaneWarming"
)

func (r *dumpReader) readRoutes(section any) {
	for _, key := range []string{"static_route_configs", "dynamic_route_configs"} {
		for _, c := range List(section, key) {
			config := Map(c, "route_config")
			name := Text(config, "name")
			r.addRejected("route configuration", name, config != nil, Get(c, "error_state"))
			if config == nil || name == "" {
				continue
			}
			if version := Text(c, "version_info"); version != "" {
				r.Versions.Routes = version
			}
			if r.configsByName[name] == nil {
				r.configNames = append(r.configNames, name)
				r.configsByName[name] = newRouteConfig(config)
			}
		}
	}
}

func newRouteConfig(config map[string]any) *RouteConfig {
	rc := &RouteConfig{Name: Text(config, "name"), Config: config}
	for _, h := range List(config, "virtual_hosts") {
		host := &VirtualHost{Name: Text(h, "name"), Domains: Texts(h, "domains"), RouteConfig: rc}
		host.Config, _ = h.(map[string]any)
		for _, x := range List(h, "routes") {
			route := &Route{Name: Text(x, "name"), Host: host}
			route.Config, _ = x.(map[string]any)
			host.Routes = append(host.Routes, route)
		}
		rc.Hosts = append(rc.Hosts, host)
	}
	return rc
}

func (r *dumpReader) readClusters(section any) {
	for _, key := range []string{"static_clusters", "dynamic_active_clusters"} {
		for _, c := range List(section, key) {
			config := Map(c, "cluster")
			if name := Text(config, "name"); name != "" {
				r.Clusters[name] = config
			}
			r.addRejected("cluster", Text(config, "name"), config != nil, Get(c, "error_state"))
		}
	}
	for _, c := range List(section, "dynamic_warming_clusters") {
		name := Text(c, "cluster", "name")
		if r.Clusters[name] == nil {
			r.addWarming("cluster", name)
		}
		r.addRejected("cluster", name, r.Clusters[name] != nil, Get(c, "error_state"))
	}
}

// linkManagers leads from the managers to their routes. What none of them names does nothing.
func (r *dumpReader) linkManagers() {
	told := map[string]bool{}
	for _, l := range r.Listeners {
		for _, m := range l.Managers {
			if m.Routes == nil {
				m.Routes = r.configsByName[m.routesName]
			}
			if m.Routes == nil && m.routesName != "" && r.HasRoutes && !told[m.routesName] {
				told[m.routesName] = true
				r.addWithoutRoutes(l.Name, m.routesName)
			}
			if m.Routes != nil && m.routesName != "" {
				m.Routes.Managers = append(m.Routes.Managers, m)
			}
		}
	}
	for _, name := range r.configNames {
		if len(r.configsByName[name].Managers) > 0 {
			r.Configs = append(r.Configs, r.configsByName[name])
		}
	}
}

// addWithoutRoutes notes that a listener has no routes. That the proxy refused them is in no dump.
func (r *dumpReader) addWithoutRoutes(listener, routes string) {
	r.Problems = append(r.Problems, model.Problem{Severity: model.Warning, Code: Warming,
		Message: fmt.Sprintf("%s has no route configuration %s, which listener %s names: "+
			"it did not come, or was refused", r.Name, routes, listener),
		Hint: "the log of the proxy says so if it refused it; a host that stands in two virtual hosts is a reason"})
}

// addRejected notes that the proxy did not take an update, and goes on with what it had, if
// anything.
func (r *dumpReader) addRejected(what, name string, had bool, state any) {
	if state == nil {
		return
	}
	if name == "" {
		name = Text(state, "failed_configuration", "name")
	}
	message := fmt.Sprintf("%s refused an update of %s %s and goes on with the one before", r.Name, what, name)
	if !had {
		message = fmt.Sprintf("%s refused %s %s and has none of that name", r.Name, what, name)
	}
	if version := Text(state, "version_info"); version != "" {
		message += " (version " + version + ")"
	}
	if details := cleanReason(Text(state, "details")); details != "" {
		message += ": " + details
	}
	r.Problems = append(r.Problems, model.Problem{Severity: model.Warning, Code: Rejected, Message: message,
		Hint: "the control plane's log has the update; until it is taken, changes there have no effect"})
}

func (r *dumpReader) addWarming(what, name string) {
	r.Problems = append(r.Problems, model.Problem{Severity: model.Warning, Code: Warming,
		Message: fmt.Sprintf("%s has %s %s and does not use it yet: what it waits for did not come",
			r.Name, what, name),
		Hint: "look for what it waits for: routes, certificates or clusters"})
}

// maxReasonWord is how many bytes a word of the proxy's reasons may have.
const maxReasonWord = 80

// cleanReason returns why an update was refused. The proxy may quote of the update, which can hold
// secrets: what stands in quotes or braces is left out, and so are very long words.
func cleanReason(details string) string {
	var out strings.Builder
	depth, quote, before := 0, rune(0), ' '
	for _, c := range details {
		word := unicode.IsLetter(before) || unicode.IsDigit(before) // an apostrophe is in a word
		before = c
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
			continue
		case c == '"' || c == '`' || c == '\'' && !word:
			quote = c
			out.WriteString("…")
			continue
		case c == '{' || c == '[':
			if depth == 0 {
				out.WriteString("…")
			}
			depth++
			continue
		case c == '}' || c == ']':
			depth = max(0, depth-1)
			continue
		case depth > 0:
			continue
		}
		out.WriteRune(c)
	}
	words := slices.Compact(strings.Fields(strings.ReplaceAll(out.String(), "…", " … ")))
	for i, w := range words {
		if len(w) > maxReasonWord {
			words[i] = "…"
		}
	}
	if len(words) > 60 {
		words = append(words[:60], "…")
	}
	return strings.Join(words, " ")
}
