package check

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// ReportOf is what another command found, so that it can be written in the forms for CI: its
// findings, what it could not judge, how much it looked at, and the rules of the findings.
func ReportOf(command string, findings []Finding, unjudged []model.Problem, looked int, rules Catalogue) *Report {
	out := &Report{Items: sortFindings(findings), Checked: looked, FailOn: Threshold(model.Warning), Catalogue: rules,
		Command: command}
	out.Finish("CheckReport", unjudged)
	out.countItems()
	return out
}
