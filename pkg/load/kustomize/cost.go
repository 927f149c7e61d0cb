package kustomize

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/utils"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// What a build may cost, which is counted before it begins, as the library cannot be stopped. A step
// is about a microsecond.
const (
	maxBuildSteps = 15_000_000
	maxAllSteps   = 20_000_000 // of all builds together
	maxReplaced   = 8 << 20    // bytes that replacements write
)

// What the library does costs so many steps, as measured.
const (
	stepsPerObjectPair  = 2  // objects of one kustomization are compared with each other
	stepsPerTrace       = 20 // for each object and each pair of patches, if objects say what changed them
	stepsPerPatch       = 10 // for each object that is looked at
	stepsPerPatched     = 600
	objectPairsPerStep  = 6 // for each patch with a selector, for which all objects are compared again
	stepsPerReplacement = 5 // for each object
	keyPairsPerStep     = 100

	stepsPerReplacementPair = 4 // to find out which reads what another one writes
)

// buildCost is what the build of a kustomization costs, those that it names included.
type buildCost struct {
	objects int // that it has
	keys    int // of the largest ConfigMap or Secret that it generates
	patches int // of its own
	broad   int // those of them that may be for more than one object
	chosen  int // those of them with a selector
	steps   int // without those of the patches of components, which depend on what names them
	tracing int // steps that are spared if objects need not say what changed them

	replacements []types.Replacement // its own behind those of what it names
	own          int                 // how many of them are its own
	values       []any               // the objects of its files
	parts        []*Kustomization    // that it names
}

// addObjects counts the objects of a file.
func (c *buildCost) addObjects(docs []document.Manifest) {
	for _, doc := range docs {
		list := document.FlattenList(doc.Value)
		c.objects, c.values = c.objects+len(list), append(c.values, list...)
	}
}

// addPluginConfig counts a configuration of a built-in generator or transformer.
func (c *buildCost) addPluginConfig(v any) {
	text, err := json.Marshal(v)
	if err != nil {
		return
	}
	switch kind := model.Text(v, "kind"); {
	case strings.HasSuffix(kind, "Generator"):
		c.objects++
	case strings.HasPrefix(kind, "Replacement"):
		var config struct{ Replacements []types.ReplacementField }
		if json.Unmarshal(text, &config) == nil {
			for _, r := range config.Replacements {
				c.replacements = append(c.replacements, r.Replacement)
			}
		}
	default:
		c.patches, c.broad, c.chosen = c.patches+1, c.broad+1, c.chosen+1
	}
}

// addReplacementFile counts the replacements that a file holds.
func (c *buildCost) addReplacementFile(docs []document.Manifest) {
	for _, doc := range docs {
		list, isList := doc.Value.([]any)
		if !isList {
			list = []any{doc.Value}
		}
		for _, v := range list {
			var r types.Replacement
			if text, err := json.Marshal(v); err == nil && json.Unmarshal(text, &r) == nil && len(r.Targets) > 0 {
				c.replacements = append(c.replacements, r)
			}
		}
	}
}

// addUp counts what a kustomization costs whose parts were counted.
func (k *Kustomization) addUp() {
	c := &k.cost
	//lint:ignore SA1019 it is still built
	c.patches += len(k.Patches) + len(k.PatchesJson6902) + len(k.PatchesStrategicMerge) + len(k.Images) + len(k.Replicas)
	//lint:ignore SA1019 it is still built
	for _, p := range slices.Concat(k.Patches, k.PatchesJson6902) {
		if p.Target == nil {
			continue
		}
		if c.chosen++; !isLiteral(p.Target.Name) {
			c.broad++
		}
	}
	for _, r := range k.Replacements {
		if r.Path == "" {
			c.replacements = append(c.replacements, r.Replacement)
		}
	}
	c.objects += len(k.ConfigMapGenerator) + len(k.SecretGenerator)
	for _, g := range k.ConfigMapGenerator {
		c.keys = max(c.keys, len(g.LiteralSources)+len(g.FileSources))
	}
	for _, g := range k.SecretGenerator {
		c.keys = max(c.keys, len(g.LiteralSources)+len(g.FileSources))
	}
	own := c.replacements
	c.own, c.replacements = len(own), nil
	for _, part := range c.parts {
		c.objects = addSteps(c.objects, part.cost.objects)
		c.steps, c.tracing = addSteps(c.steps, part.cost.steps), addSteps(c.tracing, part.cost.tracing)
		if len(c.replacements) < maxBuildSteps/stepsPerReplacement {
			c.replacements = append(c.replacements, part.cost.replacements...)
		}
	}
	c.replacements = append(c.replacements, own...)
	c.steps = addSteps(c.steps, multiplySteps(c.objects, c.objects, stepsPerObjectPair)/2,
		multiplySteps(c.keys, c.keys)/keyPairsPerStep)
	if !k.namedAsComponent {
		k.addTransformers(c.objects, c)
	}
}

// addTransformers adds the steps of what changes so many objects to a cost: the transformers of k and
// of its components.
func (k *Kustomization) addTransformers(objects int, to *buildCost) {
	patches := k.cost.patches
	to.steps = addSteps(to.steps, multiplySteps(objects, patches, stepsPerPatch),
		multiplySteps(objects, k.cost.broad, stepsPerPatched), multiplySteps(patches, stepsPerPatched),
		multiplySteps(objects, objects, k.cost.chosen)/objectPairsPerStep, multiplySteps(objects, k.cost.own, stepsPerReplacement),
		multiplySteps(len(k.cost.replacements), len(k.cost.replacements), stepsPerReplacementPair))
	to.tracing = addSteps(to.tracing, multiplySteps(objects, patches, patches, stepsPerTrace))
	for _, part := range k.parts {
		part.addTransformers(objects, to)
	}
}

// addSteps adds up numbers; what is too much stays too much.
func addSteps(list ...int) int {
	sum := 0
	for _, n := range list {
		sum = min(sum+n, maxBuildSteps+1)
	}
	return sum
}

// multiplySteps multiplies numbers; what is too much stays too much.
func multiplySteps(list ...int) int {
	product := 1
	for _, n := range list {
		product *= min(n, maxBuildSteps+1)
		if product > maxBuildSteps*keyPairsPerStep {
			return maxBuildSteps * keyPairsPerStep
		}
	}
	return product
}

// canTrace reports whether there is time for objects to say where they are from: the library then
// notes every change of every object as well.
func (c *buildCost) canTrace() bool { return c.tracing <= maxBuildSteps/10 }

// chargeBuild counts what the build of a kustomization costs, and returns an error if that is more than it
// may, alone or with what was built before.
func (w *Walk) chargeBuild(k *Kustomization) error {
	var err error
	steps := k.cost.steps
	if k.cost.canTrace() {
		steps += k.cost.tracing
	}
	switch *w.spent += steps; {
	case steps > maxBuildSteps:
		err = fmt.Errorf("%d objects with %d patches would take more than %d steps to build", k.cost.objects,
			k.cost.patches, maxBuildSteps)
	case *w.spent > maxAllSteps:
		err = fmt.Errorf("all builds together would take more than %d steps", maxAllSteps)
	case k.cost.sumReplaced() > maxReplaced:
		err = fmt.Errorf("its replacements may write more than %d MiB", maxReplaced>>20)
	default:
		return nil
	}
	return &document.Error{What: k.Name, Err: err, Hint: BuildHint}
}

// sumReplaced returns how many bytes replacements may write, or more. One that reads what others
// wrote writes all of that: a few that read what they wrote themselves double it each time.
func (c *buildCost) sumReplaced() int {
	written := make([]int, len(c.replacements))
	sum := 0
	for i, r := range c.replacements {
		written[i] = c.sizeOfSource(r)
		for j, before := range c.replacements[:i] {
			if writesTo(before, r.Source) {
				written[i] += written[j]
			}
		}
		for _, t := range r.Targets {
			if t != nil {
				sum += written[i] * max(1, len(t.FieldPaths))
			}
		}
		if sum > maxReplaced || written[i] > maxReplaced {
			return maxReplaced + 1
		}
	}
	return sum
}

// writesTo reports whether a replacement may write to what a source selects.
func writesTo(r types.Replacement, source *types.SourceSelector) bool {
	if source == nil {
		return false
	}
	for _, t := range r.Targets {
		if t == nil || t.Select == nil || isLiteral(t.Select.Kind) && isLiteral(source.Kind) && t.Select.Kind != source.Kind ||
			isLiteral(t.Select.Name) && isLiteral(source.Name) && t.Select.Name != source.Name {
			continue
		}
		fields := t.FieldPaths
		if len(fields) == 0 {
			fields = []string{types.DefaultReplacementFieldPath}
		}
		if slices.ContainsFunc(fields, func(field string) bool {
			return pathsOverlap(splitPath(field), splitPath(source.FieldPath))
		}) {
			return true
		}
	}
	return false
}

// isLiteral reports whether a selector is a name that stands for itself, and not a pattern.
func isLiteral(text string) bool {
	return text != "" && !strings.ContainsAny(text, `.*+?()|[]{}^$\`)
}

func splitPath(path string) []string {
	if path == "" {
		path = types.DefaultReplacementFieldPath
	}
	return utils.SmarterPathSplitter(path, ".")
}

// pathsOverlap reports whether one field is another one, or within it.
func pathsOverlap(a, b []string) bool {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] && isPlainKey(a[i]) && isPlainKey(b[i]) {
			return false
		}
	}
	return true
}

// isPlainKey reports whether a part of a path is a key, and not a selector of list items.
func isPlainKey(part string) bool {
	return part != "*" && part != "-" && !strings.ContainsAny(part, "[]=")
}

// unknownSize is taken for a value that is in no file, such as one of a generated ConfigMap.
const unknownSize = 256

// sizeOfSource returns how many bytes the largest value is that a replacement may read from a file.
func (c *buildCost) sizeOfSource(r types.Replacement) int {
	if r.SourceValue != nil {
		return len(*r.SourceValue)
	}
	if r.Source == nil {
		return 0
	}
	size := 0
	c.eachValue(func(v any) {
		if r.Source.Kind != "" && model.Text(v, "kind") != r.Source.Kind {
			return
		}
		for _, key := range splitPath(r.Source.FieldPath) {
			m, isMap := v.(map[string]any)
			if !isMap || m[key] == nil {
				break
			}
			v = m[key]
		}
		size = max(size, sizeOf(v, maxReplaced))
	})
	if size == 0 {
		return unknownSize
	}
	return size
}

// sizeOf returns about how many bytes a value is as text, up to a limit.
func sizeOf(v any, most int) int {
	size := 8
	switch v := v.(type) {
	case string:
		size += len(v)
	case []any:
		for _, item := range v {
			if size += sizeOf(item, most-size); size > most {
				break
			}
		}
	case map[string]any:
		for key, value := range v {
			if size += len(key) + sizeOf(value, most-size); size > most {
				break
			}
		}
	}
	return size
}

// eachValue calls each for the objects of all files.
func (c *buildCost) eachValue(each func(any)) {
	for _, v := range c.values {
		each(v)
	}
	for _, part := range c.parts {
		part.cost.eachValue(each)
	}
}

// countKeys returns how many keys an env file or a list of literals makes.
func countKeys(text []byte) int { return bytes.Count(text, []byte("\n")) + 1 }
