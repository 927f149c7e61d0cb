package requests

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Table has one line for each request; of one request at several Gateways, the answer of each in
// full.
func (l *RequestAnswerList) Table(o view.TableOptions) view.Table {
	if l.sameRequest {
		return l.buildGatewayTable(o)
	}
	expecting := slices.ContainsFunc(l.Items, func(a RequestResult) bool { return len(a.Expectations) > 0 })
	b := view.Block{Columns: []view.Column{{Name: "REQUEST", Rank: 2, MinWidth: 24, Wrap: true}, {Name: "OUTCOME", Rank: 1,
		MinWidth: 8}, {Name: "LISTENER", Rank: 8, MinWidth: 12, Optional: true},
		{Name: "ROUTE", Rank: 3, MinWidth: 12}, {Name: "RULE", Rank: 4, MinWidth: 8}, {Name: "BACKENDS",
			Rank: 7, MinWidth: 12, Optional: true}, {Name: "WHY", Wide: true}}}
	if expecting {
		b.Columns = slices.Insert(b.Columns, 2, view.Column{Name: "EXPECTED"})
	}
	shown := l.Items[:o.CountShown(len(l.Items))]
	for i := range shown {
		row := shown[i].buildRow()
		if expecting {
			row = slices.Insert(row, 2, shown[i].expectedCell())
		}
		b.Rows = append(b.Rows, row)
	}
	t := view.Table{Blocks: []view.Block{b}, Footer: view.FormatMoreLine(len(l.Items)-len(shown), "request")}
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
	summary := fmt.Sprintf("%d of %d expectations %s not met", len(out), all, view.InflectNoun(len(out), "is|are"))
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
func (a *RequestResult) expectedCell() view.Cell {
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
		return view.Cell{Text: "-"}
	case a.Unmet() != nil:
		return view.Cell{Text: strings.Join(words, ", "), Tone: view.Bad}
	}
	return view.Cell{Text: strings.Join(words, ", "), Tone: view.Good}
}

// buildRow returns the cells of a request in a list.
func (a *RequestResult) buildRow() []view.Cell {
	dash := func(s string) view.Cell { return view.Cell{Text: view.OrDash(s)} }
	outcome := view.Cell{Text: a.Outcome}
	switch a.Outcome {
	case "Matched":
		outcome.Tone = view.Good
	case "Conditional":
		outcome.Tone = view.Partly
	case "NoMatch", "BackendError", "Misdirected", "Denied", "Limited":
		outcome.Tone = view.Bad
	}
	switch {
	case a.Outcome == "Denied" && a.DeniedBy != "":
		outcome.Text += " by " + string(a.DeniedBy)
	case a.isDenied() || a.isDeniedLater():
		outcome = view.Cell{Text: outcome.Text + ", denied", Tone: view.Bad}
	case a.findPoint(point.Depends) != nil:
		outcome = view.Cell{Text: outcome.Text + ", depends", Tone: view.Partly}
	}
	listener, route, rule := "", "", ""
	if a.Listener != "" {
		listener = a.Gateway + " " + a.Listener
	} else if a.Service != "" {
		listener = a.Service
	}
	if a.Route != nil {
		route, rule = a.Route.WithoutSection().String(), a.Route.Section
	}
	if a.Ingress != nil {
		listener, route, rule = "class "+a.IngressClass, a.Ingress.String(), a.ingressPath
	}
	why := slices.Clone(a.Why)
	for i := range a.Decisions {
		if a.Decisions[i].Outcome == "Denied" {
			why = append(why, a.Decisions[i].KindName()+": "+a.Decisions[i].FormatSentence())
		}
	}
	for _, v := range []point.Verdict{point.Denied, point.Depends} {
		if p := a.findPoint(v); p != nil && a.Verdict == string(v) {
			why = append(why, p.FormatLine())
		}
	}
	for i := range a.NearMisses {
		why = append(why, a.NearMisses[i].formatLabel()+": "+a.NearMisses[i].formatLine())
	}
	return []view.Cell{{Text: a.Request.Text}, outcome, dash(listener), dash(route), dash(rule), dash(a.backendText()),
		dash(strings.Join(why, "; "))}
}

// buildGatewayTable shows the answer of every Gateway, those first at which a rule takes the
// request.
func (l *RequestAnswerList) buildGatewayTable(o view.TableOptions) view.Table {
	var t view.Table
	t.Blocks = append(t.Blocks,
		view.Block{Heading: []string{view.FormatCount(len(l.Items), "Gateway has|Gateways have") + " a listener for " +
			l.Items[0].Request.Text}})
	var order []*RequestResult
	for i := range l.Items {
		order = append(order, &l.Items[i])
	}
	slices.SortStableFunc(order, func(a, b *RequestResult) int {
		return view.CompareBools(a.Route == nil,
			b.Route == nil)
	})
	shown := order[:o.CountShown(len(order))]
	for _, a := range shown {
		one := RequestAnswer{Envelope: view.Envelope{Complete: true}, RequestResult: *a}
		part := one.Table(o)
		if len(a.Effective) == 0 && a.StatusReasons == nil {
			part.Blocks[0].Heading = append(part.Blocks[0].Heading, part.Footer...)
		}
		t.Blocks = append(t.Blocks, part.Blocks...)
	}
	t.Footer = append(t.Footer, view.FormatMoreLine(len(order)-len(shown), "Gateway")...)
	t.Footer = append(t.Footer, "one of them alone: add --gateway "+order[0].Gateway)
	if summary := l.unmetLines(); len(summary) > 0 {
		t.Footer = append(t.Footer, summary[0])
	}
	t.Footer = append(t.Footer, l.GenericLine()...)
	t.Footer = append(t.Footer, l.IncompleteLines()...)
	return t
}
