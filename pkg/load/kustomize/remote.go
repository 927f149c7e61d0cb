package kustomize

import (
	"net/url"
	"strings"

	"sigs.k8s.io/kustomize/api/resource"
)

// isRemote reports whether the kustomize library would fetch what s names, or s looks as if it
// should: it has a scheme (https://, ssh://, git::), or the library reads it as an address or as a
// repository (github.com/…, user@host:path).
func isRemote(s string) bool {
	scheme, rest, found := strings.Cut(s, ":")
	if found && isScheme(scheme) && (strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, ":")) {
		return true
	}
	if u, err := url.Parse(s); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
		return true
	}
	// The library keeps its reading of repositories to itself, but notes their addresses in
	// origins.
	return new(resource.Origin).Append(s).Repo != ""
}

// isScheme reports whether s can stand in front of :// in an address.
func isScheme(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("+-.", r)
	})
}
