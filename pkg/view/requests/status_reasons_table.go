package requests

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// statusTable says first where the status may come from, then how the request gets there, then
// each cause with its setting.
func (a *RequestAnswer) statusTable(o view.TableOptions) view.Table {
	t := view.Table{Blocks: a.statusBlocks()}
	if next := a.nextCommand(o); next != "" {
		t.Footer = append(t.Footer, next)
	}
	t.Footer = append(t.Footer, a.IncompleteLines()...)
	return t
}

// statusBlocks are the blocks of the answer about a status.
func (a *RequestResult) statusBlocks() []view.Block {
	reasons := a.StatusReasons
	blocks := []view.Block{{Heading: []string{reasons.Summary}}, a.requestFacts()}
	for i := 0; i < len(reasons.Causes); {
		end := i + 1
		for end < len(reasons.Causes) && reasons.Causes[end].answersAs(&reasons.Causes[i]) {
			end++
		}
		blocks = append(blocks, causeFacts(reasons.Causes[i:end]))
		i = end
	}
	last := view.NewFacts()
	last.AddList("not known", reasons.Unknown)
	word := "other sources"
	if len(reasons.Causes) == 0 {
		word = "check next"
	}
	last.AddList(word, reasons.Notes)
	last.Add("other possible answers", a.otherAnswers())
	if b := last.Block(); len(b.Rows) > 0 {
		blocks = append(blocks, b)
	}
	return blocks
}

// requestFacts say how the request gets to its rule and backend, and what nearly took it.
func (a *RequestResult) requestFacts() view.Block {
	f := view.NewFacts()
	f.Add("request", a.Request.Text)
	f.Add("goes to", a.destinationText())
	f.AddList("because", slices.DeleteFunc(slices.Clone(a.Why), func(why string) bool {
		return strings.HasPrefix(why, "it depends: ") || a.isCause(why) // said below
	}))
	if len(a.NearMisses) > 0 {
		var lines []string
		for i := range a.NearMisses {
			lines = append(lines, a.NearMisses[i].formatLine())
		}
		f.AddList(a.NearMisses[0].formatLabel(), lines)
	}
	return f.Block()
}

// isCause reports whether a comparison is why the Gateway answers with the status.
func (a *RequestResult) isCause(why string) bool {
	return slices.ContainsFunc(a.StatusReasons.Causes, func(c StatusCause) bool { return strings.Contains(c.When, why) })
}

// destinationText names the objects on the way of the request, as far as it gets.
func (a *RequestResult) destinationText() string {
	var steps []string
	switch {
	case a.Service != "":
		steps = append(steps, "service/"+a.Service+" (mesh)")
	case a.Gateway != "":
		step := "gateway/" + a.Gateway
		if a.ListenerSet != "" {
			steps, step = append(steps, step), "listenerset/"+a.ListenerSet
		}
		if a.Listener != "" {
			step += "/" + a.Listener
		}
		steps = append(steps, step)
	}
	if a.Route != nil {
		steps = append(steps, a.Route.String())
	}
	var to []string // also routes to which it is delegated
	for _, b := range a.Backends {
		to = append(to, b.Ref.String())
	}
	if len(to) > 0 {
		steps = append(steps, strings.Join(to, ", "))
	}
	text := strings.Join(steps, " → ")
	switch {
	case text == "":
		return a.formatOutcome()
	case a.Outcome == "Conditional":
		if len(a.StatusReasons.Unknown) > 0 {
			text += " (not certain)"
		}
	case a.Outcome != "Matched":
		return text + ": " + a.formatOutcome()
	}
	return text
}

// answersAs reports whether a cause is another setting of the same object, which answers as that
// one does.
func (c *StatusCause) answersAs(other *StatusCause) bool {
	return c.Object == other.Object && fmt.Sprint(c.Status) == fmt.Sprint(other.Status) && c.When == other.When
}

// causeFacts are what is known of the settings of one object that answer alike.
func causeFacts(causes []StatusCause) view.Block {
	f, first := view.NewFacts(), &causes[0]
	word := "policy"
	if first.Source == nil {
		word = "object"
	}
	f.Add(word, first.Object.String())
	target, origin := "", ""
	for i := range causes {
		c := &causes[i]
		setting := c.Setting
		if c.valueText != "" {
			setting += " = " + c.valueText
		}
		f.Add("setting", setting)
		if c.Source != nil && c.Source.Target != nil && target == "" {
			target = c.Source.Target.String()
			if c.why != "" {
				target += ": " + c.why
			}
		}
		if c.Origin != nil && !strings.Contains(origin, c.Origin.String()) {
			origin = strings.TrimPrefix(origin+", "+c.Origin.String(), ", ")
		}
	}
	f.Add("set on", target)
	f.Add("written in", origin)
	status := fmt.Sprint(first.Status)
	if status == protect.AnyStatus {
		status = "any status"
	}
	f.Add("answers", status+" "+first.When)
	return f.Block()
}

// otherAnswers are the other statuses that may be answered before a backend gets the request, with
// the objects that do.
func (a *RequestResult) otherAnswers() string {
	var statuses []string
	by := map[string][]string{}
	for i := range a.MayAnswer {
		one := &a.MayAnswer[i]
		status := fmt.Sprint(one.Status)
		if slices.ContainsFunc(a.StatusReasons.Causes, func(c StatusCause) bool { return fmt.Sprint(c.Status) == status }) {
			continue
		}
		if by[status] == nil {
			statuses = append(statuses, status)
		}
		if name := one.Object.String(); !slices.Contains(by[status], name) {
			by[status] = append(by[status], name)
		}
	}
	for i, status := range statuses {
		statuses[i] = status + " from " + view.JoinWithAnd(by[status])
	}
	return strings.Join(statuses, "; ")
}

// nextCommand is what to ask next, about the target on which a setting is in force; "" where no
// policy is in force on the way of the request.
func (a *RequestResult) nextCommand(o view.TableOptions) string {
	if a.Route == nil {
		return ""
	}
	for i := range a.StatusReasons.Causes {
		if c := &a.StatusReasons.Causes[i]; c.place != nil {
			words := []string{"explain", c.place.String(), c.fullName}
			return "details: " + o.FormatCommand(slices.DeleteFunc(words, func(w string) bool { return w == "" })...)
		}
	}
	if target := a.targetInForce(); target != nil {
		return "everything in force there: " + o.FormatCommand("effective", target.String())
	}
	return ""
}

// targetInForce is where policies are in force on the way of the request: the rule that takes it,
// else a route to which that delegates, else where the first of them are; nil if none are.
func (a *RequestResult) targetInForce() *model.Ref {
	isRule := func(item view.EffectivePolicy) bool { return item.Target == *a.Route }
	switch {
	case slices.ContainsFunc(a.Effective, isRule):
		return a.Route
	case a.delegatedTo != nil:
		return a.delegatedTo
	case len(a.Effective) > 0:
		return &a.Effective[0].Target
	}
	return nil
}
