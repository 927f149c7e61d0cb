package vectortest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/diff"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
)

// TestDiff takes objects out of every vector, one at a time, and holds the difference against a
// comparison of the two answers way by way, against its mirror image, and against what the deletion
// of a policy, a route or a Gateway can do.
func TestDiff(t *testing.T) {
	eachVector(t, func(t *testing.T, o load.Options, settings []string) { diffs(t, o, settings) })
	t.Run("demo", func(t *testing.T) { diffs(t, load.Options{Paths: []string{"../../testdata/demo"}}, nil) })
}

// mostDeletions and mostUsers bound what one vector costs.
const (
	mostDeletions = 4
	mostUsers     = 2
)

func diffs(t *testing.T, o load.Options, settings []string) {
	catalog := catalogWith(t, settings)
	o.ClusterScoped = catalog.ClusterScoped()
	in, err := load.Files(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	all := resolveFor(in, catalog)
	whole := effective.List(all, view.Query{})
	none := diff.Compare(sideOf(all), sideOf(resolveFor(in, catalog)), diff.Query{})
	if none.HasChanges() || none.Summary.Unchanged != len(whole.Items) {
		t.Errorf("an input differs from itself: %d changes, %d of %d the same", len(none.Items),
			none.Summary.Unchanged, len(whole.Items))
	}
	step := 1 + len(in.Objects)/mostDeletions
	for i := 0; i < len(in.Objects); i += step {
		gone := in.Objects[i].Ref
		less := load.RemoveObjects(in, func(ref model.Ref) bool { return ref == gone })
		rest := resolveFor(less, catalog)
		d, mirror := diff.Compare(sideOf(all), sideOf(rest), diff.Query{}), diff.Compare(sideOf(rest),
			sideOf(all), diff.Query{})
		if got, want := lines(mirror, true), lines(d, false); !slices.Equal(got, want) {
			t.Errorf("without %s: the other way round\n%s\nis not the mirror of\n%s", gone, strings.Join(got, "\n"),
				strings.Join(want, "\n"))
		}
		before, after := byWay(whole), byWay(effective.List(rest, view.Query{}))
		if got, want := protectionLines(mirror, true), protectionLines(d, false); !slices.Equal(got, want) {
			t.Errorf("without %s: what rules lose the other way round\n%s\nis not the mirror of\n%s", gone,
				strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		for _, c := range d.Protection {
			if c.Target.WithoutSection() == gone {
				t.Errorf("without %s: its rule is said to lose %s", gone, c.Property)
			}
		}
		byHand(t, gone, d, before, after)
		deletions(t, gone, d, after, catalog)
	}
	if settings == nil {
		catalog = catalogWith(t, []string{oneDialect})
	}
	partlyRead(t, in, catalog)
}

// partlyRead compares a cluster with itself as somebody sees it who may not read everything:
// whatever seems to change is marked, and nobody is said to lose protection.
func partlyRead(t *testing.T, in *model.Snapshot, catalog *descriptor.Catalog) {
	t.Helper()
	all := resolutionFor(in, func(model.GroupKind, string) bool { return true }, catalog)
	list := users(in)
	step := 1 + len(list)/mostUsers
	for i := 0; i < len(list); i += step {
		part := resolutionFor(in, list[i].may, catalog)
		for _, d := range []*diff.EffectivePolicyDiff{diff.Compare(sideOf(all), sideOf(part), diff.Query{}),
			diff.Compare(sideOf(part), sideOf(all), diff.Query{})} {
			for _, c := range d.Items {
				if len(c.Unread) == 0 || c.Unprotected {
					t.Errorf("%s: %s %s %v is said to be %s %s, unprotected: %v, and is not marked", list[i].name,
						c.PolicyKind, c.Target, c.Paths, c.Change, c.TargetChange, c.Unprotected)
				}
			}
			for _, c := range d.Protection {
				if c.Before.Verdict != "depends" && c.After.Verdict != "depends" {
					t.Errorf("%s: %s of %s is said to be %s and then %s", list[i].name, c.Property, c.Target,
						c.Before.Verdict, c.After.Verdict)
				}
			}
			if len(d.Summary.Bare)+len(d.Summary.Uncovered) > 0 {
				t.Errorf("%s: route rules are said to be new and without a policy: %v, %v", list[i].name,
					d.Summary.Bare, d.Summary.Uncovered)
			}
			if len(d.Items) > 0 && d.Complete {
				t.Errorf("%s: the answer says that it is complete", list[i].name)
			}
		}
	}
}

func resolveFor(in *model.Snapshot, catalog *descriptor.Catalog) *resolve.Resolution {
	return resolve.Run(in, build.Graph(in, catalog.Settings(), catalog.Links()...), catalog)
}

// stays reports whether something is in force at a target after its object is gone, as what comes
// by a route is at the name of a Service.
func stays(c *diff.PolicyChange, after map[string][]string) bool {
	return c.Change == "Changed" &&
		slices.ContainsFunc(c.Paths, func(p view.Path) bool { return len(after[way(c.PolicyKind, c.Target, p)]) > 0 })
}

// way is a policy kind at a target on one way.
func way(kind string, target model.Ref, path view.Path) string {
	path.Binding = "" // by which binding a policy comes is no way of traffic
	text, _ := json.Marshal(path)
	return kind + " " + target.String() + " " + target.Group + " " + string(text)
}

// byWay is the results of an answer by way, sorted.
func byWay(list *effective.EffectivePolicyList) map[string][]string {
	out := map[string][]string{}
	for i := range list.Items {
		item := &list.Items[i]
		told := map[string]bool{} // ways that differ by their binding alone are one
		for _, p := range append(slices.Clone(item.Paths), nowhere(item.Paths)...) {
			key := way(item.PolicyKind, item.Target, p)
			if told[key] {
				continue
			}
			told[key] = true
			out[key] = append(out[key], item.ID)
			slices.Sort(out[key])
		}
	}
	return out
}

// nowhere is the way of what no traffic reaches.
func nowhere(paths []view.Path) []view.Path {
	if len(paths) > 0 {
		return nil
	}
	return []view.Path{{}}
}

// byHand holds the ways that change against two answers.
func byHand(t *testing.T, gone model.Ref, d *diff.EffectivePolicyDiff, before, after map[string][]string) {
	t.Helper()
	changed := map[string]bool{}
	for i := range d.Items {
		c := &d.Items[i]
		for _, p := range append(slices.Clone(c.Paths), nowhere(c.Paths)...) {
			key := way(c.PolicyKind, c.Target, p)
			changed[key] = true
			if slices.Equal(before[key], after[key]) {
				t.Errorf("without %s: %s is said to change and is the same", gone, key)
			}
			if c.Unprotected && (len(after[key]) > 0 || len(before[key]) == 0) {
				t.Errorf("without %s: %s is said to lose its only policy: %v, %v", gone, key, before[key], after[key])
			}
		}
		if len(c.Rules) == 0 && !c.Reordered {
			t.Errorf("without %s: no rule of %s %s tells what changes", gone, c.PolicyKind, c.Target)
		}
	}
	for key := range before {
		if !slices.Equal(before[key], after[key]) && !changed[key] {
			t.Errorf("without %s: the change of %s is not told", gone, key)
		}
	}
	for key := range after {
		if before[key] == nil && !changed[key] {
			t.Errorf("without %s: what %s gets is not told", gone, key)
		}
	}
}

// deletions holds the grounds of changes against what was deleted: without a policy, targets and
// ways stay; without a route its rules are gone.
func deletions(t *testing.T, gone model.Ref, d *diff.EffectivePolicyDiff, after map[string][]string,
	catalog *descriptor.Catalog) {
	t.Helper()
	isPolicy := slices.ContainsFunc(catalog.Kinds(),
		func(k *policy.Kind) bool { return k.GroupKind == gone.GroupKind() && k.Scopes == nil })
	for i := range d.Items {
		c := &d.Items[i]
		switch {
		case isPolicy && c.TargetChange != "":
			t.Errorf("without %s: %s %s is said to be %s", gone, c.PolicyKind, c.Target, c.TargetChange)
		case c.Target.WithoutSection() == gone && !stays(c, after) && (c.TargetChange != "Removed" || c.Unprotected):
			t.Errorf("without %s: its %s is said to be %q", gone, c.Target.Section, c.TargetChange)
		case gone.Kind == "Gateway" && c.Target.WithoutSection() != gone && c.Unprotected &&
			strings.Contains(fmt.Sprint(c.Paths), gone.FullName()):
			t.Errorf("without %s: %s %s is said to be unprotected on ways through it", gone, c.PolicyKind, c.Target)
		case isPolicy && c.Change == "Removed" && len(c.Paths) > 0 && !c.Unprotected &&
			len(after[way(c.PolicyKind, c.Target, c.Paths[0])]) == 0:
			t.Errorf("without %s: it is not told that %s %s loses its only policy", gone, c.PolicyKind, c.Target)
		}
	}
}

// protectionLines are what becomes of the protection of rules, a line each, sorted; of a mirror
// image with both sides in each other's place.
func protectionLines(d *diff.EffectivePolicyDiff, mirrored bool) []string {
	var out []string
	for _, c := range d.Protection {
		if mirrored {
			c.Before, c.After = c.After, c.Before
		}
		out = append(out, fmt.Sprint(c.Target, c.Property, c.Before.Verdict, c.After.Verdict))
	}
	slices.Sort(out)
	return out
}

// lines are the changes, a line each, sorted; of a mirror image with both sides in each other's
// place.
func lines(d *diff.EffectivePolicyDiff, mirrored bool) []string {
	words := map[string]string{"Added": "Removed", "Removed": "Added", "Reached": "Unreached", "Unreached": "Reached"}
	var out []string
	for i := range d.Items {
		c := d.Items[i]
		var rules []string
		for _, r := range c.Rules {
			r.Reason = ""
			if mirrored {
				r.Before, r.After, r.SourcesBefore, r.SourcesAfter = r.After, r.Before, r.SourcesAfter, r.SourcesBefore
			}
			text, _ := json.Marshal(r)
			rules = append(rules, string(text))
		}
		slices.Sort(rules)
		if mirrored {
			if word := words[c.Change]; word != "" {
				c.Change = word
			}
			if word := words[c.TargetChange]; word != "" {
				c.TargetChange = word
			}
		}
		out = append(out, fmt.Sprint(c.PolicyKind, c.Target, c.Paths, c.Change, c.TargetChange, c.SourcesOnly,
			c.Reordered, rules))
	}
	slices.Sort(out)
	return out
}
