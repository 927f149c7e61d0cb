package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// facts are what one side says of an input: a value by what it is about. The first word of a key names the sort of fact.
type facts map[string]string

// unsaid is the value of a fact that the program under test says it does not know. It is not compared.
const unsaid = "?"

// difference is a fact on which the sides disagree. A side that does not have it says "".
type difference struct {
	Key    string
	Ours   string
	Theirs string
}

// sort is the sort of fact.
func (d difference) sort() string {
	word, _, _ := strings.Cut(d.Key, " ")
	return word
}

// signature groups differences that most likely have one cause: the sort of fact, and which side has it or how the two values differ.
func (d difference) signature() string {
	switch {
	case d.Ours == "":
		return d.sort() + ": theirs only"
	case d.Theirs == "":
		return d.sort() + ": ours only"
	case !json.Valid([]byte(d.Ours)) || !json.Valid([]byte(d.Theirs)):
		return d.sort() + ": " + d.Ours + ", theirs " + d.Theirs
	}
	return d.sort() + ": differs at " + strings.Join(paths(d.Ours, d.Theirs), ", ")
}

// compare lists the differences by key, and how many facts were compared.
func compare(ours, theirs facts) (out []difference, compared int) {
	keys := map[string]bool{}
	for key := range ours {
		keys[key] = true
	}
	for key := range theirs {
		keys[key] = true
	}
	for key := range keys {
		if ours[key] == unsaid {
			delete(keys, key)
		} else if ours[key] != theirs[key] {
			out = append(out, difference{key, ours[key], theirs[key]})
		}
	}
	slices.SortFunc(out, func(a, b difference) int { return cmp.Compare(a.Key, b.Key) })
	return out, len(keys)
}

// canonical is JSON with sorted keys and without empty objects and lists, which mean nothing to either side.
func canonical(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		return err.Error()
	}
	text, _ = json.Marshal(pruned(tree))
	if string(text) == "null" {
		return ""
	}
	return string(text)
}

// pruned is a tree without nulls and empty maps and lists.
func pruned(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			if v[key] = pruned(inner); v[key] == nil {
				delete(v, key)
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		if len(v) == 0 {
			return nil
		}
		for i := range v {
			v[i] = pruned(v[i])
		}
	}
	return v
}

// paths are the places, down to three keys, where two JSON texts differ.
func paths(a, b string) []string {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return nil
	}
	found := map[string]bool{}
	differ(x, y, "", 0, found)
	var out []string
	for path := range found {
		out = append(out, path)
	}
	slices.Sort(out)
	return out
}

func differ(x, y any, at string, depth int, found map[string]bool) {
	one, isOne := x.(map[string]any)
	two, isTwo := y.(map[string]any)
	if !isOne || !isTwo || depth == 3 {
		if canonical(x) != canonical(y) {
			found["."+at] = true
		}
		return
	}
	for key := range one {
		differ(one[key], two[key], at+"."+key, depth+1, found)
	}
	for key := range two {
		if _, both := one[key]; !both {
			differ(nil, two[key], at+"."+key, depth+1, found)
		}
	}
}

// normalised is a value of a peer as canonical writes it; one that is no JSON stays.
func normalised(value string) string {
	var tree any
	if json.Unmarshal([]byte(value), &tree) != nil {
		return value
	}
	return canonical(tree)
}

// effectiveFacts notes the effective policy of every kind on every path.
func effectiveFacts(ctx context.Context, p program.Program, in *input, out facts, args ...string) error {
	var list struct {
		Items []struct {
			PolicyKind string
			Target     struct{ Namespace, Name, Section string }
			Paths      []struct{ Gateway, Listener string }
			Spec       object
		}
	}
	if err := p.JSON(ctx, in.Objects, &list, append([]string{"effective", "-A"}, args...)...); err != nil {
		return err
	}
	for _, item := range list.Items {
		kind, _, _ := strings.Cut(item.PolicyKind, ".")
		for _, path := range item.Paths {
			where := fmt.Sprintf("%s %s %s %s/%s %s", kind, path.Gateway, path.Listener, item.Target.Namespace, item.Target.Name, item.Target.Section)
			set(out, "spec."+where, canonical(item.Spec))
		}
	}
	return nil
}

// set notes a fact that is not empty.
func set(out facts, key, value string) {
	if value != "" {
		out[key] = value
	}
}
