package publish

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Action is what is done to a report.
type Action string

// The actions.
const (
	Create    Action = "create"
	Update    Action = "update"
	Refresh   Action = "refresh" // nothing changed but the time of reading, which is old
	Remove    Action = "remove"
	Unchanged Action = "unchanged"
	Failed    Action = "failed"
)

// Change is what is done to one report.
type Change struct {
	Action  Action    `json:"action"`            // create, update, refresh, remove, unchanged or failed
	Report  model.Ref `json:"report"`            // the object
	Message string    `json:"message,omitempty"` // why it failed

	Body *Report `json:"object,omitempty"` // as it is to be, in a dry run
	UID  string  `json:"-"`                // of the object that is removed
}

// Plan is what makes the reports that a cluster has into those that it should have.
type Plan struct {
	view.Envelope
	DryRun bool     `json:"dryRun"` // nothing was written
	Items  []Change `json:"items"`  // by namespace and name
}

// NewPlan compares reports with those of ours that are in a cluster, as the server sent them.
// Fields that the server added do not count; the time of reading alone is written for the report of
// a namespace, when it is older than heartbeat; 0: never. With keep, nothing is removed.
func NewPlan(have []map[string]any, want []*Report, heartbeat time.Duration, keep bool,
	problems []model.Problem) *Plan {
	p := &Plan{Items: []Change{}}
	there := map[model.Ref]map[string]any{}
	for _, o := range have {
		there[refOf(o)] = o
	}
	for _, r := range want {
		ref := r.Ref()
		c := Change{Report: ref, Body: r, Action: Create}
		if old := there[ref]; old != nil {
			c.Action = chooseAction(old, r, heartbeat)
			delete(there, ref)
		}
		p.Items = append(p.Items, c)
	}
	for ref, o := range there {
		if !keep {
			p.Items = append(p.Items, Change{Action: Remove, Report: ref, UID: model.Text(o, "metadata", "uid")})
		}
	}
	slices.SortFunc(p.Items, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Report.Namespace, b.Report.Namespace), a.Report.Compare(b.Report))
	})
	p.Finish("PublishedReportList", problems)
	return p
}

func refOf(o map[string]any) model.Ref {
	r := Report{APIVersion: model.Text(o, "apiVersion"), Kind: model.Text(o, "kind"),
		Metadata: Metadata{Namespace: model.Text(o, "metadata", "namespace"), Name: model.Text(o, "metadata", "name")}}
	return r.Ref()
}

// chooseAction says what has to be done to a report that is there.
func chooseAction(old map[string]any, r *Report, heartbeat time.Duration) Action {
	want, err := toMap(r)
	if err != nil {
		return Update
	}
	have := maps.Clone(old)
	delete(have, "metadata")
	delete(want, "metadata")
	if !isSame(have, want) {
		return Update
	}
	said := func(name string) string { return model.Text(old, "metadata", "annotations", name) }
	for _, name := range []string{completeAnnotation, generationAnnotation} {
		if said(name) != r.Metadata.Annotations[name] {
			return Update
		}
	}
	written, err := time.Parse(time.RFC3339, said(readAtAnnotation))
	now, _ := time.Parse(time.RFC3339, r.Metadata.Annotations[readAtAnnotation])
	switch {
	case err != nil:
		return Update
	case heartbeat > 0 && r.Metadata.Name == namespaceReportName && now.Sub(written) >= heartbeat:
		return Refresh
	}
	return Unchanged
}

// toMap returns a report as maps and lists.
func toMap(r *Report) (out map[string]any, err error) {
	text, err := json.Marshal(r)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	return out, err
}

// isSame reports whether two values are the same, but for fields of have that are empty: servers
// fill in such. Nothing in reports is.
func isSame(have, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		have, ok := have.(map[string]any)
		for key, value := range have {
			if _, wanted := want[key]; !wanted && !isEmpty(value) {
				return false
			}
		}
		for key, value := range want {
			if !ok || !isSame(have[key], value) {
				return false
			}
		}
		return ok
	case []any:
		have, ok := have.([]any)
		return ok && slices.EqualFunc(have, want, isSame)
	case float64:
		return fmt.Sprint(have) == fmt.Sprint(want)
	}
	return have == want
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return v == nil || v == "" || v == false || fmt.Sprint(v) == "0"
}

// CountWrites returns how many of the changes write something.
func (p *Plan) CountWrites() int {
	n := 0
	for _, c := range p.Items {
		if c.Action != Unchanged {
			n++
		}
	}
	return n
}

// CountFailures returns how many of the changes failed.
func (p *Plan) CountFailures() int {
	n := 0
	for _, c := range p.Items {
		if c.Action == Failed {
			n++
		}
	}
	return n
}

// DropBodies drops the content of the reports, which is written.
func (p *Plan) DropBodies() {
	for i := range p.Items {
		p.Items[i].Body = nil
	}
}

// Table lists what was done, or would be.
func (p *Plan) Table(o view.TableOptions) view.Table {
	counts := map[Action]int{}
	var rows [][]view.Cell
	for _, c := range p.Items {
		counts[c.Action]++
		if c.Action == Unchanged && !o.Wide {
			continue
		}
		tone := view.Plain
		if c.Action == Failed {
			tone = view.Bad
		}
		rows = append(rows, []view.Cell{{Text: string(c.Action), Tone: tone}, {Text: c.Report.Namespace},
			{Text: c.Report.Name}, {Text: c.Message}})
	}
	var t view.Table
	if len(rows) > 0 {
		t.Blocks = []view.Block{{Columns: []view.Column{{Name: "ACTION"}, {Name: "NAMESPACE"},
			{Name: "REPORT", Rank: 2, MinWidth: 20}, {Name: "MESSAGE", Rank: 3, MinWidth: 20, Wrap: true}}, Rows: rows}}
	}
	verb := ""
	if p.DryRun {
		verb = " (dry run: nothing was written)"
	}
	t.Footer = append(t.Footer,
		fmt.Sprintf("%s: %d created, %d updated, %d refreshed, %d removed, %d unchanged, %d failed%s",
			view.FormatCount(len(p.Items), "report"),
			counts[Create], counts[Update], counts[Refresh], counts[Remove], counts[Unchanged], counts[Failed], verb))
	t.Footer = append(t.Footer, p.IncompleteLines()...)
	return t
}
