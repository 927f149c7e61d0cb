package view

import "strings"

// Ways to shorten the cells of a column.

// ShortKind is a kind without the word that all of them have: RateLimit.
func ShortKind(kind string) string {
	if short := strings.TrimSuffix(kind, "Policy"); short != "" {
		return short
	}
	return kind
}

// ShortSetting is the path of a setting without its middle: rules…geo of rules.authorization.geo.
func ShortSetting(setting string) string {
	place, parts, tail := splitSetting(setting)
	if len(parts) < 2 {
		return setting
	}
	return place + parts[0] + "…" + strings.TrimPrefix(tail, ".")
}

// LastOfSetting is the last name in the path of a setting, whole or without its middle: geo.
func LastOfSetting(setting string) string {
	if _, last, cut := strings.Cut(setting, "…"); cut {
		place, _, _ := splitSetting(setting)
		return place + last
	}
	place, _, tail := splitSetting(setting)
	return place + strings.TrimPrefix(tail, ".")
}

// splitSetting splits the path of a setting into the place that it has among others ("1. "), the
// names before the last one, and the last one, with the list that it is an entry of.
func splitSetting(setting string) (place string, parts []string, tail string) {
	if before, _, ordered := strings.Cut(setting, ". "); ordered {
		place = before + ". "
	}
	parts = splitNames(strings.TrimPrefix(setting, place))
	last := len(parts) - 1
	for last > 0 && strings.HasPrefix(parts[last], "[") {
		last--
	}
	return place, parts[:last], strings.Join(parts[last:], "")
}

// splitNames splits a path before its dots and brackets, but not within brackets.
func splitNames(path string) []string {
	var out []string
	start, depth := 0, 0
	for i, r := range path {
		if depth == 0 && i > start && (r == '.' || r == '[') {
			out = append(out, path[start:i])
			start = i
		}
		switch r {
		case '[':
			depth++
		case ']':
			depth = max(0, depth-1)
		}
	}
	return append(out, path[start:])
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

// shorterWhy is a reason in the fewest words: "Gateway default" of "default of Gateway", and "set on
// route" of "set here (route)".
func shorterWhy(why string) string {
	short := shortWhy(why)
	if level, found := strings.CutPrefix(short, "set here ("); found {
		return "set on " + strings.TrimSuffix(level, ")")
	}
	for _, word := range []string{"default", "override"} {
		if level, found := strings.CutPrefix(short, word+" of "); found && !strings.Contains(level, " ") {
			return level + " " + word
		}
	}
	if strings.HasPrefix(short, "API default of ") {
		return "API default"
	}
	return why
}

// ShortVia is the Gateway of a path, without its namespace and its listeners.
func ShortVia(via string) string {
	short, _, _ := strings.Cut(via, " (")
	return ShortName(short)
}

// ShortCount is a number of namespaces in fewer letters.
func ShortCount(namespaces string) string {
	return strings.Replace(namespaces, " namespaces", " ns", 1)
}

// WithoutKind is each object of a list without its kind: infra/gw-auth of authpolicy/infra/gw-auth.
// An object without a namespace keeps its kind.
func WithoutKind(objects string) string {
	parts := strings.Split(objects, " + ")
	for i, part := range parts {
		kind, name, ok := strings.Cut(part, "/")
		if ok && !strings.Contains(kind, " ") && strings.Contains(name, "/") {
			parts[i] = name
		}
	}
	return strings.Join(parts, " + ")
}
