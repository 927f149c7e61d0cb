package archtest

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// layers is the package table of docs/architecture.md: a package imports only packages that stand
// before it.
var layers = []string{"model", "load", "cluster", "topology", "merge", "gate", "routing", "form", "expression", "admission",
	"policy", "decode", "descriptor", "redact", "resolve", "explain", "status", "health", "request", "ingress", "protect", "space", "metric",
	"view", "dataplane", "audit", "schema", "plugin", "lint", "requirement", "cover", "check", "describe", "render", "draw",
	"report", "publish", "dopolicy", "cli"}

// core are the packages that never touch the outside world. Plugins are held to the same rule.
var core = []string{"model", "topology", "merge", "gate", "routing", "form", "expression", "admission", "policy", "decode",
	"descriptor", "redact", "resolve", "explain", "status", "health", "request", "ingress", "protect", "space", "metric", "view",
	"dataplane", "audit", "schema", "plugin", "lint", "requirement", "cover", "check", "describe", "publish"}

// layer is the row of the table that a path under pkg/ belongs to: -1 if none does.
func layer(pkgPath string) int {
	rest, ok := strings.CutPrefix(pkgPath, "pkg/")
	if !ok {
		return -1
	}
	name, _, _ := strings.Cut(rest, "/")
	return slices.Index(layers, name)
}

// own is the path of an imported package inside the module.
func own(pkg string) (string, bool) {
	if pkg == module {
		return ".", true
	}
	return strings.CutPrefix(pkg, module+"/")
}

// importDirection: packages under pkg/ import only packages above them in the table, plugins import
// pkg/ (but not the packages that touch the outside world), and only cmd/ and internal/ import
// plugins.
func importDirection(s source) []breach {
	var out []breach
	from := layer(s.path)
	if s.in("pkg") && from < 0 {
		out = append(out, s.at(s.file.Package, "%s is not in the package table", s.dir()))
	}
	s.imports(func(pkg string, pos token.Pos) {
		target, ok := own(pkg)
		if !ok || target == s.dir() {
			return
		}
		switch to := layer(target); {
		case target == "docs/schema": // files, embedded
		case s.in("pkg") && to < 0:
			out = append(out, s.at(pos, "%s imports %s, which is not in the package table", s.dir(), target))
		case s.in("pkg") && to > from:
			out = append(out, s.at(pos, "%s imports %s, which stands below it in the package table", s.dir(), target))
		case s.in("plugins") && !pluginMayImport(s, target, to):
			out = append(out, s.at(pos, "%s imports %s; a plugin imports only the core packages of pkg",
				s.dir(), target))
		}
	})
	return out
}

// pluginMayImport: core packages; the list of all vendors, in the folder plugins itself, imports
// each vendor; a vendor imports its own folders.
func pluginMayImport(s source, target string, to int) bool {
	if to >= 0 {
		return slices.Contains(core, layers[to])
	}
	if s.dir() == "plugins" {
		return strings.HasPrefix(target, "plugins/")
	}
	vendor := strings.Join(strings.SplitN(s.path, "/", 3)[:2], "/")
	return target == vendor || strings.HasPrefix(target, vendor+"/")
}

// mergeIsStd: pkg/merge imports the standard library only. A dot in the first element tells other
// modules apart.
func mergeIsStd(s source) []breach {
	if !s.in("pkg/merge") {
		return nil
	}
	var out []breach
	s.imports(func(pkg string, pos token.Pos) {
		if first, _, _ := strings.Cut(pkg, "/"); strings.Contains(first, ".") {
			out = append(out, s.at(pos, "pkg/merge imports %s, which is not in the standard library", pkg))
		}
	})
	return out
}

// outside are packages with which a program reads files, starts processes or talks to the network;
// what lies below one counts as well, except the pure ones named in pureBelow.
var outside = []string{"os", "net", "syscall", "plugin", "log", "golang.org/x/sys", "k8s.io/client-go",
	"k8s.io/cli-runtime", module + "/pkg/load", module + "/pkg/cluster", module + "/pkg/render", module +
		"/pkg/dopolicy", module + "/pkg/cli"}

var pureBelow = []string{"net/netip", "net/url"}

// clock are the functions of package time that read the clock.
var clock = []string{"Now", "Since", "Until"}

// pureCore: the core and the plugins do not read files, start processes, talk to the network or
// read the clock.
func pureCore(s source) []breach {
	if at := layer(s.path); !s.in("plugins") && (at < 0 || !slices.Contains(core, layers[at])) {
		return nil
	}
	var out []breach
	s.imports(func(pkg string, pos token.Pos) {
		for _, o := range outside {
			if (pkg == o || strings.HasPrefix(pkg, o+"/")) && !slices.Contains(pureBelow, pkg) {
				out = append(out, s.at(pos, "%s imports %s; the core does not touch the outside world", s.dir(), pkg))
			}
		}
	})
	s.selectors(func(pkg, name string, pos token.Pos) {
		if pkg == "time" && slices.Contains(clock, name) {
			out = append(out, s.at(pos, "%s calls time.%s; the core does not read the clock", s.dir(), name))
		}
	})
	return out
}

var vendor = regexp.MustCompile(
	`(?i)kuadrant|kgateway|envoy[-_. ]?gateway|gateway\.envoyproxy|kuma|istio|nginx|gloo|linkerd|network[-_. ]?polic|\baws|lattice|\bgke\b|alb[-.]|traefik|kong(hq)?\b|apisix|airlock|cilium|calico`)

// noVendor: no vendor's name stands under pkg/, in code or comments.
func noVendor(s source) []breach {
	if !s.in("pkg") {
		return nil
	}
	var out []breach
	for i, line := range strings.Split(s.text, "\n") {
		if name := vendor.FindString(line); name != "" {
			out = append(out, breach{s.path, i + 1, "names the vendor " + name + ", which belongs under plugins/"})
		}
	}
	return out
}

// noInit: nothing happens before main, except where it has to happen before another package's own.
func noInit(s source) []breach {
	if s.in("cmd/dopolicy-draw/cachedir") {
		return nil
	}
	var out []breach
	for _, d := range s.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			out = append(out, s.at(f.Pos(), "func init"))
		}
	}
	return out
}

// noExit: only a program ends itself; everything else returns an error or a problem. cmd/ and the
// generators under internal/ are programs.
func noExit(s source) []breach {
	if s.in("cmd") || s.in("internal") && s.file.Name.Name == "main" {
		return nil
	}
	var out []breach
	s.selectors(func(pkg, name string, pos token.Pos) {
		if pkg == "os" && name == "Exit" || pkg == "log" && (strings.HasPrefix(name, "Fatal") ||
			strings.HasPrefix(name, "Panic")) {
			out = append(out, s.at(pos, "%s.%s outside cmd/", pkg, name))
		}
	})
	ast.Inspect(s.file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "panic" {
				out = append(out, s.at(call.Pos(), "panic outside cmd/"))
			}
		}
		return true
	})
	return out
}
