package view

import (
	"strconv"
	"strings"
)

// Ways to shorten the cells of a column.

// ShortKind is a kind without the word that all of them have: RateLimit.
func ShortKind(kind string) string {
	if short := strings.TrimSuffix(kind, "Policy"); short != "" {
		return short
	}
	return kind
}

// ShortSetting is the last name of a setting: geo of rules.authorization.geo.
func ShortSetting(setting string) string {
	if strings.ContainsAny(setting, `["`) {
		return setting // a dot may be a part of a name
	}
	place, name, ordered := strings.Cut(setting, ". ") // "1. rules.…"
	if !ordered {
		place, name = "", setting
	}
	name = name[strings.LastIndexByte(name, '.')+1:]
	if ordered {
		return place + ". " + name
	}
	return name
}

// ShortName is each object in a list without its namespace, or without its kind.
func ShortName(names string) string {
	parts := strings.Split(names, " + ")
	for i, part := range parts {
		parts[i] = part[strings.LastIndexByte(part, '/')+1:]
	}
	return strings.Join(parts, " + ")
}

// shortWhy is a reason without what it says about others: "override of Gateway" of "override of
// Gateway, beats bakery/baker-all".
func shortWhy(why string) string {
	short, _, _ := strings.Cut(why, ", ")
	return short
}

// ShortLevels is a list of levels in fewer letters: "gw+route".
func ShortLevels(levels string) string { return strings.Replace(levels, "gateway+", "gw+", 1) }

// ShortVia is the Gateway of a path, without its namespace and its listeners.
func ShortVia(via string) string {
	short, _, _ := strings.Cut(via, " (")
	return ShortName(short)
}

// ShortList is the first of several names, and how many follow: "rule-1 +2".
func ShortList(names string) string {
	first, rest, more := strings.Cut(names, ", ")
	if !more {
		return names
	}
	follow := 1 + strings.Count(rest, ", ")
	if _, hidden, ok := strings.Cut(rest, " and "); ok {
		n, _ := strconv.Atoi(strings.TrimSuffix(hidden, " more"))
		follow += n
	}
	return first + " +" + strconv.Itoa(follow)
}

// ShortCount is a number of namespaces in fewer letters.
func ShortCount(namespaces string) string {
	return strings.Replace(namespaces, " namespaces", " ns", 1)
}

// WithoutKind is each object in a list without its kind: "infra/gw-auth" of
// "authpolicy/infra/gw-auth".
func WithoutKind(objects string) string {
	parts := strings.Split(objects, " + ")
	for i, part := range parts {
		if kind, name, ok := strings.Cut(part, "/"); ok && !strings.Contains(kind, " ") {
			parts[i] = name
		}
	}
	return strings.Join(parts, " + ")
}
