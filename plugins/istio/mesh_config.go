package istio

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// API groups, and kinds that more than one file looks at.
const (
	gatewayGroup    = "gateway.networking.k8s.io"
	networkingGroup = "networking.istio.io"
	securityGroup   = "security.istio.io"
	extensionsGroup = "extensions.istio.io"
	telemetryGroup  = "telemetry.istio.io"
)

var (
	gatewayKind      = model.GroupKind{Group: gatewayGroup, Kind: "Gateway"}
	gatewayClassKind = model.GroupKind{Group: gatewayGroup, Kind: "GatewayClass"}
	namespaceKind    = model.GroupKind{Kind: "Namespace"}
	serviceKind      = model.GroupKind{Kind: "Service"}
	serviceEntryKind = model.GroupKind{Group: networkingGroup, Kind: "ServiceEntry"}
)

// sections are those of Telemetry, and of the default providers.
var sections = []string{"tracing", "metrics", "accessLogging"}

// defaultRoot is the root namespace of a mesh that names none.
const defaultRoot = "istio-system"

// meshConfig is what the settings say of a mesh and, where they say nothing, its ConfigMap.
type meshConfig struct {
	root             string
	trustDomain      string         // of identities
	selectors        bool           // policies with a selector hold at ingress gateways as well
	providers        []any          // entries of extensionProviders, or names; nil: not known
	invalidProviders []any          // names of those that are known to be no good
	defaults         map[string]any // defaultProviders: the list of a section is there if it is known
	config           map[string]any // defaultConfig
	configMap        *model.Object  // the ConfigMap; nil: there is none in the input
	hasMoreConfigs   bool           // there are more ConfigMaps, of other control planes
}

func readMeshConfig(in *model.Snapshot, s model.Settings) meshConfig {
	m := meshConfig{root: s.Text("istio.rootNamespace"),
		selectors: s.Bool("istio.enableSelectorBasedK8sGatewayPolicy"), defaults: map[string]any{},
		config: map[string]any{}}
	var written map[string]any
	m.configMap, m.hasMoreConfigs = findConfigMap(in, m.root)
	if m.configMap != nil && yaml.Unmarshal([]byte(m.configMap.Text("data", "mesh")), &written) != nil {
		m.configMap, written = nil, nil
	}
	if m.root == "" {
		if m.root, _ = written["rootNamespace"].(string); m.root == "" {
			m.root = defaultRoot
		}
	}
	m.trustDomain, _ = written["trustDomain"].(string)
	m.trustDomain = cmp.Or(m.trustDomain, "cluster.local")
	m.providers = parseList(s.Text("istio.extensionProviders"), written["extensionProviders"])
	told := m.providers != nil || m.configMap != nil // the input says how the mesh is configured
	if told {
		m.providers = withBuiltins(m.providers)
	}
	m.invalidProviders = parseList(s.Text("istio.invalidExtensionProviders"), nil)
	defaults, _ := written["defaultProviders"].(map[string]any)
	for _, section := range sections {
		if list := parseList(s.Text("istio.defaultProviders."+section), defaults[section]); list != nil || told {
			m.defaults[section] = list
		}
	}
	if c, ok := written["defaultConfig"].(map[string]any); ok {
		m.config = c
	}
	for _, field := range []string{"concurrency", "image", "environmentVariables"} {
		var v any
		if text := s.Text("istio.defaultConfig." + field); text != "" && yaml.Unmarshal([]byte(text), &v) == nil {
			m.config[strings.Replace(field, "environmentVariables", "proxyMetadata", 1)] = v
		}
	}
	return m
}

// findConfigMap is the ConfigMap with the configuration of the mesh: istio in the root namespace or
// in istio-system, else the only one that there is, which may be that of a revision; more is true
// where there are others.
func findConfigMap(in *model.Snapshot, root string) (o *model.Object, more bool) {
	var all []*model.Object
	for _, c := range in.OfKind(model.GroupKind{Kind: "ConfigMap"}) {
		named := c.Ref.Name == "istio" || strings.HasPrefix(c.Ref.Name, "istio-")
		if named && c.Text("data", "mesh") != "" {
			all = append(all, c)
		}
	}
	for _, home := range []string{root, defaultRoot} {
		for _, c := range all {
			if c.Ref.Name == "istio" && c.Ref.Namespace == home {
				return c, len(all) > 1
			}
		}
	}
	if len(all) == 1 {
		return all[0], false
	}
	return nil, len(all) > 1
}

// parseList is a list that a setting holds as JSON, else the one that is written; nil if neither is
// there.
func parseList(setting string, written any) []any {
	var list []any
	if setting != "" {
		if yaml.Unmarshal([]byte(setting), &list) != nil { // JSON is YAML
			list = []any{setting}
		}
		if list == nil {
			list = []any{}
		}
		return list
	}
	list, _ = written.([]any)
	return list
}

// defaultProviders are the names of the default providers of a section; known is false where nobody
// says which there are.
func (m *meshConfig) defaultProviders(section string) (names []string, known bool) {
	list, known := m.defaults[section]
	all, _ := list.([]any)
	for _, p := range all {
		names = append(names, providerName(p))
	}
	return names, known
}

// controllers are the controllerNames of Istio's GatewayClasses.
var controllers = []string{"istio.io/gateway-controller", "istio.io/mesh-controller", "istio.io/unmanaged-gateway"}

// isPresent reports whether the input, or what is set, has anything of Istio in it: other inputs
// have Pods too.
func isPresent(in *model.Snapshot, s model.Settings) bool {
	for _, gk := range in.Kinds() {
		switch gk.Group {
		case networkingGroup, securityGroup, extensionsGroup, telemetryGroup:
			return true
		}
	}
	if hasMeshSettings(s) {
		return true
	}
	for _, o := range in.OfKind(gatewayClassKind) {
		if slices.Contains(controllers, o.Text("spec", "controllerName")) {
			return true
		}
	}
	for _, o := range in.OfKind(namespaceKind) {
		if o.Labels[injectNamespace] == "enabled" || o.Labels[revision] != "" || o.Labels[dataplane] == "ambient" ||
			o.Labels[useWaypoint] != "" {
			return true
		}
	}
	o, more := findConfigMap(in, "")
	return o != nil || more
}

// hasMeshSettings reports whether anything is set about a mesh.
func hasMeshSettings(s model.Settings) bool {
	return slices.ContainsFunc([]string{"rootNamespace", "extensionProviders", "defaultProviders.tracing",
		"defaultProviders.metrics", "defaultProviders.accessLogging",
		"defaultConfig.concurrency", "defaultConfig.image", "defaultConfig.environmentVariables"},
		func(name string) bool { return s.Text("istio."+name) != "" })
}

// findPathNormalization is the option by which the proxies of the mesh normalize paths; "" if
// nobody says which.
func findPathNormalization(r *resolve.Resolution, s model.Settings) string {
	if chosen := s.Text("istio.pathNormalization"); chosen != "" {
		return chosen
	}
	source, _ := findConfigMap(r.Snapshot, s.Text("istio.rootNamespace"))
	var written struct {
		PathNormalization struct {
			Normalization string `yaml:"normalization"`
		} `yaml:"pathNormalization"`
	}
	if source == nil || yaml.Unmarshal([]byte(source.Text("data", "mesh")), &written) != nil {
		return ""
	}
	return written.PathNormalization.Normalization
}
