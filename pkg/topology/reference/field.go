package reference

import "strings"

// KindOfField returns the kind in lower case that a field is called after: gateway of gatewayRefs.
func KindOfField(field string) string {
	stem := strings.ToLower(field)
	for _, end := range []string{"s", "ref", "reference"} {
		stem = strings.TrimSuffix(stem, end)
	}
	switch stem {
	case "parent":
		return "gateway"
	case "backend":
		return "service"
	case "gatewayclas": // the "s" is part of the name
		return "gatewayclass"
	}
	return stem
}
