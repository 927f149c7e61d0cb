package networkpolicy

import (
	"errors"
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/workload"
)

const lastPort = 1<<16 - 1

// port is an entry of a rule's list of ports: a range of ports of a protocol, or a name that
// containers of the destination give one.
type port struct {
	protocol    string // TCP, UDP, SCTP; "": of whichever port has the name
	first, last int
	name        string
	variable    string // of an entry with one that is not rendered, whatever it is
}

// readProtocol reads an entry of a ClusterNetworkPolicy: exactly one of tcp, udp, sctp and
// destinationNamedPort.
func readProtocol(v model.Body) (port, error) {
	if v.Len() != 1 || !v.IsObject() {
		return port{}, errors.New("it has to have one of tcp, udp, sctp and destinationNamedPort")
	}
	if name := v.Text("destinationNamedPort"); name != "" {
		return port{name: name}, nil
	}
	for field, protocol := range map[string]string{"tcp": "TCP", "udp": "UDP", "sctp": "SCTP"} {
		if of := v.Field(field); of.IsObject() {
			at := of.Field("destinationPort")
			switch {
			case of.Len() > 1 || of.Len() == 1 && !of.Has("destinationPort"):
				return port{}, fmt.Errorf("%s has a field that is not known", field)
			case at.IsNull():
				return port{protocol: protocol, first: 1, last: lastPort}, nil
			case at.IsObject() && at.Len() == 1 && at.Has("number"):
				return newPortRange(protocol, at.Field("number"), at.Field("number"))
			case at.IsObject() && at.Len() == 1 && at.Has("range"):
				return newPortRange(protocol, at.At("range", "start"), at.At("range", "end"))
			}
			return port{}, fmt.Errorf("%s.destinationPort has to have one of number and range", field)
		}
	}
	return port{}, errors.New("it has to have one of tcp, udp, sctp and destinationNamedPort")
}

// readAdminPort reads an entry of the API's first form: exactly one of portNumber, portRange and
// namedPort.
func readAdminPort(v model.Body) (port, error) {
	if v.Len() != 1 || !v.IsObject() {
		return port{}, errors.New("it has to have one of portNumber, portRange and namedPort")
	}
	if name := v.Text("namedPort"); name != "" {
		return port{name: name}, nil
	}
	if n := v.Field("portNumber"); n.IsObject() {
		return newPortRange(readPortProtocol(n), n.Field("port"), n.Field("port"))
	}
	if r := v.Field("portRange"); r.IsObject() {
		return newPortRange(readPortProtocol(r), r.Field("start"), r.Field("end"))
	}
	return port{}, errors.New("it has to have one of portNumber, portRange and namedPort")
}

// readOwnPort reads an entry of a NetworkPolicy: a port by number or name, or a range of ports, of
// a protocol.
func readOwnPort(v model.Body) (port, error) {
	if !v.IsObject() {
		return port{}, errors.New("it is no object")
	}
	protocol, at, end := readPortProtocol(v), v.Field("port"), v.Field("endPort")
	switch {
	case at.IsNull() && end.IsNull():
		return newPortRange(protocol, model.Body{}, model.Body{})
	case at.IsText() && end.IsNull():
		if n := readPortNumber(at); n > 0 {
			return port{protocol: protocol, first: n, last: n}, nil
		}
		return port{protocol: protocol, name: at.Text()}, nil
	case end.IsNull():
		return newPortRange(protocol, at, at)
	}
	return newPortRange(protocol, at, end)
}

func readPortProtocol(v model.Body) string {
	if p := v.Text("protocol"); p != "" {
		return p
	}
	return "TCP"
}

// newPortRange is the ports of a protocol between two, which are all if none is given.
func newPortRange(protocol string, first, last model.Body) (port, error) {
	switch protocol {
	case "TCP", "UDP", "SCTP":
	default:
		return port{}, fmt.Errorf("there is no protocol %q", protocol)
	}
	if first.IsNull() && last.IsNull() {
		return port{protocol: protocol, first: 1, last: lastPort}, nil
	}
	p := port{protocol: protocol, first: readPortNumber(first), last: readPortNumber(last)}
	if p.first == 0 || p.last < p.first {
		return port{}, errors.New("it is no port")
	}
	return p, nil
}

// matchesConnection reports whether a connection is to the port; to are the ports that the
// destination's containers declare.
func (p port) matchesConnection(protocol string, at int, to []workload.Port) bool {
	if p.variable != "" {
		return false
	}
	if p.name == "" {
		return p.protocol == protocol && p.first <= at && at <= p.last
	}
	for _, c := range to {
		if c.Name == p.name && c.Number == at && c.Protocol == protocol && (p.protocol == "" ||
			p.protocol == protocol) {
			return true
		}
	}
	return false
}

// coversPort reports whether every connection to o is one to p.
func (p port) coversPort(o port) bool {
	if p.variable != "" || o.variable != "" {
		return false
	}
	if p.name != "" || o.name != "" {
		return p.name == o.name && (p.protocol == "" || p.protocol == o.protocol)
	}
	return p.protocol == o.protocol && p.first <= o.first && o.last <= p.last
}
