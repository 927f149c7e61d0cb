package ingressnginx

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

const (
	controllerName  = "k8s.io/ingress-nginx"
	defaultPrefix   = "nginx.ingress.kubernetes.io"
	snippetsAllowed = "allow-snippet-annotations"
)

// controller is what the input tells about the controller: its flags and its ConfigMap.
type controller struct {
	in             *model.Snapshot
	workload       *model.Object // the Deployment or DaemonSet; nil: it is not in the input
	namespace      string        // of the workload
	flags          map[string]string
	prefix         string // of annotations
	validates      bool   // it checks values before it reads them
	config         *config
	problems       []model.Problem
	maxRisk        risk
	classless      []*model.Object          // Ingresses without a class, which it does not read unless a flag says so
	classlessHosts map[string]*model.Object // that they name, with the first that does

	services map[string]*serviceFacts
	slices   map[string][]*model.Object // EndpointSlices by namespace/name of their Service
}

// readController reads flags and ConfigMap.
func readController(in *model.Snapshot) *controller {
	c := &controller{in: in, flags: map[string]string{}, services: map[string]*serviceFacts{},
		slices: groupEndpointSlices(in), classlessHosts: map[string]*model.Object{}}
	c.findWorkload()
	c.prefix = c.readFlag("annotations-prefix", defaultPrefix)
	c.validates = c.isFlag("enable-annotation-validation", true)
	c.config = c.readConfig()
	c.maxRisk = parseRisk(c.config.readText("annotations-risk-level", "High"))
	return c
}

func (c *controller) readFlag(name, otherwise string) string {
	if value, there := c.flags[name]; there {
		return value
	}
	return otherwise
}

func (c *controller) isFlag(name string, otherwise bool) bool {
	b, err := strconv.ParseBool(c.readFlag(name, ""))
	if err != nil {
		return otherwise
	}
	return b
}

// findWorkload finds the Deployment or DaemonSet of the controller. Of several that of the usual class comes
// first.
func (c *controller) findWorkload() {
	var others []string
	for _, kind := range []string{"Deployment", "DaemonSet"} {
		for _, o := range c.in.OfKind(model.GroupKind{Group: "apps", Kind: kind}) {
			args, ok := readArguments(o)
			if !ok {
				continue
			}
			flags := parseFlags(args, o.Ref.Namespace)
			usual := flags["controller-class"] == "" || flags["controller-class"] == controllerName
			if c.workload != nil && (!usual || c.isUsual()) {
				others = append(others, o.Ref.String())
				continue
			}
			if c.workload != nil {
				others = append(others, c.workload.Ref.String())
			}
			c.workload, c.flags, c.namespace = o, flags, o.Ref.Namespace
		}
	}
	if len(others) > 0 {
		c.problems = append(c.problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Message: "several controllers are in the input, of which only the flags of this one are read, not those of " +
				strings.Join(others, ", "), Hint: "ask about one controller at a time"}.At(c.workload))
	}
}

// isUsual reports whether the controller reads the class that it reads by default.
func (c *controller) isUsual() bool { return c.controllerClass() == controllerName }

func (c *controller) controllerClass() string { return c.readFlag("controller-class", controllerName) }

// readArguments returns the arguments of the controller; false if a workload does not run it.
func readArguments(o *model.Object) ([]string, bool) {
	for _, container := range o.Body.At("spec", "template", "spec", "containers").Items {
		var args []string
		for _, field := range []string{"command", "args"} {
			for _, a := range container.Field(field).Items {
				args = append(args, a.Text())
			}
		}
		image := container.Text("image")
		if slices.ContainsFunc(args, func(a string) bool {
			return a == "nginx-ingress-controller" || strings.HasSuffix(a, "/nginx-ingress-controller")
		}) || strings.Contains(image, "ingress-nginx/controller") {
			return args, true
		}
	}
	return nil, false
}

// parseFlags reads --name=value, --name value and --name.
func parseFlags(args []string, namespace string) map[string]string {
	out := map[string]string{}
	for i, a := range args {
		name, isFlag := strings.CutPrefix(a, "--")
		if !isFlag {
			continue
		}
		name, value, hasValue := strings.Cut(name, "=")
		switch {
		case hasValue:
		case i+1 < len(args) && !strings.HasPrefix(args[i+1], "-"):
			value = args[i+1]
		default:
			value = "true"
		}
		out[name] = strings.ReplaceAll(value, "$(POD_NAMESPACE)", namespace)
	}
	return out
}
