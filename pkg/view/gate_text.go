package view

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
)

// FormatProtection writes a verdict in a cell: the methods, or why not.
func FormatProtection(r *protect.Result) string {
	switch r.Verdict {
	case gate.Holds:
		switch {
		case r.HasReason(gate.DeniesAll):
			return "denies all"
		case len(r.Methods) > 0:
			return strings.Join(r.Methods, "+")
		}
		return "yes"
	case gate.NotApplicable:
		return MarkNotApplicable
	}
	word := "no"
	if r.Verdict == gate.Depends {
		word = "depends"
	}
	for _, because := range r.Because {
		if text := formatGateCode(because.Code); text != "" && because.Code.VerdictOf() == r.Verdict {
			return word + ": " + text
		}
	}
	return word
}

// formatGateCode writes a reason in a word or two.
func formatGateCode(c gate.Code) string {
	switch c {
	case gate.Replaced:
		return "overridden"
	case gate.AnonymousAllowed:
		return "anonymous"
	case gate.MissingAllowed:
		return "optional"
	case gate.NeverRefused:
		return "never refused"
	case gate.NotVerified:
		return "not verified"
	case gate.AllowsAll:
		return "allows all"
	case gate.AnyAddress:
		return "any address"
	case gate.AnyOrigin:
		return "any origin"
	case gate.Unlimited:
		return "no limit"
	case gate.DryRun:
		return "dry run"
	case gate.Disabled:
		return "switched off"
	case gate.Skipped:
		return "exceptions"
	case gate.OtherMethod:
		return "other method"
	case gate.ExternalDecision:
		return "ext-auth"
	case gate.FailOpen:
		return "fail-open"
	case gate.Condition:
		return "condition"
	case gate.Expression:
		return "expression"
	case gate.Consumer:
		return "consumer"
	case gate.ExternalObject:
		return "outside"
	case gate.MissingObject:
		return "not in input"
	case gate.NotRead:
		return "not read"
	}
	return ""
}

// MarkNotApplicable stands in a cell where the question does not arise.
const MarkNotApplicable = "n/a"

// JoinReasons says reasons in one sentence.
func JoinReasons(reasons []protect.Reason) string {
	var out []string
	seen := map[string]bool{}
	for _, r := range reasons {
		if !seen[r.Message] {
			seen[r.Message] = true
			out = append(out, r.Message)
		}
	}
	return strings.Join(out, "; ")
}
