package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// options are the flags.
type options struct {
	vendors []string
	seeds   seeds
	each    time.Duration // for each vendor; 0: until the seeds are done
	asked   int           // requests for each world
	program string
	built   string // the folder of translators that are built
	reduce  bool
	show    int64
	list    bool
	truth   string
	mutants bool

	policies bool
	audits   bool
}

// errOpen is the error of a run that found what no class explains.
var errOpen = errors.New("there are differences that classes.yaml does not explain")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parse(os.Args[1:])
	if err == nil {
		err = o.run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	var o options
	fs := flag.NewFlagSet("proxies", flag.ContinueOnError)
	names := fs.String("proxies", "", "vendors whose proxies are asked, separated by commas (default: all)")
	numbers := fs.String("seeds", "1..700", "the seeds of the worlds, FIRST..LAST")
	fs.DurationVar(&o.each, "for", 0, "end with each vendor after this time")
	fs.IntVar(&o.asked, "requests", 30, "how many requests a world is asked")
	fs.StringVar(&o.program, "program", "", "the kubectl-dopolicy to compare (default: built from this tree)")
	fs.StringVar(&o.built, "built", "", "keep the translators and what they say in this folder, and take what is there")
	fs.BoolVar(&o.reduce, "reduce", true, "reduce the world of every new class of differences")
	fs.Int64Var(&o.show, "show", 0, "print the world of this seed, and what both sides say of its requests")
	fs.BoolVar(&o.list, "list", false, "print every difference, as it is met")
	fs.StringVar(&o.truth, "truth", "", "write the figures into this file")
	fs.BoolVar(&o.mutants, "mutants", false, "build the program with each fault of mutants.yaml, and see that it is found")
	fs.BoolVar(&o.policies, "policies", false, "draw policies too, and compare what is said of protection in place of where requests go")
	fs.BoolVar(&o.audits, "audit", false, "audit running proxies by what their own admin endpoint says, in place of asking them requests")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	o.vendors = strings.FieldsFunc(*names, func(r rune) bool { return r == ',' })
	for _, name := range o.vendors {
		if !slices.ContainsFunc(vendors(), func(v *vendor) bool { return v.Name == name }) {
			return o, fmt.Errorf("-proxies %s: there is no vendor of that name", name)
		}
	}
	first, last, ok := strings.Cut(*numbers, "..")
	var one, two error
	o.seeds.first, one = strconv.ParseInt(first, 10, 64)
	o.seeds.last, two = strconv.ParseInt(last, 10, 64)
	if !ok || one != nil || two != nil || o.seeds.first < 1 {
		return o, fmt.Errorf("-seeds %s: write FIRST..LAST", *numbers)
	}
	return o, nil
}

func (o options) run(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "proxies")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := os.Setenv("TMPDIR", folder); err != nil { // also of the programs that are started, so that one that is killed leaves nothing behind
		return err
	}
	known, err := readClasses()
	if err != nil {
		return err
	}
	if o.program == "" && !o.mutants {
		o.program = filepath.Join(folder, "kubectl-dopolicy")
		if _, err := program.Build(ctx, o.program, ""); err != nil {
			return err
		}
	}
	var rows []row
	var missed error // deliberate faults
	open := false
	for _, v := range vendors() {
		if len(o.vendors) > 0 && !slices.Contains(o.vendors, v.Name) {
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
		r := &run{vendor: v, program: program.Program(o.program), known: known, workers: runtime.GOMAXPROCS(0), each: o.asked, list: o.list, policies: o.policies}
		if r.path, r.version, err = v.Build(ctx, cmp.Or(o.built, folder)); err != nil {
			return err
		}
		if o.built != "" {
			if r.kept, err = program.KeptAnswers(r.path); err != nil {
				return err
			}
		}
		switch {
		case o.show > 0:
			err = r.show(ctx, o.show)
		case o.audits:
			missed = errors.Join(missed, r.audit(ctx, o.seeds))
		case o.mutants:
			missed = errors.Join(missed, r.mutants(ctx, folder))
		default:
			var t *tally
			if t, err = o.compare(ctx, r); err == nil {
				rows = append(rows, row{r, t})
				open = open || t.open() > 0
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	if o.truth != "" {
		if err := writeTruth(o.truth, rows); err != nil {
			return err
		}
	}
	if open {
		return errOpen
	}
	return missed
}

// compare runs the seeds and tells what it found. Of every class that nothing explains, it tells the smallest world that still has it.
func (o options) compare(ctx context.Context, r *run) (*tally, error) {
	var until time.Time
	if o.each > 0 {
		until = time.Now().Add(o.each)
	}
	t, err := r.all(ctx, o.seeds, until, progress(r.vendor.Name))
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
	for _, f := range slices.SortedFunc(maps.Values(t.Classes), func(a, b *found) int { return cmp.Compare(b.Count, a.Count) }) {
		if f.Known != nil {
			fmt.Printf("  explained: %s (%d times): %s\n", f.Signature, f.Count, f.Known.Reason)
			continue
		}
		if err := r.tell(ctx, f, o.reduce); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// progress tells how far a run is after every 100 worlds, and of every class that nothing explains when it is met first. It never ends the run.
func progress(vendor string) func(*tally) bool {
	told := map[string]bool{}
	return func(t *tally) bool {
		for signature, f := range t.Classes {
			if f.Known == nil && !told[signature] {
				told[signature] = true
				fmt.Fprintf(os.Stderr, "%s: seed %d: %s\n", vendor, f.Seed, signature)
			}
		}
		if t.Worlds%100 == 0 {
			fmt.Fprintf(os.Stderr, "%s: %d worlds, %d requests, %d open differences\n", vendor, t.Worlds, t.Requests, t.open())
		}
		return false
	}
}

// tell prints an open class with the Gateways and routes of its world, reduced if that is wanted.
func (r *run) tell(ctx context.Context, f *found, reduce bool) error {
	w, d := f.World, f.First
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
