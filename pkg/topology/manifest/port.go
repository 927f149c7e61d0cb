package manifest

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// ServicePort is a port of a Service as parentRefs name it.
type ServicePort struct {
	Section string // its name, else its number
	Number  int32
	UDP     bool
}

// ReadServicePorts reads the ports of a Service or a ServiceImport. What is wrong with them was
// reported where they became nodes.
func ReadServicePorts(o *model.Object) []ServicePort {
	var out []ServicePort
	for _, v := range o.Body.At("spec", "ports").Items {
		number, ok := v.Field("port").Value().(int64)
		if !ok {
			continue
		}
		p := ServicePort{Section: v.Field("name").Text(), Number: int32(number),
			UDP: v.Field("protocol").Text() == "UDP"}
		if p.Section == "" {
			p.Section = FormatInt(int(p.Number))
		}
		out = append(out, p)
	}
	return out
}

// FindServicePort finds the port with that name and number, as far as they are given (gatewayapi
// G50); of several the one of the route's protocol.
func FindServicePort(o *model.Object, section string, number int32, udp bool) *ServicePort {
	var found *ServicePort
	for _, p := range ReadServicePorts(o) {
		if section != "" && p.Section != section || number != 0 && p.Number != number {
			continue
		}
		if p.UDP == udp {
			return &p
		}
		if found == nil {
			found = &p
		}
	}
	return found
}
