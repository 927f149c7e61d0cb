package audit

import "regexp"

// credentials are those of an address, and the values of its parameters, which may be some.
var (
	userOf      = regexp.MustCompile(`(://)[^/@\s]*@`)
	parameterOf = regexp.MustCompile(`([?&][^=&?\s]+=)[^&#\s]*`)
)

// shown is a value as an answer has it: it is compared whole, and told without what addresses have of users and parameters.
func shown(v any) any {
	switch v := v.(type) {
	case string:
		return parameterOf.ReplaceAllString(userOf.ReplaceAllString(v, "${1}…@"), "${1}…")
	case map[string]any:
		return shownMap(v)
	case []string:
		if v == nil {
			return v
		}
		out := make([]string, len(v))
		for i, x := range v {
			out[i], _ = shown(x).(string)
		}
		return out
	case []any:
		if v == nil {
			return v
		}
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = shown(x)
		}
		return out
	}
	return v
}

func shownMap(v map[string]any) map[string]any {
	out := make(map[string]any, len(v))
	for key, x := range v {
		out[key] = shown(x)
	}
	return out
}
