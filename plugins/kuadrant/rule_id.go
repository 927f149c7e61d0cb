package kuadrant

import "strings"

// predicatesID is how the operator calls the list of predicates at the top of a limit policy.
const predicatesID = "###_TOP_LEVEL_PREDICATES_###"

// operatorRuleID is the operator's own name of a rule, as its messages have it.
func operatorRuleID(kind, rule string) string {
	if kind == "AuthPolicy" {
		return authRuleID(rule)
	}
	if rule == "when" {
		return predicatesID
	}
	return strings.TrimPrefix(rule, "limits.")
}

func authRuleID(rule string) string {
	if rule == "when" {
		return "conditions#"
	}
	rule = strings.TrimPrefix(rule, "rules.")
	if rest, ok := strings.CutPrefix(rule, "response.success.filters."); ok { // the operator's name says metadata
		return "response.success.metadata#" + rest
	}
	for _, section := range []string{"authentication", "metadata", "authorization", "callbacks", "patterns",
		"response.success.headers"} {
		if name, ok := strings.CutPrefix(rule, section+"."); ok {
			return section + "#" + name
		}
	}
	return rule + "#"
}
