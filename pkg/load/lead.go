package load

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Kinds of leads.
const (
	fluxKustomization  = "kustomize.toolkit.fluxcd.io/Kustomization"
	helmRelease        = "helm.toolkit.fluxcd.io/HelmRelease"
	argoApplication    = "argoproj.io/Application"
	argoApplicationSet = "argoproj.io/ApplicationSet"
	fluxSource         = "source.toolkit.fluxcd.io/"
)

// lead is an object that says what is deployed from where.
type lead struct {
	kind            string
	namespace, name string
	value           any
	at              model.Origin
	into            string  // the cluster that it is in, if something else deploys it
	made            []*lead // the Applications that an ApplicationSet makes, if it was asked for them
	late            bool    // it was put behind others, which may bring the Secret that it takes variables from
	file            string  // the real path of the file it stands in; "" where it came out of a build
}

// String is how problems call a lead.
func (l *lead) String() string { return path.Base(l.kind) + " " + l.namespace + "/" + l.name }

func (l *lead) text(path ...string) string { return model.Text(l.value, path...) }

// list is the entries of a list in a lead.
func (l *lead) list(path ...string) []any {
	list, _ := model.Get(l.value, path...).([]any)
	return list
}

// key tells leads apart. Two of one name, as those of two clusters, are two.
func (l *lead) key() string {
	spec, _ := json.Marshal(model.Get(l.value, "spec"))
	return l.kind + " " + l.namespace + "/" + l.name + " " + string(spec)
}

// leads are those among the objects of a document. Objects that were read from a cluster lead nowhere: what they deployed is in the cluster too.
func (r *repo) leads(p piece) []*lead {
	if p.from != "" || !bytes.Contains(p.text, []byte("toolkit.fluxcd.io/v")) && !bytes.Contains(p.text, []byte("argoproj.io/v")) {
		return nil
	}
	docs, failed := r.walk.parse(p.text)
	if failed != nil { // it is told when the document is read
		return nil
	}
	var out []*lead
	for _, doc := range docs {
		for _, v := range items(doc.value) {
			group, _, _ := strings.Cut(model.Text(v, "apiVersion"), "/")
			l := &lead{kind: group + "/" + model.Text(v, "kind"), name: model.Text(v, "metadata", "name"), value: v, file: p.real,
				namespace: cmp.Or(model.Text(v, "metadata", "namespace"), p.namespace, r.o.Namespace, "default"),
				at:        model.Origin{File: p.file.name, Line: p.line + doc.lineOf() - 1}}
			switch {
			case l.name == "" || l.text("metadata", "uid") != "":
			case strings.HasPrefix(l.kind, fluxSource):
				r.hand.know(l)
			case slices.Contains([]string{fluxKustomization, helmRelease, argoApplication, argoApplicationSet}, l.kind):
				out = append(out, l)
			}
		}
	}
	return out
}

// paths are where a lead leads, from the root of its repository.
func (l *lead) paths() []string {
	switch l.kind {
	case fluxKustomization:
		return []string{l.text("spec", "path")}
	case argoApplication:
		var out []string
		for _, s := range l.sources() {
			if model.Text(s, "chart") == "" && model.Get(s, "path") != nil {
				out = append(out, model.Text(s, "path"))
			}
		}
		return out
	case helmRelease:
		if l.text("spec", "chart", "spec", "sourceRef", "kind") != "HelmRepository" && l.text("spec", "chart", "spec", "chart") != "" {
			return []string{l.text("spec", "chart", "spec", "chart")}
		}
	}
	return nil
}

// sources are those of an Application.
func (l *lead) sources() []any {
	if list := l.list("spec", "sources"); len(list) > 0 {
		return list
	}
	if s := model.Get(l.value, "spec", "source"); s != nil {
		return []any{s}
	}
	return nil
}

// settle finds out what the leads in files count from and where they lead.
func (r *repo) settle(ctx context.Context) {
	r.hand.remotes = remotes(r.tops)
	all := slices.Clone(r.found)
	meet := func(l *lead) {
		for i, o := range l.origins() {
			_, _, there := r.locate(l.paths()[i])
			r.hand.meet(o, there && !rootPath(l.paths()[i]))
		}
	}
	for _, l := range all {
		meet(l)
		if l.kind == argoApplicationSet {
			for url, there := range newGenerator(&r.land, &r.hand, l).repositories(ctx, l.list("spec", "generators")) {
				r.hand.meet(origin{"argo", url, url}, there)
			}
		}
	}
	for _, l := range r.found {
		if l.kind == argoApplicationSet {
			l.made, _ = newGenerator(&r.land, &r.hand, l).applications(ctx, l)
			for _, app := range l.made {
				meet(app)
			}
			all = append(all, l.made...)
		}
	}
	r.claims = claims{}
	for _, l := range all {
		if l.kind == helmRelease { // it leads to a chart, which nothing else reads
			continue
		}
		for i, o := range l.origins() {
			if dir, _, ok := r.locate(l.paths()[i]); ok && r.hand.holds(o) {
				r.claims[dir.String()] = true
			}
		}
	}
}

// bootstrap is a lead with which everything begins: one that stands in the folder it leads to, else one in a folder that is read through nothing
// but leads that were not followed, as it is where that folder leaves out its own. Nil: there is none that was not followed.
func (r *repo) bootstrap() *lead {
	l := r.first(func(l *lead, dir string) bool { return r.deploys(dir, l.file) })
	if l == nil {
		l = r.first(func(l *lead, _ string) bool {
			in := filepath.Dir(l.file)
			return l.file != "" && r.claims.hold(in) && !r.entered.hold(in)
		})
	}
	if l != nil {
		r.seen[l.key()] = true
	}
	return l
}

// first is the lead that was not followed, begins something and leads to the topmost folder.
func (r *repo) first(begins func(l *lead, dir string) bool) *lead {
	var best *lead
	var at string
	for _, l := range r.unreached() {
		for _, to := range append([]*lead{l}, l.made...) {
			for i, path := range to.paths() {
				dir, _, ok := r.locate(path)
				if !ok || !r.hand.holds(to.origins()[i]) || !begins(l, dir.String()) {
					continue
				}
				if best == nil || cmp.Or(cmp.Compare(len(dir), len(at)), cmp.Compare(dir.String(), at), l.at.Compare(best.at)) < 0 {
					best, at = l, dir.String()
				}
			}
		}
	}
	return best
}

// deploys reports whether a file is deployed with a folder that holds it: no kustomization on the way leaves it out.
func (r *repo) deploys(dir, file string) bool {
	if file == "" || !(claims{dir: true}).hold(filepath.Dir(file)) {
		return false
	}
	if r.used[file] {
		return true
	}
	for up := filepath.Dir(file); ; up = filepath.Dir(up) {
		if r.folders[up] != nil {
			return false
		}
		if up == dir {
			return true
		}
	}
}

// unreached are the leads that stand in files and were not followed, nor any other that leads to the same place.
func (r *repo) unreached() []*lead {
	return slices.DeleteFunc(slices.Clone(r.found), func(l *lead) bool {
		paths := l.paths()
		if r.seen[l.key()] {
			return true
		}
		return len(paths) == 0 && len(l.made) == 0 || slices.ContainsFunc(paths, func(path string) bool { return r.reached[l.kind+" "+path] })
	})
}

// omission is why leads were not rendered.
type omission struct {
	kind, why, hint string
	which           []fmt.Stringer
	at              model.Origin
	info            bool // the answer stands
	part            bool // they were rendered, but not wholly
}

// omissions are what was left out of a reading.
type omissions struct {
	omitted []*omission
	remarks []model.Problem // about what was followed
}

// omit notes that a lead was not rendered.
func (r *omissions) omit(l *lead, why, hint string) {
	r.add(omission{kind: l.kind, why: why, hint: hint, at: l.at}, l)
}

// omitPart notes that a lead was not rendered wholly.
func (r *omissions) omitPart(l *lead, why, hint string) {
	r.add(omission{kind: l.kind, why: why, hint: hint, at: l.at, part: true}, l)
}

func (r *omissions) add(o omission, which fmt.Stringer) {
	i := slices.IndexFunc(r.omitted, func(other *omission) bool { return other.kind == o.kind && other.why == o.why })
	if i < 0 {
		i = len(r.omitted)
		r.omitted = append(r.omitted, &o)
	}
	if !slices.Contains(r.omitted[i].which, which) {
		r.omitted[i].which = append(r.omitted[i].which, which)
	}
}

// problem is one problem for all that were not rendered for one reason.
func (o *omission) problem() model.Problem {
	const most = 5
	var names []string
	for _, w := range o.which {
		_, name, _ := strings.Cut(w.String(), " ")
		names = append(names, name)
	}
	slices.Sort(names)
	not := "not rendered"
	if o.part {
		not = "rendered in part"
	}
	message := fmt.Sprintf("%s is %s: %s", o.which[0], not, o.why)
	if n := len(names); n > 1 {
		more := ""
		if n > most {
			names, more = names[:most], fmt.Sprintf(" and %d more", n-most)
		}
		message = fmt.Sprintf("%d %ss are %s: %s (%s%s)", n, path.Base(o.kind), not, o.why, strings.Join(names, ", "), more)
	}
	p := model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Message: message, Hint: o.hint}
	if o.info {
		p.Severity = model.Info
	}
	if o.at.File != "" {
		p.Origin = &o.at
	}
	return p
}
