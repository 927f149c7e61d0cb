package behavior

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// acrossHeadline says in a sentence what comes of a comparison between proxies.
func (d *BehaviorDiff) acrossHeadline() string {
	classes := view.FormatCount(d.Classes, "class of requests|classes of requests")
	switch d.Verdict {
	case Equivalent:
		return "equivalent: " + classes + " get the same on both sides"
	case NotProved:
		return "not proved: no difference is known, and not all of " + classes + " could be compared"
	}
	text := fmt.Sprintf("different: %d of %s", d.Changed, classes)
	if d.gained > 0 {
		text += "; " + view.FormatCount(d.gained, "gets access that it did not have|get access that they did not have")
	}
	if more := d.Opened - d.gained; more > 0 {
		text += "; " + view.FormatCount(more, "is not redirected any more|are not redirected any more")
	}
	if d.Closed > 0 {
		text += "; " + view.FormatCount(d.Closed, "loses access or is protected now|lose access or are protected now")
	}
	return text
}

// maxAssumed is how many assumptions are listed below a table.
const maxAssumed = 6

// differenceWords say a difference in words.
func differenceWords() map[Difference]string {
	return map[Difference]string{NoMatchNow: "no match now", RedirectGone: "redirect gone",
		OtherRedirect: "other redirect", RedirectNow: "redirect now", NewAccess: "NEW ACCESS",
		AccessLost: "access lost", OtherBackend: "other backend", OtherPath: "other path at backend",
		BackendNow: "backend now", OtherAnswer: "other answer", OtherSettings: "settings (not in the verdict)"}
}

// buildAcrossTable lists the hosts that need a look, then the differences.
func (d *BehaviorDiff) buildAcrossTable(o view.TableOptions) view.Table {
	heading := append([]string{d.acrossHeadline()}, d.hostLines(o)...)
	t := view.Table{Blocks: []view.Block{{Heading: heading}}}
	if len(d.Items) > 0 {
		b := &t.Blocks[0]
		b.Columns = []view.Column{{Name: "DIFFERENCE", Rank: 1, MinWidth: 10, Wrap: true},
			{Name: "CLASSES", Rank: 5, Optional: true}, {Name: "REQUEST, BEFORE AND AFTER", Rank: 3, MinWidth: 20, Wrap: true}}
		shown := d.Items[:o.CountShown(len(d.Items))]
		for i := range shown {
			b.Rows = append(b.Rows, shown[i].buildAcrossRows()...)
		}
		t.Footer = append(t.Footer, view.FormatMoreLine(len(d.Items)-len(shown)+d.More, "difference")...)
	}
	if block, more := d.undecidedBlock(o); block != nil {
		t.Blocks = append(t.Blocks, *block)
		t.Footer = append(t.Footer, more...)
	}
	t.Blocks = append(t.Blocks, d.requestsBlock()...)
	for _, what := range d.LeftOut {
		t.Footer = append(t.Footer, "not compared: "+what)
	}
	shown := d.assumed
	if !o.Wide {
		shown = shown[:min(len(shown), maxAssumed)]
	}
	for _, what := range shown {
		t.Footer = append(t.Footer, "assumed: "+what)
	}
	t.Footer = append(t.Footer, view.FormatMoreLine(len(d.assumed)-len(shown), "assumption")...)
	t.Footer = append(t.Footer, d.IncompleteLines()...)
	return t
}

// hostLines name the hosts that not exactly one side would be expected to serve.
func (d *BehaviorDiff) hostLines(o view.TableOptions) []string {
	var both, before, after, neither []string
	for _, h := range d.Hosts {
		switch {
		case h.Before && h.After:
			both = append(both, h.Host)
		case h.Before:
			before = append(before, h.Host)
		case h.After:
			after = append(after, h.Host)
		default:
			neither = append(neither, h.Host)
		}
	}
	if !d.oneInput {
		both = nil // as it should be
	}
	var out []string
	for _, line := range []struct {
		words string
		hosts []string
	}{{"served by both", both}, {"served by neither", neither}, {"served before only", before},
		{"served after only", after}} {
		if len(line.hosts) > 0 {
			out = append(out, line.words+": "+view.JoinNames(line.hosts, o))
		}
	}
	return out
}

// buildAcrossRows returns the rows of a difference: what it is, and what would repair it.
func (c *BehaviorChange) buildAcrossRows() [][]view.Cell {
	request := c.Command
	if c.Circumstances != "" {
		request += " (" + c.Circumstances + ")"
	}
	tone := view.Plain
	if c.Access == AccessOpened {
		tone = view.Bad
	}
	before, after := c.Before.formatAnswer(), c.After.formatAnswer()
	if len(c.Policies) > 0 {
		before, after = formatSettingSides(c.Policies)
	}
	rows := [][]view.Cell{{{Text: differenceWords()[c.Difference], Tone: tone},
		{Text: strconv.Itoa(len(c.Classes) + c.More)}, {Text: request}}}
	for _, line := range []struct{ label, text string }{{"before", before}, {"after", after}, {"repair", c.Repair}} {
		if line.text != "" {
			rows = append(rows, []view.Cell{{}, {}, {Text: "  " + line.label + ": " + line.text}})
		}
	}
	return rows
}

// formatSettingSides says the settings that differ, of each side.
func formatSettingSides(all []SettingChange) (before, after string) {
	var was, is []string
	for _, s := range all {
		was = append(was, s.Name+" "+formatSide(s.Before))
		is = append(is, s.Name+" "+formatSide(s.After))
	}
	return strings.Join(was, ", "), strings.Join(is, ", ")
}

func formatSide(v any) string {
	if v == nil {
		return "none"
	}
	return fmt.Sprint(v)
}

// formatAnswer says what a request gets on one side.
func (s *BehaviorSide) formatAnswer() string {
	status := ""
	if s.Status != 0 {
		status = " (" + strconv.Itoa(s.Status) + ")"
	}
	switch request.Outcome(s.Outcome) {
	case request.Matched:
		text := formatShares(s.Backends)
		if len(s.Backends) > 0 {
			text += " " + cmp.Or(s.Backends[0].Path, "/")
		}
		if len(s.NeedsAuth) > 0 {
			text += ", needs " + requests.FormatNeeds(s.NeedsAuth)
		}
		return text
	case request.NoMatch:
		return "no match" + status
	case request.Denied:
		return "denied by " + string(s.DeniedBy) + status
	case request.Redirect:
		return strconv.Itoa(s.Status) + " to " + s.Location
	case request.BackendError:
		return "no backend answers" + status
	}
	return strings.ToLower(s.Outcome) + status
}

// formatShares names backends, with their share where there are several.
func formatShares(all []requests.RequestBackend) string {
	all = slices.DeleteFunc(slices.Clone(all), func(b requests.RequestBackend) bool { return b.Weight == 0 })
	total := 0
	for i := range all {
		total += all[i].Weight
	}
	var out []string
	for i := range all {
		b := &all[i]
		text := b.Ref.WithoutSection().String()
		if b.Port != 0 {
			text += ":" + strconv.Itoa(b.Port)
		}
		if len(all) > 1 {
			text += fmt.Sprintf(" %d/%d", b.Weight, total)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// requestsBlock lists the requests that were asked about.
func (d *BehaviorDiff) requestsBlock() []view.Block {
	if len(d.Requests) == 0 {
		return nil
	}
	b := view.Block{Heading: []string{"requests that were asked about"}, Columns: []view.Column{
		{Name: "REQUEST", Rank: 3, MinWidth: 20, Wrap: true}, {Name: "VERDICT", Rank: 1, MinWidth: 9},
		{Name: "BEFORE", Rank: 4, MinWidth: 16, Wrap: true, Keep: true},
		{Name: "AFTER", Rank: 4, MinWidth: 16, Wrap: true, Keep: true}}}
	for i := range d.Requests {
		r := &d.Requests[i]
		tone := map[string]view.Tone{Equivalent: view.Good, Different: view.Bad, NotProved: view.Partly}[r.Verdict]
		b.Rows = append(b.Rows, []view.Cell{{Text: r.Request.Text}, {Text: r.Verdict, Tone: tone},
			{Text: r.Before.formatAnswer()}, {Text: r.After.formatAnswer()}})
	}
	return []view.Block{b}
}

// hasNamedHost reports whether a class of hosts has a name that a side gives it.
func hasNamedHost(h hostClass) bool {
	return slices.ContainsFunc([]string{"host ", "other hosts of "}, func(lead string) bool {
		return strings.HasPrefix(h.words, lead)
	})
}
