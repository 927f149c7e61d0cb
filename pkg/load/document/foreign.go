package document

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// A folder of a repository holds files for many programs, not only for Kubernetes. What is found in
// one, and was not named by the user, counts as a manifest only if it looks like one: the rest is
// counted, and is no mistake.

// canBeForeign reports whether documents of the file may be for another program than Kubernetes.
func (d *objectReader) canBeForeign() bool { return d.cluster == "" && !d.file.Named }

// isForeign reports whether a map with an apiVersion or a kind is for another program than
// Kubernetes: no API server would know it, or it lacks what everybody writes into an object.
func isForeign(m *tree) bool {
	meta := asMap(m.valueAt("metadata"))
	named := meta.valueAt("name") != nil || meta.textAt("generateName") != ""
	if m.valueAt("apiVersion") == nil || m.valueAt("kind") == nil {
		return !isList(m) && !(named && (m.valueAt("spec") != nil || m.valueAt("data") != nil))
	}
	apiVersion, isText := m.valueAt("apiVersion").(string)
	group, version, hasGroup := strings.Cut(apiVersion, "/")
	kind := m.textAt("kind")
	switch {
	case !isText, isProgramGroup(group): // 1 is no version of an API, however it is quoted
		return true
	case named || m.findEntry("items") != nil || isList(m):
		return false
	case !hasGroup:
		return apiVersion != "v1" || !isCoreKind(kind)
	case strings.Contains(version, "/"):
		return true
	}
	if spec := asMap(m.valueAt("spec")); !isKubernetesGroup(group) {
		return !hasTargets(spec)
	}
	return m.valueAt("metadata") == nil && m.valueAt("spec") == nil // as in reports of tests
}

// hasTargets reports whether a spec refers to targets or parents, as those of policies and routes
// do.
func hasTargets(spec *tree) bool {
	return slices.ContainsFunc([]string{"targetRef", "targetRefs", "targetSelectors", "parentRef", "parentRefs"},
		func(field string) bool { return spec.findEntry(field) != nil })
}

// isKubernetesGroup reports whether a group is one of Kubernetes itself or of its projects, whose
// objects are known by their group.
func isKubernetesGroup(group string) bool {
	return slices.Contains([]string{"apps", "autoscaling", "batch", "extensions", "policy"}, group) ||
		strings.HasSuffix(group, ".k8s.io") || strings.HasSuffix(group, "networking.x-k8s.io")
}

// isCoreKind reports whether a kind is one of the group without a name, which gets no new ones. A
// kubeconfig, which has the version v1 too, is none.
func isCoreKind(kind string) bool {
	return slices.Contains([]string{
		"Binding", "ComponentStatus", "ConfigMap", "Endpoints", "Event", "LimitRange", "List", "Namespace", "Node",
		"PersistentVolume", "PersistentVolumeClaim", "Pod", "PodTemplate", "ReplicationController", "ResourceQuota",
		"Secret", "Service", "ServiceAccount",
	}, kind)
}

// isProgramGroup reports whether a group is that of files which programs read from disk. They have
// an apiVersion and a kind like objects, and some have a name too.
func isProgramGroup(group string) bool {
	return strings.HasSuffix(group, ".config.k8s.io") || slices.Contains([]string{
		"apiserver.k8s.io", "audit.k8s.io", "client.authentication.k8s.io", "kubeadm.k8s.io", // of Kubernetes
		"k0sctl.k0sproject.io", "k3d.io", "kind.x-k8s.io", "kubeone.k8c.io", // clusters
		"ctlptl.dev", "eksctl.io",
		"config.kubernetes.io", "fn.kpt.dev", "helm.sh", "kpt.dev", "skaffold", "tilt.dev", "zarf.dev", // packages
		"chainsaw.kyverno.io", "cli.kyverno.io", "kuttl.dev", // tests
		"backstage.io", "krew.googlecontainertools.github.com",
	}, group)
}

// addUnread reports text that cannot be read. Where it may be for another program it counts only if
// it names the type of an object.
func (d *objectReader) addUnread(text []byte, failed *Problem) {
	isTemplate := isTemplate(text, failed)
	if !isTemplate && failed.Hint == renderTemplate {
		failed.Hint = ""
	}
	if !d.canBeForeign() {
		d.addProblem(nil, failed)
		return
	}
	apiVersion, kind, names := findObjectType(text)
	switch {
	case isTemplate:
		d.result.NotKubernetes++
		if names {
			d.addTemplateOmission(apiVersion, kind)
		}
	case names:
		d.addProblem(nil, failed)
	case bytes.IndexByte(text, 0) >= 0: // as git-crypt and the like leave files behind
		d.result.NotKubernetes++
		d.result.Omissions = append(d.result.Omissions, model.Omission{By: d.file.Name, Why: "is encrypted, or no text"})
	default:
		d.addDoubtful(failed)
	}
}

// addDoubtful adds a problem that counts only if there are objects in the same file.
func (d *objectReader) addDoubtful(failed *Problem) {
	before := len(d.result.Problems)
	d.addProblem(nil, failed)
	d.result.doubtful = append(d.result.doubtful, d.result.Problems[before:]...)
	d.result.Problems = d.result.Problems[:before]
}

// lacksType reports whether a map has one of apiVersion and kind only, and nothing else that tells
// that it is meant as an object: some programs write files like that. The kinds of the Gateway API
// are nobody else's.
func lacksType(m *tree) bool {
	kind := m.textAt("kind")
	return (m.valueAt("apiVersion") == nil || m.valueAt("kind") == nil) && !hasTargets(asMap(m.valueAt("spec"))) &&
		!strings.HasPrefix(kind, "Gateway") && kind != "ReferenceGrant"
}

// addTemplateOmission notes an object that a template would make: its name is not known.
func (d *objectReader) addTemplateOmission(apiVersion, kind string) {
	o := model.Omission{By: "template " + d.file.Name, Why: "is not rendered"}
	if !model.HasVariable(apiVersion) && !model.HasVariable(kind) && !hasAction(apiVersion) && !hasAction(kind) {
		o.Kinds = []model.GroupKind{model.NewGroupKind(apiVersion, kind)}
	}
	d.result.Omissions = append(d.result.Omissions, o)
}

// hasAction reports whether there is an action of a template in a text.
func hasAction(text string) bool { return strings.Contains(text, "{{") || strings.Contains(text, "{%") }

// classifyDoubtful decides about documents that do not name the type of an object, and are broken or
// look like one. In a file with objects one of them is broken; other files are for other programs.
func classifyDoubtful(outcomes []Result) {
	holdsObjects := map[string]bool{}
	for i := range outcomes {
		if outcomes[i].Readable > 0 {
			holdsObjects[outcomes[i].File] = true
		}
	}
	for i := range outcomes {
		out := &outcomes[i]
		if holdsObjects[out.File] {
			out.Problems = append(out.Problems, out.doubtful...)
		} else {
			out.NotKubernetes += len(out.doubtful)
		}
		out.doubtful = nil
	}
}

// findObjectType returns what stands at the keys apiVersion and kind of a text that does not parse,
// and whether it has both: in block style on the outermost level, in flow style and JSON on any.
func findObjectType(text []byte) (apiVersion, kind string, found bool) {
	apiVersion, hasVersion := findTextAt(text, "apiVersion")
	kind, hasKind := findTextAt(text, "kind")
	return apiVersion, kind, hasVersion && hasKind
}

// findTextAt returns what stands behind the first such key of a text, as far as it is on the same
// line.
func findTextAt(text []byte, key string) (value string, found bool) {
	first := FindContentStart(text)
	indent := len(text[:first]) - len(bytes.TrimRight(text[:first], " "))
	flow := first < len(text) && (text[first] == '[' || text[first] == '{' && !hasAction(string(text[first:min(first+2,
		len(text))])))
	for at := first; ; {
		i := bytes.Index(text[at:], []byte(key))
		if i < 0 {
			return "", false
		}
		before, after := text[:at+i], text[at+i+len(key):]
		at += i + len(key)
		for _, quote := range []string{`"`, "'"} {
			if bytes.HasSuffix(before, []byte(quote)) && bytes.HasPrefix(after, []byte(quote)) {
				before, after = before[:len(before)-1], after[1:]
			}
		}
		after = bytes.TrimLeft(after, " \t\r\n")
		if !bytes.HasPrefix(after, []byte(":")) || !isKeyPlace(before, flow, indent) {
			continue
		}
		line, _, _ := bytes.Cut(after[1:], []byte("\n"))
		line, _, _ = bytes.Cut(line, []byte(" #"))
		if flow {
			line, _, _ = bytes.Cut(line, []byte(","))
			line = bytes.TrimRight(line, " }")
		}
		return string(bytes.Trim(line, " \t\r\"'")), true
	}
}

// isKeyPlace reports whether a key may stand behind a text: in flow style behind a bracket or a
// comma, else at the start of a line that is indented no more than the first.
func isKeyPlace(before []byte, flow bool, indent int) bool {
	if flow {
		before = bytes.TrimRight(before, " \t\r\n")
		return bytes.HasSuffix(before, []byte("{")) || bytes.HasSuffix(before, []byte(","))
	}
	spaces := 0
	for spaces < len(before) && before[len(before)-1-spaces] == ' ' {
		spaces++
	}
	before = before[:len(before)-spaces]
	atLineStart := len(before) == 0 || before[len(before)-1] == '\n' || string(before) == byteOrderMark
	return atLineStart && spaces <= indent
}

// isTemplate reports whether a text that does not parse would do so if the actions of a template,
// {{ … }} and {% … %}, were out of the way; or whether a line begins with one, which no manifest has.
func isTemplate(text []byte, failed *Problem) bool {
	const large = 1 << 20
	if failed.Code != model.InvalidYAML || len(text) > large || !hasAction(string(text)) {
		return false
	}
	if hasActionLine(text) {
		return true
	}
	without := withoutActions(text, actionMarks())
	nodes, err := decodeYAML(bytes.NewReader(without))
	if err != nil {
		return false
	}
	if _, err := decodeYAML(bytes.NewReader(text)); err != nil {
		return true
	}
	c := &converter{texts: newTextCache(), shared: map[*yaml.Node]any{}}
	for _, n := range nodes { // it parses, but what it says cannot be taken
		if _, failed := c.convertValue(n); failed != nil {
			return false
		}
	}
	return true
}

// hasActionLine reports whether a line begins with an action of a template, which no manifest has.
func hasActionLine(text []byte) bool {
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("{{")) || bytes.HasPrefix(line, []byte("{%")) {
			return true
		}
	}
	return false
}

// IsTemplate reports whether a text whose values cannot be taken is a template: whether it parses
// with {{ … }}, {% … %} and ${ … } out of the way, or a line begins with one of the first two.
func IsTemplate(text []byte) bool {
	if hasActionLine(text) {
		return true
	}
	if !NamesTemplate(string(text)) {
		return false
	}
	_, err := decodeYAML(bytes.NewReader(withoutActions(text, append(actionMarks(), [2]string{"${", "}"}))))
	return err == nil
}

// NamesTemplate reports whether there is something in a text that a template fills in.
func NamesTemplate(text string) bool { return hasAction(text) || strings.Contains(text, "${") }

// actionMarks are what the actions of templates begin and end with.
func actionMarks() [][2]string { return [][2]string{{"{{", "}}"}, {"{%", "%}"}, {"{#", "#}"}} }

// withoutActions returns a template with a text in place of every action. Lines of actions only are
// left out.
func withoutActions(text []byte, marksOf [][2]string) []byte {
	const filler = "\ue000" // which no text has
	for _, marks := range marksOf {
		var out []byte
		for {
			before, rest, found := bytes.Cut(text, []byte(marks[0]))
			_, behind, closed := bytes.Cut(rest, []byte(marks[1]))
			if !found || !closed {
				break
			}
			out, text = append(append(out, before...), filler...), behind
		}
		text = append(out, text...)
	}
	var out []byte
	for line := range bytes.Lines(text) {
		rest := bytes.TrimSpace(bytes.ReplaceAll(line, []byte(filler), nil))
		if len(rest) > 0 || !bytes.Contains(line, []byte(filler)) {
			out = append(out, line...)
		}
	}
	return out
}
