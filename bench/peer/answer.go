package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/kuadrant/policy-machinery/machinery"
)

// writeAnswer writes one line for each path, sorted.
func writeAnswer(name string, policies []effective) error {
	lines := make([]string, 0, len(policies))
	for i := range policies {
		line, err := policies[i].line()
		if err != nil {
			return err
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return os.WriteFile(name, []byte(strings.Join(lines, "")), 0o600)
}

// line is the path, then the name, the source and the value of every rule in force, by name.
func (e *effective) line() (string, error) {
	gateway, listener, route, rule := e.via()
	fields := []string{}
	for name, r := range e.rules {
		value, err := json.Marshal(r.value)
		if err != nil {
			return "", err
		}
		fields = append(fields, fmt.Sprintf("%s=%s:%s", name, r.source, value))
	}
	slices.Sort(fields)
	return fmt.Sprintf("%s %s %s %s\t%s\n", gateway, listener, route, rule, strings.Join(fields, "\t")), nil
}

// via names the gateway, the listener, the route and the rule of the path.
func (e *effective) via() (gateway, listener, route, rule string) {
	for _, step := range e.path {
		switch n := step.(type) {
		case *machinery.Gateway:
			gateway = n.Namespace + "/" + n.Name
		case *machinery.Listener:
			listener = string(n.Listener.Name)
		case *machinery.HTTPRoute:
			route = n.Namespace + "/" + n.Name
		case *machinery.HTTPRouteRule:
			rule = string(n.Name)
		}
	}
	return gateway, listener, route, rule
}
