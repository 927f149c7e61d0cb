package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"
)

// authority signs the certificates of one server and of its users.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

// newAuthority makes an authority with a key of its own.
func newAuthority() (*authority, error) {
	a := &authority{}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "test-authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := sign(template, template, key, key)
	if err != nil {
		return nil, err
	}
	a.key, a.pem = key, block("CERTIFICATE", der)
	a.cert, err = x509.ParseCertificate(der)
	return a, err
}

// server is the certificate, and its key, of a server on the loopback address, as PEM.
func (a *authority) server() (cert, key []byte, err error) {
	return a.issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: "kube-apiserver"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	})
}

// user is the certificate, and its key, with which a client is the user of that name in these groups, as PEM.
func (a *authority) user(name string, groups []string) (cert, key []byte, err error) {
	return a.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: name, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

func (a *authority) issue(template *x509.Certificate) (cert, key []byte, err error) {
	template.KeyUsage = x509.KeyUsageDigitalSignature
	private, key, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	der, err := sign(template, a.cert, private, a.key)
	if err != nil {
		return nil, nil, err
	}
	return block("CERTIFICATE", der), key, nil
}

// newKey is a new private key, and the same as PEM.
func newKey() (*ecdsa.PrivateKey, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return key, block("EC PRIVATE KEY", der), nil
}

// sign fills in what all certificates have alike. They are good for a week, and from yesterday on because clocks differ.
func sign(template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	template.NotBefore, template.NotAfter = time.Now().Add(-24*time.Hour), time.Now().Add(7*24*time.Hour)
	return x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
}

func block(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
