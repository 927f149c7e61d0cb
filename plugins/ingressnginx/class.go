package ingressnginx

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

const (
	classAnnotation        = "kubernetes.io/ingress.class"
	defaultClassAnnotation = "ingressclass.kubernetes.io/is-default-class"
)

var (
	ingressKind      = model.GroupKind{Group: "networking.k8s.io", Kind: "Ingress"}
	ingressClassKind = model.GroupKind{Group: "networking.k8s.io", Kind: "IngressClass"}
)

// isClaimed reports whether the controller takes an Ingress as one of its own (N1).
func (c *controller) isClaimed(o *model.Object) bool {
	if ns := c.readFlag("watch-namespace", ""); ns != "" && ns != o.Ref.Namespace {
		return false
	}
	if name := o.Text("spec", "ingressClassName"); name != "" {
		return c.isOwnClass(name)
	}
	if class, there := o.Annotations[classAnnotation]; there {
		return class == c.readFlag("ingress-class", "nginx")
	}
	if name := c.findDefaultClass(); name != "" {
		return c.isOwnClass(name)
	}
	if c.isFlag("watch-ingress-without-class", false) {
		return true
	}
	c.addClassless(o)
	return false
}

// isOwnClass reports whether an IngressClass is of the controller. One that is not in the input, which may not
// have all, is taken to be if it has the usual name.
func (c *controller) isOwnClass(name string) bool {
	ref := model.Ref{Group: ingressClassKind.Group, Kind: ingressClassKind.Kind, Name: name}
	if class := c.in.Get(ref); class != nil {
		return class.Text("spec", "controller") == c.controllerClass() ||
			c.isFlag("ingress-class-by-name", false) && name == c.readFlag("ingress-class", "nginx")
	}
	return name == c.readFlag("ingress-class", "nginx") && c.in.FindExistence(ref).Presence != model.Missing
}

// findDefaultClass returns the class that the API server gives to new Ingresses without one: of several that of
// the newest IngressClass; "": none. It has given it already to those that are read from a cluster.
func (c *controller) findDefaultClass() string {
	if c.in.Cluster != nil {
		return ""
	}
	var all []*model.Object
	for _, o := range c.in.OfKind(ingressClassKind) {
		if o.Annotations[defaultClassAnnotation] == "true" {
			all = append(all, o)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return slices.MinFunc(all, func(a, b *model.Object) int {
		return cmp.Or(b.Created.Compare(a.Created), strings.Compare(a.Ref.Name, b.Ref.Name))
	}).Ref.Name
}

// isWrittenFor reports whether an Ingress has annotations of the controller.
func (c *controller) isWrittenFor(o *model.Object) bool {
	v := annotationReader{ingress: o, control: c}
	return len(v.annotationNames()) > 0
}

// noteClassless says that Ingresses have no class. It is not known whether the controller reads them if its flags
// are not.
func (c *controller) noteClassless() {
	if len(c.classless) == 0 {
		return
	}
	have, them := "Ingresses have", "them"
	if len(c.classless) == 1 {
		have, them = "Ingress has", "it"
	}
	p := model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
		Message: fmt.Sprintf("%d %s no class: the controller reads %s only with --watch-ingress-without-class",
			len(c.classless), have, them),
		Hint: "set spec.ingressClassName, or add the Deployment of the controller to the input"}
	if c.workload != nil {
		p.Severity, p.Hint = model.Info, "set spec.ingressClassName if the controller is to serve "+them
		p.Message = fmt.Sprintf("%d %s no class, and the controller runs without --watch-ingress-without-class: it does "+
			"not read %s", len(c.classless), have, them)
	}
	c.problems = append(c.problems, p.At(c.classless[0]))
}

// addClassless adds an Ingress without a class. Of several that name a host those with annotations of the controller
// come first.
func (c *controller) addClassless(o *model.Object) {
	c.classless = append(c.classless, o)
	hosts := []string{}
	for _, rule := range o.Body.At("spec", "rules").Items {
		hosts = append(hosts, cmp.Or(rule.Text("host"), defaultHost))
	}
	if len(hosts) == 0 {
		hosts = append(hosts, defaultHost)
	}
	for _, host := range hosts {
		if before := c.classlessHosts[host]; before == nil || c.isWrittenFor(o) && !c.isWrittenFor(before) {
			c.classlessHosts[host] = o
		}
	}
}

// findClassless returns an Ingress without a class that names a host, where it is not known whether the controller
// reads it; nil: there is none. host is defaultHost for hosts that nobody names.
func (c *controller) findClassless(host string) *model.Object {
	if c.workload != nil {
		return nil
	}
	_, above, _ := strings.Cut(host, ".")
	return cmp.Or(c.classlessHosts[host], c.classlessHosts["*."+above])
}
