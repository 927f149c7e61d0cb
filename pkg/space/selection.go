package space

import (
	"fmt"
	"slices"
	"strings"
)

// Selection names requests as people name them.
type Selection struct {
	Hosts, Paths, Methods []string
	Headers               []string // name=value, or !name
}

// SelectionError says what is wrong with how requests are named.
type SelectionError struct{ What, Hint string }

// Error returns what is wrong and how to correct it.
func (e *SelectionError) Error() string { return e.What + ": " + e.Hint }

// ToScope reads the selection.
func (a *Selection) ToScope() (Scope, *SelectionError) {
	s := Scope{Destination: AnyDestination(), Hosts: a.Hosts, Paths: a.Paths}
	for _, host := range a.Hosts {
		if err := CheckHost(host); err != nil {
			return s, err
		}
	}
	for _, path := range a.Paths {
		if err := CheckPath(path); err != nil {
			return s, err
		}
	}
	for _, m := range a.Methods {
		s.Methods = append(s.Methods, strings.ToUpper(m))
	}
	for _, text := range a.Headers {
		name, value, given := strings.Cut(text, "=")
		bare, absent := strings.CutPrefix(name, "!")
		h := Header{Name: strings.ToLower(bare), Value: value, Absent: absent}
		switch {
		case bare == "", given == absent, strings.TrimSpace(value) != value:
			return s, &SelectionError{fmt.Sprintf("%q is not a header and its value", text),
				"write name=value, or '!name' for requests without it"}
		case h.Name == "host":
			return s, &SelectionError{"hosts are no headers here", "name the hosts as hosts"}
		case slices.ContainsFunc(s.Headers, func(o Header) bool { return o.Name == h.Name }):
			return s, &SelectionError{fmt.Sprintf("header %s is given twice", h.Name), "give each header once"}
		}
		s.Headers = append(s.Headers, h)
	}
	return s, nil
}

// CheckHost says what is wrong with a host, or hosts, as people name them.
func CheckHost(host string) *SelectionError {
	if host == "" || strings.ContainsAny(host, ":/ ") || strings.Contains(strings.TrimPrefix(host, "*"), "*") ||
		strings.HasPrefix(host, "*") && host != "*" && !strings.HasPrefix(host, "*.") {
		return &SelectionError{fmt.Sprintf("%q is not a host", host),
			"write hosts as shop.example.com or '*.example.com'"}
	}
	return nil
}

// CheckPath says what is wrong with a path, or paths, as people name them.
func CheckPath(path string) *SelectionError {
	if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "?# ") {
		return &SelectionError{fmt.Sprintf("%q is not a path", path), "write paths as /admin or '/admin/**'"}
	}
	return nil
}

// Describe says which requests are selected; "" if all are.
func (a *Selection) Describe() string {
	out := ""
	add := func(what string, list []string) {
		if len(list) > 0 {
			out += " " + what + " " + strings.Join(list, ", ")
		}
	}
	methods := make([]string, len(a.Methods))
	for i, m := range a.Methods {
		methods[i] = strings.ToUpper(m)
	}
	add("to", a.Hosts)
	add("on paths", a.Paths)
	add("with method", methods)
	add("with headers", a.Headers)
	return out
}
