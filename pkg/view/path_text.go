package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Key tells paths apart; paths hold slices and cannot be compared.
func (p Path) Key() string {
	return strings.Join([]string{p.GatewayClass, p.Gateway, p.ListenerSet, p.Listener, strings.Join(p.DelegatedFrom, "\x01"), p.Direction, p.Mesh,
		p.Dataplane, p.Destination, p.Hostname, strings.Join(p.DelegatedRules, "\x01"), p.Binding, p.Route}, "\x00")
}

// viaText says how traffic reaches a target, listeners grouped: "Gateway infra/external (http, https)". It is "" where the paths say
// nothing that the target's own name does not.
func viaText(paths []Path, target model.Ref, o TableOptions) string {
	var roads []string
	entries := map[string][]string{}
	for _, p := range paths {
		road := p.formatWithoutListener(target)
		if road == "" {
			continue
		}
		if _, known := entries[road]; !known {
			roads = append(roads, road)
		}
		if entry := strings.TrimSpace(p.Listener + " " + p.Hostname); entry != "" && !slices.Contains(entries[road], entry) {
			entries[road] = append(entries[road], entry)
		} else if entries[road] == nil {
			entries[road] = []string{}
		}
	}
	for i, road := range roads {
		if names := entries[road]; len(names) > 0 {
			roads[i] = road + " (" + joinNames(names, o) + ")"
		}
	}
	return joinNames(roads, o)
}

// joinNames joins names; too many for a line are counted.
func joinNames(names []string, o TableOptions) string {
	if o.Wide || len(names) <= mostNames {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNames-1], ", "), len(names)-mostNames+1)
}

// formatWithoutListener says the path without its listener: what several listeners of one Gateway
// share.
func (p Path) formatWithoutListener(target model.Ref) string {
	if service := p.serviceText(); service != "" {
		return service
	}
	var parts []string
	add := func(format, value string) {
		if value != "" {
			parts = append(parts, fmt.Sprintf(format, value))
		}
	}
	add("%s", p.Direction)
	switch {
	case target.Kind == "Gateway" && target.FullName() == p.Gateway:
		add("GatewayClass %s", p.GatewayClass)
	case p.ListenerSet != "" && (target.FullName() != p.ListenerSet || !strings.HasSuffix(target.Kind, "ListenerSet")):
		add("Gateway %s", p.Gateway)
		add("ListenerSet %s", p.ListenerSet)
	case p.Gateway == "":
		add("GatewayClass %s", p.GatewayClass)
	default:
		add("Gateway %s", p.Gateway)
	}
	for i, route := range p.DelegatedFrom {
		if i < len(p.DelegatedRules) {
			route += " " + p.DelegatedRules[i]
		}
		add("delegated by %s", route)
	}
	add("mesh %s", p.Mesh)
	add("dataplane %s", p.Dataplane)
	add("to %s", p.Destination)
	add("binding %s", p.Binding)
	add("%s", p.Route)
	return strings.Join(parts, " → ")
}

// withoutTarget returns the path without what the target itself says: the listener, where that is
// the target.
func (p Path) withoutTarget(target model.Ref) Path {
	if sectionNoun(target.Kind) == "listener" && p.Listener == target.Section {
		p.Listener = ""
	}
	return p
}
