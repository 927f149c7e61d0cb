package render

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
	"github.com/dopolicy/kubectl-dopolicy/pkg/requirement"
)

// homepage is where the program and its findings are documented.
const homepage = "https://github.com/dopolicy/kubectl-dopolicy"

// The parts of a SARIF 2.1.0 log that are written; the names are those of the standard.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		Invocations []sarifInvocation    `json:"invocations"`
		Bases       map[string]sarifBase `json:"originalUriBaseIds"`
		Columns     string               `json:"columnKind"`
		Results     []sarifResult        `json:"results"`
		ruleAt      map[string]int       // where the rule of an id is
		seen        map[string]int       // fingerprints
		options     Options
		catalogue   check.Catalogue
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID      string         `json:"id"`
		Short   sarifText      `json:"shortDescription"`
		Help    sarifText      `json:"help"`
		HelpURI string         `json:"helpUri"`
		Config  map[string]any `json:"defaultConfiguration"`
	}
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifBase struct {
		Description sarifText `json:"description"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifResult struct {
		RuleID       string              `json:"ruleId"`
		RuleIndex    int                 `json:"ruleIndex"`
		Level        string              `json:"level"`
		Message      sarifText           `json:"message"`
		Locations    []sarifLocation     `json:"locations,omitempty"`
		Related      []sarifLocation     `json:"relatedLocations,omitempty"`
		Fingerprints map[string]string   `json:"partialFingerprints"`
		Suppressions *[]sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact struct {
			URI  string `json:"uri"`
			Base string `json:"uriBaseId,omitempty"`
		} `json:"artifactLocation"`
		Region *sarifRegion `json:"region,omitempty"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"name"`
		Full string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Status        string `json:"status"`
		Justification string `json:"justification,omitempty"`
	}
)

// sourceRoot is what paths of files are relative to.
const sourceRoot = "%SRCROOT%"

// writeSARIF writes a report as SARIF 2.1.0. What does not count is there too, with who asked for
// it.
func writeSARIF(w *bufio.Writer, r *check.Report, o Options) error {
	run := sarifRun{Columns: "utf16CodeUnits", Results: []sarifResult{}, ruleAt: map[string]int{},
		seen: map[string]int{}, options: o, catalogue: r.Catalogue,
		Bases: map[string]sarifBase{sourceRoot: {sarifText{Text: "the folder in which the check was run"}}}}
	run.Tool.Driver = sarifDriver{Name: "kubectl-dopolicy", Version: o.Version, InformationURI: homepage,
		Rules: []sarifRule{}}
	invocation := sarifInvocation{Successful: true}
	for _, p := range r.Problems {
		invocation.Notifications = append(invocation.Notifications, sarifNotification{sarifLevel(p.Severity),
			sarifText{Text: "incomplete: " + escape.Escape(p.Message)}})
	}
	run.Invocations = []sarifInvocation{invocation}
	for _, f := range r.All() {
		run.Results = append(run.Results, run.newResult(f, len(r.Suppressed) > 0))
	}
	text, err := newJSONText("").encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0",
		[]sarifRun{run}})
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// sarifLevel is the word for a severity.
func sarifLevel(s model.Severity) string {
	if s == model.Info {
		return "note"
	}
	return string(s)
}

func (run *sarifRun) newResult(f check.Finding, suppressing bool) sarifResult {
	text := escape.Escape(f.Message)
	if f.Ref != nil && f.Ref.Name != "*" && !strings.Contains(f.Message, f.Ref.String()) {
		text = escape.Escape(f.Ref.String()) + ": " + text
	}
	if f.Hint != "" {
		text += "\n" + escape.Escape(f.Hint)
	}
	out := sarifResult{RuleID: f.ID, RuleIndex: run.ruleIndex(f.ID), Level: sarifLevel(f.Severity),
		Message:      sarifText{Text: text},
		Fingerprints: map[string]string{"dopolicy/v1": run.computeFingerprint(f)}}
	if at := run.newLocation(f); at.Physical != nil || at.Logical != nil {
		out.Locations = []sarifLocation{at}
	}
	for _, p := range f.Objects {
		out.Related = append(out.Related, run.newLocation(check.Finding{Ref: p.Ref, Origin: p.Origin}))
	}
	if suppressing {
		out.Suppressions = &[]sarifSuppression{}
	}
	if s := f.Suppressed; s != nil {
		kind := "external"
		if s.By == check.ByAnnotation {
			kind = "inSource"
		}
		out.Suppressions = &[]sarifSuppression{{kind, "accepted", escape.Escape(s.Text())}}
	}
	return out
}

// ruleIndex is the place of the rule of an id, which is added the first time.
func (run *sarifRun) ruleIndex(id string) int {
	if at, known := run.ruleAt[id]; known {
		return at
	}
	at := len(run.Tool.Driver.Rules)
	run.ruleAt[id] = at
	documented, known := run.catalogue.Rule(id)
	page := "findings"
	if strings.HasPrefix(id, requirement.CodePrefix) {
		page = "requirements"
	}
	out := sarifRule{ID: id, HelpURI: homepage + "/blob/main/docs/" + page + ".md",
		Config: map[string]any{"level": "warning"}}
	if known {
		out.Short.Text = documented.Summary
		out.Help = sarifText{Text: "When: " + documented.Summary + ".\nWhat to do: " + documented.Fix + ".",
			Markdown: "**When:** " + documented.Summary + ".\n\n**What to do:** " + documented.Fix + "."}
		if page == "findings" {
			out.HelpURI += "#" + strings.ToLower(id)
		}
		out.Config["level"] = sarifLevel(documented.Severities[0])
	} else {
		out.Short.Text = "a requirement of the requirements file is not met: " + strings.TrimPrefix(id, "requirement/")
		out.Help.Text = out.Short.Text
	}
	run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, out)
	return at
}

func (run *sarifRun) newLocation(f check.Finding) sarifLocation {
	var out sarifLocation
	if file := run.options.relativeFile(f.Origin); file != "" {
		out.Physical = &sarifPhysical{}
		out.Physical.Artifact.URI, out.Physical.Artifact.Base = run.options.fileURI(file)
		if f.Origin.Line > 0 {
			out.Physical.Region = &sarifRegion{f.Origin.Line}
		}
	}
	if f.Ref != nil {
		out.Logical = []sarifLogical{{escape.Escape(f.Ref.Name), escape.Escape(f.Ref.String()), "resource"}}
	}
	return out
}

// lineNumber is a place in a file as messages have it.
var lineNumber = regexp.MustCompile(`:\d+`)

// computeFingerprint is the same as long as the finding is, wherever it moves in its file. Findings
// that nothing tells apart are numbered.
func (run *sarifRun) computeFingerprint(f check.Finding) string {
	parts := []string{f.ID, lineNumber.ReplaceAllString(f.StableMessage(), "")}
	if f.Ref != nil {
		parts = append(parts, f.Ref.Group, f.Ref.String())
	} else if f.Origin != nil {
		parts = append(parts, run.options.relativeFile(f.Origin))
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	text := hex.EncodeToString(sum[:16])
	run.seen[text]++
	return fmt.Sprintf("%s:%d", text, run.seen[text])
}
