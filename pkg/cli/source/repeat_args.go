package source

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Args repeats the flags that name the input, for commands proposed to the user.
func (f *Flags) Args() string {
	var out []string
	repeat := func(flag string, values []string) {
		for _, v := range values {
			out = append(out, flag+" "+view.QuoteShellWord(v))
		}
	}
	repeat("-f", f.Files)
	if f.Kustomization != "" {
		repeat("-k", []string{f.Kustomization})
	}
	if f.Recursive {
		out = append(out, "-R")
	}
	if f.Helm {
		out = append(out, "--enable-helm")
	}
	if f.Destination != "" {
		repeat("--destination", []string{f.Destination})
	}
	f.Rendering.repeatFlags(repeat)
	if f.OverLive {
		out = append(out, "--live")
	}
	if f.Redact {
		out = append(out, "--redact")
	}
	repeat("--policy-kinds", f.PolicyKinds)
	repeat("--policy-kind", f.OnlyKinds)
	repeat("--vendor-setting", f.Settings)
	repeat("--crds", f.Schemas.Definitions)
	repeat("--vendor-version", f.Schemas.Versions)
	if f.Schemas.Use == schemasOff {
		out = append(out, "--schemas off")
	}
	if f.Schemas.Validate == validateWarn {
		out = append(out, "--validate warn")
	}
	return strings.Join(append(out, f.Cluster.repeatFlags()...), " ")
}

// DiffInput is the input as the first side of `diff`. Standard input, several files, a kustomization
// and files over a cluster cannot be one.
func (f *Flags) DiffInput() view.DiffInput {
	switch {
	case f.Kustomization != "", f.OverLive, len(f.Files) > 1, slices.Contains(f.Files, "-"):
		return view.DiffInput{Impossible: true}
	case len(f.Files) == 0:
		return view.DiffInput{Flags: f.Args()}
	}
	others := *f
	others.Files = nil
	return view.DiffInput{Side: view.QuoteShellWord(f.Files[0]), Flags: others.Args()}
}
