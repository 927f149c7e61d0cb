package descriptor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// Setting is a vendor switch that changes results, as `--vendor-setting` takes it.
type Setting struct {
	Name    string // vendor.name
	Type    string // text, bool or version
	Values  []string
	Default string
	Doc     string
	Alias   string            // the core setting it stands for
	Auto    string            // the function that decides where the value is "auto"
	Like    map[string]string // the value lists policy kinds, each like one of these, by scope

	at string // file:line
}

// vendorReader reads a Vendor document.
type vendorReader struct {
	*form.Reader
	funcs    Functions
	name     string
	settings []Setting

	controllers []string
	cluster     []model.GroupKind
	knowledge   *Knowledge
	routes      []routeKind
	requests    *RequestNormalization
	routing     []RoutingProfile
	review      Review
}

func (r *vendorReader) readVendor(n *yaml.Node) {
	none := func(*yaml.Node) {}
	fields := map[string]form.Field{"apiVersion": none, "kind": none, "name": r.Text(&r.name),
		"controllers": r.Texts(&r.controllers),
		"settings":    func(n *yaml.Node) { r.List(n, r.readSetting) }, "cluster": r.readClusterKinds,
		"routes": r.routeKinds, "requests": r.readRequests,
		"routing": r.readRouting, "reviewed": r.readReview}
	maps.Copy(fields, r.knowledgeFields())
	r.Object(n, fields)
	if r.name == "" {
		r.Fail(n, "field \"name\" is missing")
	}
	for i := range r.settings {
		r.settings[i].Name = r.name + "." + r.settings[i].Name
	}
}

// likeField reads which described kind the kinds of a setting are like, by their scope.
func (r *vendorReader) likeField(s *Setting) form.Field {
	return func(n *yaml.Node) {
		s.Like = map[string]string{}
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			s.Like[n.Content[i].Value] = n.Content[i+1].Value
		}
		if len(s.Like) == 0 {
			r.Fail(n, "an object of scopes and kinds is expected here")
		}
	}
}

// readClusterKinds reads the vendor's kinds without namespace that are no policies.
func (r *vendorReader) readClusterKinds(n *yaml.Node) {
	var names []string
	r.Texts(&names)(n)
	for _, name := range names {
		r.cluster = append(r.cluster, model.ParseGroupKind(name))
	}
}

func (r *vendorReader) readSetting(n *yaml.Node) {
	s := Setting{Type: "text", at: fmt.Sprintf("%s:%d", r.File, n.Line)}
	r.Object(n, map[string]form.Field{"name": r.Text(&s.Name),
		"type": r.Word(&s.Type, []string{"text", "bool", "version"}), "values": r.Texts(&s.Values),
		"default": func(n *yaml.Node) {
			s.Default = n.Value
			if n.Kind != yaml.ScalarNode {
				r.Fail(n, "a text is expected here")
			}
		}, "doc": r.Text(&s.Doc), "alias": r.Text(&s.Alias), "like": r.likeField(&s),
		"auto": func(n *yaml.Node) { r.Object(n, map[string]form.Field{"func": r.Text(&s.Auto)}) }})
	if _, ok := r.funcs.Auto[s.Auto]; s.Auto != "" && !ok {
		r.Fail(n, "there is no function %q to decide the setting", s.Auto)
	}
	if s.Name == "" || s.Doc == "" {
		r.Fail(n, "a setting needs \"name\" and \"doc\"")
	}
	if s.Type == "bool" && s.Default != "true" && s.Default != "false" {
		r.Fail(n, "the default %q of setting %s is neither true nor false", s.Default, s.Name)
	}
	if s.Type == "version" && !isVersion(s.Default) {
		r.Fail(n, "the default %q of setting %s is no version", s.Default, s.Name)
	}
	if s.Alias == "" && s.Values != nil && !slices.Contains(s.Values, s.Default) {
		r.Fail(n, "the default %q of setting %s is not one of its values", s.Default, s.Name)
	}
	r.settings = append(r.settings, s)
}

// checkSettings reports names that are given twice and aliases of nothing; the settings are sorted
// by name.
func checkSettings(all []Setting) error {
	var lines []string
	for i, s := range all {
		if i > 0 && all[i-1].Name == s.Name {
			lines = append(lines, fmt.Sprintf("%s: setting %s is described twice", s.at, s.Name))
		}
		if s.Alias != "" && !slices.ContainsFunc(all, func(o Setting) bool {
			return o.Name == s.Alias &&
				o.Alias == ""
		}) {
			lines = append(lines, fmt.Sprintf("%s: setting %s is an alias of %s, which does not exist", s.at,
				s.Name, s.Alias))
		}
	}
	if lines == nil {
		return nil
	}
	return &form.Error{Lines: lines}
}

// SettingError is a usage error of a `--vendor-setting`.
type SettingError struct{ Message, Hint string }

// Error is the message without the hint.
func (e *SettingError) Error() string { return e.Message }

// parseSettings checks NAME=VALUE texts against the known settings and fills in the defaults. Later
// ones win.
func parseSettings(known []Setting, texts []string) (model.Settings, error) {
	values := map[string]any{}
	byName := map[string]Setting{}
	var names, chosen []string
	for _, s := range known {
		byName[s.Name] = s
		names = append(names, s.Name)
		if s.Alias == "" {
			values[s.Name] = s.parseValue(s.Default)
		}
	}
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return model.Settings{}, &SettingError{fmt.Sprintf("vendor setting %q has no value", text),
				"write NAME=VALUE, for example " + genericStrategySetting + "=merge"}
		}
		s, ok := byName[name]
		if !ok {
			hint := "known settings: " + strings.Join(names, ", ")
			if near := form.Nearest(name, names); len(near) > 0 {
				hint = "did you mean " + near[0] + "?"
			}
			return model.Settings{}, &SettingError{fmt.Sprintf("unknown vendor setting %q", name), hint}
		}
		value = strings.Trim(value, `"`)
		allowed := s.AllowedValues()
		if len(allowed) > 0 && !slices.Contains(allowed, value) {
			return model.Settings{}, &SettingError{fmt.Sprintf("vendor setting %s cannot be %q", name, value),
				"use one of: " + strings.Join(allowed, ", ")}
		}
		if s.Type == "version" && !isVersion(value) {
			return model.Settings{}, &SettingError{fmt.Sprintf("vendor setting %s cannot be %q", name, value),
				"write a version as numbers with dots between them, such as " + s.Default}
		}
		if s.Alias != "" {
			s.Name = s.Alias
		}
		values[s.Name] = s.parseValue(value)
		chosen = append(chosen, s.Name)
	}
	return model.NewSettings(values).WithChosen(chosen), nil
}

// AllowedValues returns the values that the setting takes; nil if it takes any.
func (s Setting) AllowedValues() []string {
	if s.Type == "bool" {
		return []string{"true", "false"}
	}
	return s.Values
}

func (s Setting) parseValue(text string) any {
	if s.Type == "bool" {
		return text == "true"
	}
	return text
}

// The settings of the Gateway API itself that concern policies.
const (
	SameLevelSetting       = "gatewayapi.sameLevel"
	genericStrategySetting = "gatewayapi.genericStrategy"
)

// coreSettings are the switches that belong to no vendor.
func coreSettings() []Setting {
	text := func(name, doc string, values ...string) Setting {
		return Setting{Name: name, Type: "text", Values: values, Default: values[0], Doc: doc}
	}
	flag := func(name, byDefault, doc string) Setting {
		return Setting{Name: name, Type: "bool", Default: byDefault, Doc: doc}
	}
	return []Setting{
		text(genericStrategySetting, "Strategy of generic policy kinds whose API has no field for it.", "atomic",
			"merge", "patch"),
		text(SameLevelSetting,
			"Which of several generic policies on one target wins: as GEP-713 says (defaults: the newer, overrides: the older), or always the oldest.",
			"gep713", "oldest"),
		flag(gatewayapi.ListenerIsolation, "true",
			"Whether a request that the most specific listener has no rule for is answered with 404, or by the next listener that fits."),
		text(gatewayapi.HostnamePrecedence,
			"Which hostnames decide between routes: those that the route's spec has, or what its intersection with the listener's leaves of them.",
			"original", "intersection"),
		text(gatewayapi.PrefixLength, "Whether a slash at the end of a path prefix counts as one of its characters.",
			"literal", "stripped"),
		text(gatewayapi.RegexRank,
			"Where regular expressions of paths stand: no portable place, right after exact paths, after prefixes, or among prefixes by length.",
			"ambiguous", "afterExact", "afterPrefix", "byLength"),
		text(gatewayapi.RegexDialect,
			"Dialect of regular expressions. They are evaluated as RE2 all the same; the answer then says that it is an approximation.", "re2", "pcre"),
		flag(gatewayapi.RegexAnchored, "true", "Whether a regular expression must match the whole of a path or value."),
		text(gatewayapi.MethodRank,
			"Whether a method match is a criterion of its own, before headers, or counts like one more header.",
			"own", "header"),
		text(gatewayapi.RouteAgeSource, "Whether the age of routes decides between equal matches.",
			"creationTimestamp", "none"),
		flag(gatewayapi.GatewayMerging, "false",
			"Whether the Gateways of a class share their listeners' ports, so that listeners of different Gateways can conflict."),
		flag(gatewayapi.GatewayReachesSets, "true",
			"Whether a policy on a Gateway holds for the listeners of its ListenerSets as well."),
		flag(gatewayapi.TLSTerminate, "true", "Whether the implementation supports TLS listeners with mode Terminate."),
		flag(gatewayapi.TLSModeMixed, "true",
			"Whether the implementation supports TLS listeners of both modes on one port."),
		flag(gatewayapi.CheckCertificates, "false",
			"Whether the content of Secrets and ConfigMaps with certificates is judged, beside their existence."),
	}
}
