package audit

import "regexp"

// credentials are those of an address, and the values of its parameters, which may be some.
var (
	addressUser      = regexp.MustCompile(`(://)[^/@\s]*@`)
	addressParameter = regexp.MustCompile(`([?&][^=&?\s]+=)[^&#\s]*`)
)

// hideCredentials returns a value as an answer has it: it is compared whole, but shown without the
// users and parameters of addresses.
func hideCredentials(v any) any {
	switch v := v.(type) {
	case string:
		return addressParameter.ReplaceAllString(addressUser.ReplaceAllString(v, "${1}…@"), "${1}…")
	case map[string]any:
		return hideCredentialsInMap(v)
	case []string:
		if v == nil {
			return v
		}
		out := make([]string, len(v))
		for i, x := range v {
			out[i], _ = hideCredentials(x).(string)
		}
		return out
	case []any:
		if v == nil {
			return v
		}
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = hideCredentials(x)
		}
		return out
	}
	return v
}

func hideCredentialsInMap(v map[string]any) map[string]any {
	out := make(map[string]any, len(v))
	for key, x := range v {
		out[key] = hideCredentials(x)
	}
	return out
}
