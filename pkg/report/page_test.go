package report

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/overridden"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/protection"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/prove"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/status"
)

// evil are texts that want to be more than text.
func evil() []string {
	return []string{`</script><script>alert(1)</script>`, `<!--<script>`, `]]>`, `" onload="alert(1)`,
		`'><img src=x onerror=alert(1)>`, `javascript:alert(1)`,
		"\u2028alert(1)\u2029", `</title></head><body onload=alert(1)>`, `</style><script>alert(1)</script>`,
		`&lt;script&gt;`, "\x00\x1b[2J\u202e", `{{.}}`, "`${1}`"}
}

// hostileReport has evil texts wherever the input has a say.
func hostileReport() *Report {
	all := strings.Join(evil(), " ")
	ref := model.Ref{Group: all, Kind: all, Namespace: all, Name: all, Section: all}
	problem := model.Problem{Severity: model.Warning, Code: "TargetNotFound", Ref: &ref, Message: all, Hint: all}
	out := &Report{
		RulesWithoutPolicy: []model.Ref{ref},
		Facts: Facts{Title: all, Version: all, Inputs: []Input{{Kind: Path, Name: all}},
			Scope: Scope{Namespace: all}},
		Topology: &graph.Topology{Nodes: []graph.GraphNode{{ID: all, Ref: ref, Kind: "rule",
			Labels: map[string]string{all: all}}}, Edges: []graph.GraphEdge{{From: all, To: all}}},
		Effective: &effective.EffectivePolicyList{Items: []view.EffectivePolicy{{PolicyKind: all, Target: ref,
			Spec:  map[string]any{all: evil()},
			Rules: []view.Rule{{Name: all, Value: all, Sources: []view.Source{{Target: &ref, Level: all}}}}}}},
		Overridden: &overridden.OverriddenRuleList{Items: []overridden.OverriddenRule{{Rule: all, Message: all}}},
		Status:     &status.StatusList{Items: []status.ObjectStatus{{Object: ref, Note: all}}},
		Findings:   &check.Report{Items: []check.Finding{check.NewFinding(problem)}},
		Classes: &prove.RuleClassList{Undecided: []prove.Undecided{{Why: all, Example: all}}, LeftOut: evil(),
			Items: []prove.RuleClasses{{Rule: ref, Classes: []prove.RuleClass{{Class: all, Listener: &ref,
				Command: all, Unknown: all}}, Example: all, Verdict: all, Path: []requests.PathPoint{{Point: all, Kind: all,
				Object: ref, Policies: []model.Ref{ref}, Verdict: all, Because: all, Identity: &all, Backend: &ref,
				By: []requests.DecidingRule{{Policy: ref, Rule: all, Title: all, Action: all}}}}}}},
		Protection: &protection.RuleProtectionList{Items: []protection.RuleProtection{{Rule: ref,
			Protection: &protection.Protection{
				Authentication: protect.Result{Verdict: gate.Verdict(all), Methods: evil(),
					By: []protect.Use{{Object: ref, Field: all}}, Because: []protect.Reason{{Code: gate.Code(all),
						Message: all}}}}}}},
	}
	out.Finish("Report", []model.Problem{problem})
	return out
}

// hostileSVG has, beside a picture, all that a picture must not have.
const hostileSVG = `<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<!-- <script>alert(1)</script> -->
<svg width="8pt" viewBox="0 0 1 1" xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" onload="alert(1)" id="data">
<style>[fill="#fff"] { fill: #000 }</style>
<g id="app" class="node" style="fill:url(http://example.com)"><title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;</title>
<a xlink:href="javascript:alert(1)" href="http://example.com" target="_top"><text x="1" fill="url(http://example.com/)" onclick="alert(1)">a &lt;b&gt; "c"</text></a>
<a xlink:href="#/node/a%2Fb"><path d="M0,0" filter="url(#f)"/></a></g></svg>`

func written(t *testing.T, r *Report, p Picture) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, packedOf(t, r), p); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// packedOf packs a report that is there already.
func packedOf(t *testing.T, r *Report) *Packed {
	t.Helper()
	p := newPacked()
	documents := []any{r.Effective, r.Topology, r.Overridden, r.Status, r.Findings, r.Classes, r.Protection}
	if r.Dataplane != nil {
		documents = append(documents, r.Dataplane)
	}
	if r.Picture != nil {
		documents = append(documents, pictureTopology{r.Picture})
	}
	for _, d := range documents {
		if err := p.addDocument(d); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.addOpening(opening{r.Envelope, r.Facts, r.RulesWithoutPolicy}); err != nil {
		t.Fatal(err)
	}
	return p
}

// elements calls see for every element of a page.
func elements(t *testing.T, page []byte, see func(n *html.Node)) {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode {
			see(n)
		}
		if n.Type == html.CommentNode {
			t.Errorf("a comment: %q", n.Data)
		}
	}
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func text(n *html.Node) string {
	if n.FirstChild == nil {
		return ""
	}
	return n.FirstChild.Data
}

// TestNothingOfTheInputRuns parses a page with evil texts as a browser does.
func TestNothingOfTheInputRuns(t *testing.T) {
	drawn, err := Draw(hostileReport().Topology, func(string, []byte) ([]byte, error) {
		return []byte(hostileSVG),
			nil
	})
	if err != nil {
		t.Fatal(err)
	}
	page := written(t, hostileReport(), drawn)
	var policy, data, title string
	var scripts, styles, links []string
	ids := map[string]int{}
	elements(t, page, func(n *html.Node) {
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || strings.Contains(a.Val, "alert") &&
				n.Data != "meta" {
				t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
			}
		}
		if id := attr(n, "id"); id != "" {
			ids[id]++
		}
		switch n.Data {
		case "script":
			if attr(n, "id") == "data" {
				data = text(n)
				if attr(n, "type") != "application/json" {
					t.Error("the data may run")
				}
				break
			}
			scripts = append(scripts, text(n))
		case "style":
			styles = append(styles, text(n))
		case "title":
			if n.Namespace == "" {
				title = text(n)
			}
		case "a", "link":
			links = append(links, attr(n, "href"))
		case "meta":
			if attr(n, "http-equiv") == "Content-Security-Policy" {
				policy = attr(n, "content")
			}
		case "img", "iframe", "object", "embed", "base", "form", "foreignObject", "image", "use", "filter":
			t.Errorf("<%s>", n.Data)
		}
	})
	if !slices.Equal(scripts, []string{script}) || !slices.Equal(styles, []string{style, pictureStyle()}) {
		t.Errorf("scripts %q, styles %q", scripts, styles)
	}
	if !slices.Equal(links, []string{"data:,", "#/node/a%2Fb"}) {
		t.Errorf("links %q", links)
	}
	if want := map[string]int{"app": 1, "picture": 1, "data": 1}; !reflect.DeepEqual(ids, want) {
		t.Errorf("ids %v", ids)
	}
	if want := escape.Escape(hostileReport().Title); title != want {
		t.Errorf("title %q, want %q", title, want)
	}
	if !reflect.DeepEqual(unpack(t, []byte(data)), plain(t, hostileReport())) {
		t.Error("the data is not the report")
	}
	holdsOnlyTo(t, policy, scripts, styles)
}

// holdsOnlyTo fails if the security policy of a page lets more be than these scripts and styles.
func holdsOnlyTo(t *testing.T, policy string, scripts, styles []string) {
	t.Helper()
	sums := func(texts []string) string {
		var out []string
		for _, s := range texts {
			sum := sha256.Sum256([]byte(s))
			out = append(out, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
		}
		return strings.Join(out, " ")
	}
	want := "default-src 'none'; script-src " + sums(scripts) + "; style-src " + sums(styles) +
		"; img-src data:; base-uri 'none'; form-action 'none'"
	if policy != want {
		t.Errorf("policy %q\nwant   %q", policy, want)
	}
}

// TestLargeDocumentsAreCompressed reads back what a page holds that is larger than it should be.
func TestLargeDocumentsAreCompressed(t *testing.T) {
	packed, err := packedOf(t, hostileReport()).packText()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	p := pageWriter{bufio.NewWriter(&b)}
	if err := errors.Join(p.writeData(packed, len(packed)-1), p.w.Flush()); err != nil {
		t.Fatal(err)
	}
	found := false
	elements(t, b.Bytes(), func(n *html.Node) {
		if n.Data != "script" {
			return
		}
		found = true
		if attr(n, "id") != "data" || attr(n, "data-encoding") != "gzip" || attr(n, "type") != "text/plain" {
			t.Errorf("%v", n.Attr)
		}
		z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text(n))))
		if err != nil {
			t.Fatal(err)
		}
		plainText, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(unpack(t, plainText), plain(t, hostileReport())) {
			t.Error("the data is not the report")
		}
	})
	if !found {
		t.Error("no data")
	}
}

// TestFrontEndStaysInItsElements: it is written as it is.
func TestFrontEndStaysInItsElements(t *testing.T) {
	for name, text := range map[string]string{"app.js": script, "app.css": style} {
		lower := strings.ToLower(text)
		for _, end := range []string{"</script", "</style", "<!--", "<script", "\r", "\x00"} {
			if strings.Contains(lower, end) {
				t.Errorf("%s has %q in it", name, end)
			}
		}
	}
}

func TestPageWithoutPicture(t *testing.T) {
	page := string(written(t, hostileReport(), Picture{Missing: "no <program> that draws"}))
	if !strings.Contains(page, `<div id="picture"><p>no &lt;program&gt; that draws</p></div>`) ||
		strings.Contains(page, "<svg") {
		t.Error(page)
	}
}

func TestNoPicture(t *testing.T) {
	for _, svg := range []string{"", "text", "digraph {}", "<html/>", "<svg>",
		"<!DOCTYPE x [<!ENTITY e 'x'>]><svg viewBox='0 0 1 1'><text>&e;</text></svg>"} {
		if drawn, err := Draw(&graph.Topology{}, func(string, []byte) ([]byte, error) {
			return []byte(svg),
				nil
		}); err == nil {
			t.Errorf("%q is taken for a picture: %q", svg, drawn.svg)
		}
	}
}

func TestLinks(t *testing.T) {
	for id, want := range map[string]string{
		"HTTPRoute.gateway.networking.k8s.io/a/b#rule-1": "#/node/HTTPRoute.gateway.networking.k8s.io%2Fa%2Fb%23rule-1",
		"a b%ä!'()*~_\"": "#/node/a%20b%25%C3%A4!'()*~_%22",
	} {
		if got := nodeLink(id); got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
}
