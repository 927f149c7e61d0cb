// Package dopolicy answers questions about Gateway API policies, for programs: a console plugin, an
// admission webhook, a CI tool. The commands of kubectl dopolicy go through it as well.
//
// Make an Engine of vendors, open an input with it, and ask:
//
//	engine, err := dopolicy.New(plugins.All(), dopolicy.Options{})
//	if err != nil {
//		return err
//	}
//	in, err := engine.OpenFiles(ctx, load.Options{Paths: []string{"manifests/"}})
//	if err != nil {
//		return err
//	}
//	for _, item := range in.Effective(view.Query{}).Items {
//		fmt.Println(item.Target)
//	}
//
// OpenFiles reads manifests or a kustomization, OpenCluster a cluster, and Resolve takes a snapshot
// that is already there, such as an object under admission in the place of the one that is stored.
//
// Answers are the structs that the program prints as JSON; docs/schema describes them. Each has an
// Envelope: Complete says whether anything that could matter was not read or not understood, and
// Problems say what. An answer that is not complete proves nothing.
//
// Targets are named by references: in.Lookup(ref) gives the nodes for a view.Query. A reference
// with a Section is a listener, a rule of a route, or a port of a Service.
//
// An Engine is for one input, or for the sides of one comparison (Diff, Behavior).
package dopolicy
