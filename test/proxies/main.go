package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/campaign"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// options are the flags.
type options struct {
	campaign.Options
	asked    int // requests for each world
	list     bool
	policies bool
	audits   bool
}

func main() {
	campaign.Main(func(ctx context.Context, args []string) error {
		o, err := parse(args)
		if err != nil {
			return err
		}
		return o.run(ctx)
	})
}

func parse(args []string) (options, error) {
	var o options
	fs := flag.NewFlagSet("proxies", flag.ContinueOnError)
	o.AddFlags(fs, "proxies", "world", "1..700")
	fs.IntVar(&o.asked, "requests", 30, "how many requests a world is asked")
	fs.BoolVar(&o.list, "list", false, "print every difference, as it is met")
	fs.BoolVar(&o.policies, "policies", false, "draw policies too, and compare what is said of protection in place of where requests go")
	fs.BoolVar(&o.audits, "audit", false, "audit running proxies by what their own admin endpoint says, in place of asking them requests")
	if err := o.Parse(fs, args); err != nil {
		return o, err
	}
	for _, name := range o.Names {
		if !slices.ContainsFunc(vendors(), func(v *vendor) bool { return v.Name == name }) {
			return o, fmt.Errorf("-proxies %s: there is no vendor of that name", name)
		}
	}
	if o.Seeds.First < 1 { // the requests of a world are drawn with its seed below zero
		return o, fmt.Errorf("-seeds: the first seed is %d, and has to be 1 or more", o.Seeds.First)
	}
	return o, nil
}

func (o options) run(ctx context.Context) error {
	known, err := campaign.ReadClasses()
	if err != nil {
		return err
	}
	folder, remove, err := o.OpenFolder(ctx, "proxies")
	if err != nil {
		return err
	}
	defer remove()
	var rows []row
	var missed error // deliberate faults
	open := false
	for _, v := range vendors() {
		if !o.Wants(v.Name) {
			continue
		}
		if o.audits && v.audited == nil {
			fmt.Printf("%s: its proxies are not audited\n", v.Name)
			continue
		}
		if o.policies && v.policies == nil {
			fmt.Printf("%s: its policies are not asked\n", v.Name)
			continue
		}
		r := &run{vendor: v, program: program.Program(o.Program), known: known, workers: runtime.GOMAXPROCS(0), each: o.asked, list: o.list, policies: o.policies}
		if r.path, r.version, r.kept, err = o.Build(ctx, &v.Peer, folder); err != nil {
			return err
		}
		switch {
		case o.Show > 0:
			err = r.show(ctx, o.Show)
		case o.audits:
			missed = errors.Join(missed, r.audit(ctx, o.Seeds))
		case o.Mutants:
			missed = errors.Join(missed, r.mutants(ctx, folder))
		default:
			var t *tally
			if t, err = o.compare(ctx, r); err == nil {
				rows = append(rows, row{r, t})
				open = open || t.CountOpen() > 0
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	if o.Truth != "" {
		if err := writeTruth(o.Truth, rows); err != nil {
			return err
		}
	}
	if open {
		return campaign.ErrOpen
	}
	return missed
}

// compare runs the seeds and tells what it found. Of every class that nothing explains, it tells the smallest world that still has it.
func (o options) compare(ctx context.Context, r *run) (*tally, error) {
	t, err := r.compareSeeds(ctx, o.Seeds, o.Deadline(), printProgress(r.vendor.Name))
	if err != nil {
		return nil, err
	}
	fmt.Printf("%s (%s %s): %d worlds, %d requests, %d of the answers are conditional, %d differ, %d of them explained; proxies refuse a part of %d worlds\n",
		r.vendor.Name, r.vendor.Module, r.version, t.Worlds, t.Requests, t.Conditional, t.Different, t.Explained, t.Refused)
	if t.Untranslated > 0 {
		fmt.Printf("  %d worlds were not translated:\n", t.Untranslated)
		for _, why := range slices.Sorted(maps.Keys(t.untranslated)) {
			fmt.Printf("    seed %d: %s\n", t.untranslated[why], strings.TrimSpace(why))
		}
	}
	for _, f := range slices.SortedFunc(maps.Values(t.Classes), func(a, b *finding) int { return cmp.Compare(b.Count, a.Count) }) {
		if f.Known != nil {
			fmt.Printf("  explained: %s (%d times): %s\n", f.Signature, f.Count, f.Known.Reason)
			continue
		}
		if err := r.printOpen(ctx, f, o.Reduce); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// printProgress prints how far a run is after every 100 worlds, and every class that nothing explains when it is met first. It never ends the run.
func printProgress(vendor string) func(*tally) bool {
	printed := map[string]bool{}
	return func(t *tally) bool {
		t.PrintNew(vendor, printed)
		if t.Worlds%100 == 0 {
			fmt.Fprintf(os.Stderr, "%s: %d worlds, %d requests, %d open differences\n", vendor, t.Worlds, t.Requests, t.CountOpen())
		}
		return false
	}
}

// printOpen prints an open class with the Gateways and routes of its world, reduced if that is wanted.
func (r *run) printOpen(ctx context.Context, f *finding, reduce bool) error {
	w, d := f.Input, f.First
	if reduce {
		var err error
		if w, d, err = r.reduce(ctx, f); err != nil {
			return err
		}
	}
	manifests, err := draw.Manifests(slices.DeleteFunc(slices.Clone(w.Objects), isPlain))
	if err != nil {
		return err
	}
	fmt.Printf("  open: %s (%d times, first in seed %d)\n", f.Signature, f.Count, f.Seed)
	d.write()
	for line := range strings.Lines(string(manifests)) {
		fmt.Print("      ", line)
	}
	return nil
}

// isPlain reports whether an object goes without saying: there is nothing in it to read.
func isPlain(o object) bool {
	return slices.Contains([]any{"Namespace", "GatewayClass", "Service", "EndpointSlice", "Secret", "ReferenceGrant"}, o["kind"])
}

// write prints what the two sides say.
func (d *difference) write() {
	fmt.Printf("    %s\n    kubectl dopolicy request %s\n    ours:   %s\n", d.Request, line(d.Request), &d.Ours)
	if d.Trial != nil {
		fmt.Printf("    ours:   %s\n    theirs: %s\n", d.Ours.protectionText(), d.Trial)
		return
	}
	fmt.Printf("    theirs: %s", d.Theirs)
	if d.Theirs.Note != "" {
		fmt.Printf(" [%s]", d.Theirs.Note)
	}
	fmt.Println()
}

// show prints what both sides say of one world.
func (r *run) show(ctx context.Context, seed int64) error {
	p, err := r.vendor.Start(ctx, r.path, r.kept)
	if err != nil {
		return err
	}
	defer p.Stop()
	w, requests, err := r.draw(seed)
	if err != nil {
		return err
	}
	manifests, err := draw.Manifests(w.Objects)
	if err != nil {
		return err
	}
	fmt.Printf("%s", manifests)
	j, err := r.judge(ctx, p, w, requests)
	if err != nil {
		return err
	}
	if j.untranslated != nil {
		return j.untranslated
	}
	for i := range j.requests {
		verdict, _ := j.compare(i)
		fmt.Printf("# %s\n", verdict)
		d := &difference{Request: j.requests[i], Ours: j.ours[i]}
		if j.trials != nil {
			d.Trial = j.trials[i]
		} else {
			d.Theirs = j.theirs[i]
		}
		d.write()
	}
	return nil
}
