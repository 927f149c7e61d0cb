package requestline

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// Circumstances are what a request comes with besides what it says, as flags have it.
type Circumstances struct {
	ClientIP, ClientCert string
	BodyBytes            int64
	Repeat               int
	Assume               []string
}

func (f *Circumstances) addFlags(fs *pflag.FlagSet) {
	fs.StringVar(&f.ClientIP, "client-ip", "", "address of the client (default: one that no address list names)")
	fs.StringVar(&f.ClientCert, "client-cert", "",
		"client certificate, as trusted[:SUBJECT] or untrusted[:SUBJECT] (default: none)")
	fs.Int64Var(&f.BodyBytes, "body-bytes", 0, "size of the request body in bytes")
	fs.IntVar(&f.Repeat, "repeat", 1, "how many times one client sends the request at once")
}

// AddAssumeFlag adds the flag for what manifests do not tell.
func (f *Circumstances) AddAssumeFlag(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.Assume, "assume", nil, AssumeUsage)
}

// AssumeUsage is the help of --assume for a request.
const AssumeUsage = "what manifests do not tell: basic=accepted|refused, external=STATUS[,NAME: VALUE]..., " +
	"backend=STATUS, or external=authentication: services that are asked refuse anonymous clients (repeatable)"

// isSet reports whether anything is said about a request.
func (f *Circumstances) isSet() bool {
	return f.ClientIP != "" || f.ClientCert != "" || f.BodyBytes != 0 || f.Repeat > 1 || len(f.Assume) > 0
}

// parseFlags reads the flags. Errors are of usage.
func (f *Circumstances) parseFlags() (request.Circumstances, error) {
	out := request.Circumstances{Given: f.isSet(), BodyBytes: f.BodyBytes, Repeat: f.Repeat}
	if f.ClientIP != "" {
		var err error
		if out.ClientAddress, err = netip.ParseAddr(f.ClientIP); err != nil {
			return out, failure.Usage("write an IPv4 or IPv6 address, for example 10.0.0.1",
				"--client-ip %q is not an address", f.ClientIP)
		}
	}
	if f.ClientCert != "" {
		trust, subject, _ := strings.Cut(f.ClientCert, ":")
		if trust != "trusted" && trust != "untrusted" {
			return out, failure.Usage("write trusted or untrusted, with :SUBJECT if that matters",
				"--client-cert %q does not say whether it is trusted", f.ClientCert)
		}
		out.Certificate = request.Certificate{Shown: true, Trusted: trust == "trusted", Subject: subject}
	}
	if f.BodyBytes < 0 {
		return out, failure.Usage("write a number of bytes", "--body-bytes %d is negative", f.BodyBytes)
	}
	if f.Repeat < 0 {
		return out, failure.Usage("write how often the request is sent", "--repeat %d is negative", f.Repeat)
	}
	for _, text := range f.Assume {
		if err := readAssumption(text, &out.Assumed); err != nil {
			return out, err
		}
	}
	return out, nil
}

// readAssumption reads one --assume.
func readAssumption(text string, into *request.Assumptions) error {
	what, value, _ := strings.Cut(text, "=")
	hint := "write basic=accepted, basic=refused, external=STATUS[,NAME: VALUE]... or backend=STATUS"
	switch what {
	case "basic":
		if value != "accepted" && value != "refused" {
			return failure.Usage(hint, "--assume %q: basic is accepted or refused", text)
		}
		into.BasicAccepted = value == "accepted"
		return nil
	case "external":
		parts := strings.Split(value, ",")
		status, err := parseStatus(parts[0])
		if err != nil {
			return failure.Usage(hint, "--assume %q names no status", text)
		}
		into.External, into.ExternalHeaders = status, nil
		for _, header := range parts[1:] {
			name, value, found := strings.Cut(header, ":")
			if !found {
				return failure.Usage(hint, "--assume %q: %q is not a header", text, header)
			}
			into.ExternalHeaders = append(into.ExternalHeaders,
				request.Field{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value)})
		}
		return nil
	case "backend":
		status, err := parseStatus(value)
		if err != nil {
			return failure.Usage(hint, "--assume %q names no status", text)
		}
		into.Backend = status
		return nil
	}
	return failure.Usage(hint, "cannot assume %q", text)
}

// parseStatus reads a status of HTTP.
func parseStatus(text string) (int, error) {
	status, err := strconv.Atoi(text)
	if err == nil && (status < 100 || status > 599) {
		err = strconv.ErrRange
	}
	return status, err
}
