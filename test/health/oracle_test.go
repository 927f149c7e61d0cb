package health

import (
	"fmt"
	"slices"
	"strings"
)

const (
	healthy     = "Healthy"
	degraded    = "Degraded"
	progressing = "Progressing"
)

// The meanings of all conditions, whoever writes them. They are written down here again, and not read
// from the descriptors, so that a mistake there is seen.
var (
	// good is what a policy in force has with True. NotAccepted is a type that is only written with
	// False, for what is not accepted.
	good = []string{"Accepted", "Attached", "Enforced", "NotAccepted", "Programmed", "ResolvedRefs", "WaypointAccepted",
		"ZtunnelAccepted"}
	// notes say something of a policy that is in force.
	notes = []string{"Aggregated", "Merged", "Overridden", "StatusSummarized", "Warning"}
	// faults are reasons of good conditions with True by which a part of the policy is nowhere in force.
	faults = []string{"PartiallyInvalid", "PartiallyValid", "UnsupportedValue"}
)

type reported struct {
	controller string
	conditions []map[string]any
}

// judgeObject says from the conditions of a policy what its health must be, with the condition that
// decides where it is degraded. mayBeSilent: the policy may have no status for good.
func judgeObject(object map[string]any, mayBeSilent bool) (health, because string, err error) {
	status, _ := object["status"].(map[string]any)
	generation := object["metadata"].(map[string]any)["generation"]
	isLate := func(seen any) bool {
		return seen != nil && generation != nil && fmt.Sprint(seen) != fmt.Sprint(generation)
	}
	if isLate(status["observedGeneration"]) {
		return progressing, "", nil
	}
	if words, ok := status["statuses"].(map[string]any); ok {
		return judgeWords(words)
	}
	entries := dropForeign(listReported(status))
	ancestors, isListed := status["ancestors"].([]any)
	if len(entries) == 0 {
		switch {
		case isListed && len(ancestors) == 0:
			return degraded, "", nil
		case mayBeSilent:
			return healthy, "", nil
		}
		return progressing, "", nil
	}
	late, failed, waiting, known := false, "", false, false
	for _, e := range entries {
		accepted := false
		for _, c := range e.conditions {
			kind, value, reason := c["type"].(string), c["status"], fmt.Sprint(c["reason"])
			accepted = accepted || slices.Contains([]string{"Accepted", "Attached", "WaypointAccepted", "ZtunnelAccepted"}, kind)
			switch {
			case slices.Contains(notes, kind), strings.HasSuffix(kind, "Affected"):
				continue
			case !slices.Contains(good, kind):
				return "", "", fmt.Errorf("nothing says what the condition %s means", kind)
			}
			known = true
			late = late || c["observedGeneration"] != int64(0) && isLate(c["observedGeneration"]) // 0: not said
			if value == "False" || value == "True" && slices.Contains(faults, reason) {
				failed = kind
			}
			waiting = waiting || value != "True"
		}
		waiting = waiting || !accepted
	}
	switch {
	case mayBeSilent && !known:
		return healthy, "", nil
	case late:
		return progressing, "", nil
	case failed != "":
		return degraded, failed, nil
	case waiting:
		return progressing, "", nil
	}
	return healthy, "", nil
}

// judgeWords judges words in the place of conditions, of which the worst counts but for one that is
// yet to come.
func judgeWords(words map[string]any) (health, because string, err error) {
	health = progressing
	for _, entry := range words {
		switch word := fmt.Sprint(entry.(map[string]any)["state"]); word {
		case "Pending", "0":
			return progressing, "", nil
		case "Rejected", "Warning", "2", "3":
			health, because = degraded, word
		case "Accepted", "1":
			if health != degraded {
				health = healthy
			}
		default:
			return "", "", fmt.Errorf("nothing says what the word %s means", word)
		}
	}
	return health, because, nil
}

// listReported lists the entries of a status that say more than notes.
func listReported(status map[string]any) []reported {
	var all []any
	if own, ok := status["conditions"].([]any); ok && len(own) > 0 {
		all = append(all, map[string]any{"conditions": own})
	}
	ancestors, _ := status["ancestors"].([]any)
	var out []reported
	for _, e := range append(all, ancestors...) {
		entry := e.(map[string]any)
		r := reported{controller: fmt.Sprint(entry["controllerName"])}
		conditions, _ := entry["conditions"].([]any)
		onlyNotes := len(conditions) > 0
		for _, c := range conditions {
			r.conditions = append(r.conditions, c.(map[string]any))
			onlyNotes = onlyNotes && slices.Contains(notes, c.(map[string]any)["type"].(string))
		}
		if !onlyNotes {
			out = append(out, r)
		}
	}
	return out
}

// dropForeign leaves out what controllers say that do not find the target, where another one accepted
// the policy.
func dropForeign(all []reported) []reported {
	says := func(r reported, status, reason string) bool {
		return slices.ContainsFunc(r.conditions, func(c map[string]any) bool {
			return c["type"] == "Accepted" && c["status"] == status && (reason == "" || c["reason"] == reason)
		})
	}
	return slices.DeleteFunc(slices.Clone(all), func(r reported) bool {
		return says(r, "False", "TargetNotFound") && slices.ContainsFunc(all, func(other reported) bool {
			return other.controller != r.controller && says(other, "True", "")
		})
	})
}
