package dopolicy_test

import (
	"context"
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/diff"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

const demo = "../../testdata/demo"

// openDemo opens a folder of manifests with the built-in vendors.
func openDemo() *dopolicy.Input {
	engine, err := dopolicy.New(plugins.All(), dopolicy.Options{})
	if err != nil {
		panic(err)
	}
	in, err := engine.OpenFiles(context.Background(), load.Options{Paths: []string{demo}})
	if err != nil {
		panic(err)
	}
	return in
}

func ExampleInput_Effective() {
	in := openDemo()
	route := model.Ref{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute", Namespace: "bakery", Name: "baker",
		Section: "rule-1"}
	answer := in.Effective(view.Query{Targets: in.Lookup(route)})
	for _, item := range answer.Items {
		fmt.Println(item.Target, len(item.Rules))
	}
	fmt.Println("complete:", answer.Complete)
	// Output:
	// httproute/bakery/baker/rule-1 2
	// httproute/bakery/baker/rule-1 3
	// httproute/bakery/baker/rule-1 2
	// complete: true
}

func ExampleDiff() {
	before := openDemo()
	var left []*model.Object
	for _, o := range before.Read.Objects {
		if o.Ref.Kind != "AuthPolicy" {
			left = append(left, o)
		}
	}
	after := before.With(model.NewSnapshot(left, nil))
	diff := dopolicy.Diff(before, after, diff.Query{})
	fmt.Println(diff.Headline()[0])
	// Output:
	// 6 rules lose authentication.
}

func ExampleInput_Prove() {
	in := openDemo()
	query, err := dopolicy.NewProofQuery(space.Selection{Hosts: []string{"shop.example.com"}})
	if err != nil {
		panic(err)
	}
	query.Properties = []requests.Property{{Property: gate.Authentication}}
	proof, err := in.Prove(query)
	if err != nil {
		panic(err)
	}
	fmt.Println(proof.Verdict)
	// Output:
	// refuted
}
