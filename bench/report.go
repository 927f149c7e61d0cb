package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"
)

// The limits, which are stated for the pinned sizes.
const (
	fasterThanPeer  = 2000
	mergeThanPeer   = 2600
	growthAtMost    = 12
	loadingAtMost   = 1.5
	answeringAtMost = 0.5
	requestAtMost   = 2
	requestsAtMost  = 1.5
	pairsAtLeast    = 100_000
	diffAtMost      = 2.5
	pageAtMost      = 2.5
)

// report writes what was measured.
type report struct {
	out    io.Writer
	limits bool // whether the limits are stated for what was measured
}

func (r report) line(format string, args ...any) {
	fmt.Fprintln(r.out, strings.TrimRight(fmt.Sprintf(format, args...), " "))
}

// limit writes a ratio beside its limit.
func (r report) limit(what string, value float64, sign string, limit float64) {
	if !r.limits {
		r.line("  %-66s %7s", what, figure(value))
		return
	}
	verdict := "not met"
	if sign == "≤" && value <= limit || sign == "≥" && value >= limit {
		verdict = "met"
	}
	r.line("  %-66s %7s   %s %-5s  %s", what, figure(value), sign, figure(limit), verdict)
}

func (r report) machine() {
	r.line("%s %s/%s, %d processors", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0))
}

// comparison reports what each side took, and the ratios.
func (r report) comparison(c *comparison) {
	r.line("\nThe graph and every effective policy, best of %d runs of each side, alternately", c.runs)
	r.line("%d gateways × %d listeners, %s routes × %d rules, %s policies: %s paths in %s of YAML",
		gateways, listenersEach, grouped(c.routes), rulesEach, grouped(c.policies), grouped(c.paths), megabytes(c.bytes))
	r.side("policy-machinery", &c.peer)
	r.side("this engine, merge alone", &c.merge)
	r.side("this engine", &c.engine)
	r.line("  all agree on the settings in force, their sources and values on every path")
	peer := c.peer.seconds(counted)
	r.limit("policy-machinery / this engine, merge alone", peer/c.merge.seconds(counted), "≥", mergeThanPeer)
	r.limit("policy-machinery / this engine", peer/c.engine.seconds(counted), "≥", fasterThanPeer)
	r.limit("policy-machinery / this engine, with the view of the answer", peer/c.engine.seconds(answering), "≥", fasterThanPeer)
}

// side writes one side with its parts.
func (r report) side(name string, m *measurement) {
	var parts []string
	for _, p := range m.Parts {
		if p.Name != "decode" {
			parts = append(parts, p.Name+" "+duration(p.Seconds))
		}
	}
	r.line("  %-26s %8s   %s", name, duration(m.seconds(counted)), strings.Join(parts, ", "))
}

// growth reports the parts at every size, and what the limits say.
func (r report) growth(sizes []size, runs int) {
	r.line("\nThe parts of this engine in milliseconds, the whole program, and the most memory of each; best of %d runs", runs)
	head := fmt.Sprintf("%9s %9s", "routes", "YAML")
	for _, name := range parts {
		head += fmt.Sprintf(" %9s", name)
	}
	r.line("%s %9s %9s %9s %9s", head, "all", "memory", "program", "memory")
	for _, s := range sizes {
		row := fmt.Sprintf("%9s %9s", grouped(s.routes), megabytes(s.bytes))
		for _, name := range parts {
			row += " " + milliseconds(s.engine.seconds([]string{name}))
		}
		r.line("%s %s %9s %s %9s", row, milliseconds(s.engine.seconds(parts)), megabytes(s.engine.peak), milliseconds(s.program.seconds), megabytes(s.program.peak))
	}
	middle, last := sizes[len(sizes)-2], sizes[len(sizes)-1]
	label := grouped(last.routes) + " routes / " + grouped(middle.routes) + " routes, "
	r.limit(label+"all", last.engine.seconds(parts)/middle.engine.seconds(parts), "≤", growthAtMost)
	r.limit(label+"all but decode", last.engine.seconds(answering)/middle.engine.seconds(answering), "≤", growthAtMost)
}

// loading reports loading beside decoding into YAML nodes.
func (r report) loading(l *loading, runs int) {
	r.line("\nLoading %s routes, and decoding the same bytes into yaml/v3 nodes, best of %d runs", grouped(l.routes), runs)
	for _, row := range []struct {
		where         string
		engine, nodes *measurement
	}{{"all processors", &l.engine, &l.nodes}, {"one processor", &l.engineOne, &l.nodesOne}} {
		load, answer := row.engine.seconds(decoding), row.engine.seconds(answering)
		nodes := row.nodes.seconds(decoding)
		r.line("  %-26s loading %s, nodes %s, everything after loading %s", row.where, duration(load), duration(nodes), duration(answer))
		r.limit("loading / nodes, "+row.where, load/nodes, "≤", loadingAtMost)
		r.limit("everything after loading / loading, "+row.where, answer/load, "≤", answeringAtMost)
	}
}

// asking reports what requests take beside loading, and how many answers the reference agrees with.
func (r report) asking(a *asking, runs int) {
	r.line("\nOne request and %s of them at %s rules in %s of YAML, the whole program, beside loading alone; best of %d runs, alternately",
		grouped(a.many), grouped(a.rules), megabytes(a.bytes), runs)
	r.line("  loading %s, one request %s (%s), %s requests %s (%s)", duration(a.load), duration(a.one.seconds), megabytes(a.one.peak),
		grouped(a.many), duration(a.all.seconds), megabytes(a.all.peak))
	r.line("  every request hits its rule")
	r.limit("one request, whole program / loading", a.one.seconds/a.load, "≤", requestAtMost)
	r.limit(grouped(a.many)+" requests / one request, whole program", a.all.seconds/a.one.seconds, "≤", requestsAtMost)
	r.limit("drawn requests whose answer a reference agrees with, in "+duration(a.agreement.seconds), float64(a.agreement.pairs), "≥", pairsAtLeast)
}

// duration is a time to three digits.
func duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	digit := time.Duration(1)
	for d >= 1000*digit {
		digit *= 10
	}
	return d.Round(digit).String()
}

func milliseconds(seconds float64) string { return fmt.Sprintf("%9.1f", seconds*1000) }

// figure is a ratio: whole where it is large.
func figure(v float64) string {
	if v >= 100 {
		return grouped(int(v + 0.5))
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

// grouped writes a number with a comma before every three digits.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return grouped(n/1000) + fmt.Sprintf(",%03d", n%1000)
}
