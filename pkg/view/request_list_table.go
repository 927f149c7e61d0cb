package view

import (
	"fmt"
	"slices"
	"strings"
)

// Table has one line for each request; of one request at several Gateways, the answer of each in full.
func (l *RequestAnswerList) Table(o TableOptions) Table {
	if l.sameRequest {
		return l.buildGatewayTable(o)
	}
	expecting := slices.ContainsFunc(l.Items, func(a RequestResult) bool { return len(a.Expectations) > 0 })
	b := Block{Columns: []Column{{Name: "REQUEST", Rank: 2, MinWidth: 24}, {Name: "OUTCOME", Rank: 1, MinWidth: 8}, {Name: "LISTENER", Rank: 8, MinWidth: 12, Optional: true},
		{Name: "ROUTE", Rank: 3, MinWidth: 12, KeepEnd: true}, {Name: "RULE", Rank: 4, MinWidth: 8}, {Name: "BACKENDS", Rank: 7, MinWidth: 12, KeepEnd: true, Optional: true}, {Name: "WHY", Wide: true}}}
	if expecting {
		b.Columns = slices.Insert(b.Columns, 2, Column{Name: "EXPECTED"})
	}
	shown := l.Items[:o.countShown(len(l.Items))]
	for i := range shown {
		row := shown[i].buildRow()
		if expecting {
			row = slices.Insert(row, 2, shown[i].expectedCell())
		}
		b.Rows = append(b.Rows, row)
	}
	t := Table{Blocks: []Block{b}, Footer: formatMoreLine(len(l.Items)-len(shown), "request")}
	t.Footer = append(t.Footer, l.unmetLines()...)
	t.Footer = append(t.Footer, l.IncompleteLines()...)
	return t
}

// unmetLines say how many expectations are not met, then each of these.
func (l *RequestAnswerList) unmetLines() []string {
	all := 0
	for i := range l.Items {
		all += len(l.Items[i].Expectations)
	}
	out := l.Unmet()
	summary := fmt.Sprintf("%d of %d expectations %s not met", len(out), all, inflectNoun(len(out), "is|are"))
	switch {
	case all == 0:
		return nil
	case len(out) == 0 && all == 1:
		return []string{"the expectation is met"}
	case len(out) == 0:
		return []string{fmt.Sprintf("all %d expectations are met", all)}
	case all == 1:
		summary = "the expectation is not met"
	}
	return append([]string{summary}, out...)
}

// expectedCell is what was expected of a request, and in colour whether that is so.
func (a *RequestResult) expectedCell() Cell {
	var words []string
	for _, e := range a.Expectations {
		word := e.Expected
		if !e.Met {
			word += " (not met)"
		}
		words = append(words, word)
	}
	switch {
	case words == nil:
		return Cell{Text: "-"}
	case a.Unmet() != nil:
		return Cell{Text: strings.Join(words, ", "), Tone: Bad}
	}
	return Cell{Text: strings.Join(words, ", "), Tone: Good}
}

// buildRow returns the cells of a request in a list.
func (a *RequestResult) buildRow() []Cell {
	dash := func(s string) Cell { return Cell{Text: orDash(s)} }
	outcome := Cell{Text: a.Outcome}
	switch a.Outcome {
	case "Matched":
		outcome.Tone = Good
	case "Conditional":
		outcome.Tone = Partly
	case "NoMatch", "BackendError", "Misdirected":
		outcome.Tone = Bad
	}
	if a.isDenied() {
		outcome = Cell{Text: outcome.Text + ", denied", Tone: Bad}
	}
	listener, route, rule := "", "", ""
	if a.Listener != "" {
		listener = a.Gateway + " " + a.Listener
	} else if a.Service != "" {
		listener = a.Service
	}
	if a.Route != nil {
		route, rule = objectName(a.Route.WithoutSection()), a.Route.Section
	}
	why := slices.Clone(a.Why)
	for i := range a.Decisions {
		if a.Decisions[i].Outcome == "Denied" {
			why = append(why, a.Decisions[i].kindName()+": "+a.Decisions[i].formatSentence())
		}
	}
	for i := range a.NearMisses {
		why = append(why, "near miss: "+a.NearMisses[i].formatLine())
	}
	return []Cell{{Text: a.Request.Text}, outcome, dash(listener), dash(route), dash(rule), dash(a.backendText()), dash(strings.Join(why, "; "))}
}

// buildGatewayTable shows the answer of every Gateway, those first at which a rule takes the
// request.
func (l *RequestAnswerList) buildGatewayTable(o TableOptions) Table {
	var t Table
	t.Blocks = append(t.Blocks, Block{Heading: []string{FormatCount(len(l.Items), "Gateway has|Gateways have") + " a listener for " + l.Items[0].Request.Text}})
	var order []*RequestResult
	for i := range l.Items {
		order = append(order, &l.Items[i])
	}
	slices.SortStableFunc(order, func(a, b *RequestResult) int { return compareBools(a.Route == nil, b.Route == nil) })
	shown := order[:o.countShown(len(order))]
	for _, a := range shown {
		one := RequestAnswer{Envelope: Envelope{Complete: true}, RequestResult: *a}
		part := one.Table(o)
		if len(a.Effective) == 0 {
			part.Blocks[0].Heading = append(part.Blocks[0].Heading, part.Footer...)
		}
		t.Blocks = append(t.Blocks, part.Blocks...)
	}
	t.Footer = append(t.Footer, formatMoreLine(len(order)-len(shown), "Gateway")...)
	t.Footer = append(t.Footer, "one of them alone: add --gateway "+order[0].Gateway)
	if summary := l.unmetLines(); len(summary) > 0 {
		t.Footer = append(t.Footer, summary[0])
	}
	t.Footer = append(t.Footer, l.genericLine()...)
	t.Footer = append(t.Footer, l.IncompleteLines()...)
	return t
}
