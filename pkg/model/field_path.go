package model

import (
	"strconv"
	"strings"
)

// FormatFieldPath writes the path of a field from the root of an object the way people do:
// spec.rules[0].backendRefs[1].port.
func FormatFieldPath(path []string) string {
	var s strings.Builder
	for i, key := range path {
		switch _, err := strconv.Atoi(key); {
		case err == nil:
			s.WriteString("[" + key + "]")
		case i > 0:
			s.WriteString("." + key)
		default:
			s.WriteString(key)
		}
	}
	return s.String()
}
