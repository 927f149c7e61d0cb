package kustomize

import (
	"net/url"
	"strings"
	"unicode"
)

// hasCircularRefs reports whether OpenAPI definitions refer to each other in a circle, or one to
// the next so often that it might as well be one: the library follows them without end, and takes
// the program with it.
func hasCircularRefs(definitions any) bool {
	const longest = 1000
	byName := map[string][]any{}
	m, _ := definitions.(map[string]any)
	for name, v := range m {
		byName[normalizeRefName(name)] = append(byName[normalizeRefName(name)], v)
	}
	chain := map[string]int{} // how far references lead from a definition
	var follow func(name string, way int) int
	follow = func(name string, way int) int {
		if length, known := chain[name]; known {
			return length
		}
		length := longest + 1 // where a circle closes, as long as it is not known better
		if chain[name] = length; way > longest {
			return length
		}
		length = 1
		for _, to := range collectRefs(byName[name]) {
			length = max(length, 1+follow(normalizeRefName(to), way+1))
		}
		chain[name] = length
		return length
	}
	for name := range byName {
		if follow(name, 1) > longest {
			return true
		}
	}
	return false
}

// normalizeRefName returns what is left of a reference however it is written: the library finds a/b
// by a//b and by %61/b.
func normalizeRefName(name string) string {
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// collectRefs lists the texts at every key $ref in v.
func collectRefs(v any) []string {
	var out []string
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			out = append(out, collectRefs(item)...)
		}
	case map[string]any:
		for key, item := range v {
			if to, ok := item.(string); ok && strings.EqualFold(key, "$ref") {
				out = append(out, to)
			}
			out = append(out, collectRefs(item)...)
		}
	}
	return out
}
