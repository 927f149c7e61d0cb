package ingress

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// SettingReader has settings of one policy kind, and who set them.
type SettingReader interface {
	Value(path ...string) any
	Source(path ...string) model.Ref
}

// SettingField is a field of settings under its canonical name (Setting).
type SettingField struct{ Name, Path string }

// UnknownField is a field of settings that may change answers in a way that is not evaluated.
type UnknownField struct{ Path, May string }

// NewEffects starts the effects of the policies of one implementation; nil: the Gateway is another
// one's, or no rule takes the request.
func NewEffects(r *resolve.Resolution, a *request.Answer, implementation string) *Effects {
	if a.Gateway == topology.None || a.Rule == topology.None || r.Graph.ImplementationName(a.Gateway) != implementation {
		return nil
	}
	e := &Effects{}
	if r.Snapshot.HasNoValues() {
		e.Unknown = append(e.Unknown, "the values of settings are left out of the input")
	}
	for _, f := range a.BackendExtensions(r.Graph) {
		e.Unknown = append(e.Unknown, fmt.Sprintf("the filter %s of a backend may change or answer requests, "+
			"which is not evaluated", formatSource(f)))
	}
	return e
}

// AddSettings adds the settings that are set among some fields, but for those that routes set
// themselves.
func (e *Effects) AddSettings(from SettingReader, fields []SettingField) {
	for _, f := range fields {
		path := strings.Split(f.Path, ".")
		if v := from.Value(path...); v != nil && !strings.HasSuffix(from.Source(path...).Kind, "Route") {
			e.Settings = append(e.Settings, Setting{Name: f.Name, Value: formatValue(v), Source: from.Source(path...),
				Field: f.Path})
		}
	}
}

// formatValue is a value as text: of a list of scalars its entries, of all else JSON.
func formatValue(v any) string {
	switch t := v.(type) {
	case map[string]any:
		return string(model.AppendJSON(nil, t))
	case []any:
		var words []string
		for _, entry := range t {
			words = append(words, formatValue(entry))
		}
		return strings.Join(words, " ")
	}
	return fmt.Sprint(v)
}

// AddUnknownFields says of each field that is set what it may do.
func (e *Effects) AddUnknownFields(from SettingReader, fields []UnknownField) {
	for _, f := range fields {
		path := strings.Split(f.Path, ".")
		if from.Value(path...) != nil {
			e.AddUnknown(from.Source(path...), f.Path, f.May)
		}
	}
}

// AddUnknown says what a field of an object may do.
func (e *Effects) AddUnknown(source model.Ref, field, may string) {
	e.Unknown = append(e.Unknown, fmt.Sprintf("%s of %s %s, which is not evaluated", field, formatSource(source), may))
}

// AddOpenFilters says of the open filters of a rule that are not known that they may answer.
func (e *Effects) AddOpenFilters(filters []request.OpenFilter, isKnown func(model.Ref) bool) {
	for _, f := range filters {
		switch {
		case f.Type != "ExtensionRef":
			e.Unknown = append(e.Unknown, fmt.Sprintf("a filter %s may answer requests, which is not evaluated", f.Type))
		case !isKnown(f.Ref):
			e.Unknown = append(e.Unknown, fmt.Sprintf("the filter %s may answer requests, which is not evaluated",
				formatSource(f.Ref)))
		}
	}
}

// AddCover notes that all is said of a field.
func (e *Effects) AddCover(source model.Ref, field string) {
	e.Covers = append(e.Covers, FieldRef{source, field})
}

func formatSource(ref model.Ref) string { return ref.Kind + " " + ref.FullName() }

// LimitBody sets the limit of bodies where it is lower than what was set before.
func (e *Effects) LimitBody(bytes int64) {
	if bytes > 0 && (e.BodyLimit == 0 || bytes < e.BodyLimit) {
		e.BodyLimit = bytes
	}
}

// AddRewrite adds a rewrite behind those that were added before.
func (e *Effects) AddRewrite(rewrite func(path string) (string, bool)) {
	before := e.Rewrite
	if before == nil {
		e.Rewrite = rewrite
		return
	}
	e.Rewrite = func(path string) (string, bool) {
		path, changed := before(path)
		path, changedAgain := rewrite(path)
		return path, changed || changedAgain
	}
}

// ReplaceMatches makes a rewrite that replaces all matches of an expression by a template in the
// syntax of Go.
func ReplaceMatches(pattern, template string) (func(path string) (string, bool), error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("compiling the expression of a rewrite: %w", err)
	}
	return func(path string) (string, bool) {
		if !re.MatchString(path) {
			return path, false
		}
		return re.ReplaceAllString(path, template), true
	}, nil
}

// TranslateSubstitution translates a substitution of RE2, in which \1 is the first group, \0 the whole
// match and \\ a backslash, to the syntax of Go.
func TranslateSubstitution(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '$':
			out.WriteString("$$")
		case c == '\\' && i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9':
			i++
			out.WriteString("${" + text[i:i+1] + "}")
		case c == '\\' && i+1 < len(text) && text[i+1] == '\\':
			i++
			out.WriteByte('\\')
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// ParseRanges reads networks and single addresses; false: one of them is neither.
func ParseRanges(texts []string) ([]netip.Prefix, bool) {
	var out []netip.Prefix
	for _, text := range texts {
		if p, err := netip.ParsePrefix(text); err == nil {
			out = append(out, p.Masked())
			continue
		}
		a, err := netip.ParseAddr(text)
		if err != nil {
			return nil, false
		}
		a = a.Unmap()
		out = append(out, netip.PrefixFrom(a, a.BitLen()))
	}
	return out, true
}

// AllAddresses are the ranges of all addresses.
func AllAddresses() []netip.Prefix {
	return []netip.Prefix{netip.PrefixFrom(netip.IPv4Unspecified(), 0), netip.PrefixFrom(netip.IPv6Unspecified(), 0)}
}

// FindOutcome returns the outcome of an answer where it is known what its filters do, as far as Unknown
// does not say otherwise.
func (e *Effects) FindOutcome(a *request.Answer) request.Outcome {
	if a.DependsOnFiltersAlone() {
		return a.Assumed
	}
	return a.Outcome
}
