package main

// Every way that we know to connect or send past a list of addresses. What arrives says whose way it was: each sends its name.

import (
	"encoding/binary"
	"fmt"
	"net"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Where it may not go: on its server's port, at these addresses, and at its server's address on this port.
type elsewhere struct {
	Hosts []string `json:"hosts"`
	Port  int      `json:"port"`
}

// How long each race is run.
const raceFor = 300 * time.Millisecond

const (
	msgFastOpen       = 0x20000000
	tcpFastOpen       = 30
	ipOptions         = 4
	ipv6RoutingHeader = 57
	soBindToDevice    = 25
	ipAddMembership   = 35
	prSetSeccomp      = 22
	sysSeccomp        = 317
	sysSeccompArm     = 277
)

type way struct {
	name string
	// @returns nil when the kernel says that it was done
	try func(to net.IP, port int, name string) error
}

// tryElsewhere tells how often each way was let through, by the kernel's word; the listeners say what arrived.
func tryElsewhere(server string, port int, isUdp bool, places elsewhere) map[string]string {
	found := map[string]string{}
	allowed := net.ParseIP(server)
	ways := streamWays(allowed, port)
	if isUdp {
		ways = append(ways, datagramWays(allowed, port)...)
	}
	for _, w := range ways {
		for _, host := range places.Hosts {
			note(found, w, net.ParseIP(host), port)
		}
		note(found, w, allowed, places.Port)
	}
	for name, try := range oneTime(isUdp) {
		if err := try(); err == nil {
			found[name] = "reached"
		} else {
			found[name] = err.Error()
		}
	}
	return found
}

func note(found map[string]string, w way, to net.IP, port int) {
	name := fmt.Sprintf("%s to %s port %d", w.name, to, port)
	if err := w.try(to, port, name); err == nil {
		found[name] = "reached"
	} else {
		found[name] = err.Error()
	}
}

func streamWays(allowed net.IP, allowedPort int) []way {
	return []way{
		{"connect", func(to net.IP, port int, name string) error { return stream(to, port, name, nil) }},
		{"connect mapped", func(to net.IP, port int, name string) error {
			if to.To4() == nil {
				return syscall.EAFNOSUPPORT
			}
			return connectAs(syscall.AF_INET6, mapped(to, port), name)
		}},
		{"connect with fast open", func(to net.IP, port int, name string) error {
			return stream(to, port, name, func(fd int) error {
				return syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, tcpFastOpen, 1)
			})
		}},
		{"sendto with fast open", func(to net.IP, port int, name string) error {
			return withSocket(to, syscall.SOCK_STREAM, func(fd int) error { return sendTo(fd, name, msgFastOpen, sockaddr(to, port)) })
		}},
		{"sendmsg with fast open", func(to net.IP, port int, name string) error {
			return withSocket(to, syscall.SOCK_STREAM, func(fd int) error { return sendMsg(fd, name, msgFastOpen, sockaddr(to, port)) })
		}},
		{"connect again after AF_UNSPEC", func(to net.IP, port int, name string) error {
			return withSocket(allowed, syscall.SOCK_STREAM, func(fd int) error {
				rawConnect(fd, sockaddr(allowed, allowedPort))
				rawConnect(fd, make([]byte, 16))
				return connectAndSend(fd, sockaddr(to, port), name)
			})
		}},
		{"race of the address", func(to net.IP, port int, name string) error {
			return raceAddress(sockaddr(allowed, allowedPort), sockaddr(to, port), func(address []byte) error {
				return withSocket(allowed, syscall.SOCK_STREAM, func(fd int) error {
					rawConnect(fd, address)
					return tellPeer(fd, to, port, name)
				})
			})
		}},
		{"race of the socket", func(to net.IP, port int, name string) error { return raceSocket(allowed, allowedPort, to, port, name) }},
	}
}

func datagramWays(allowed net.IP, allowedPort int) []way {
	send := func(how func(fd int, name string, flags int, address []byte) error) func(net.IP, int, string) error {
		return func(to net.IP, port int, name string) error {
			return withSocket(to, syscall.SOCK_DGRAM, func(fd int) error { return how(fd, name, 0, sockaddr(to, port)) })
		}
	}
	return []way{
		{"datagram connected", func(to net.IP, port int, name string) error {
			return withSocket(to, syscall.SOCK_DGRAM, func(fd int) error { return connectAndSend(fd, sockaddr(to, port), name) })
		}},
		{"datagram by sendto", send(sendTo)},
		{"datagram by sendmsg", send(sendMsg)},
		{"datagram by sendmmsg", send(sendMmsg)},
		{"datagram mapped", func(to net.IP, port int, name string) error {
			if to.To4() == nil {
				return syscall.EAFNOSUPPORT
			}
			fd, err := syscall.Socket(syscall.AF_INET6, syscall.SOCK_DGRAM, 0)
			if err != nil {
				return err
			}
			defer syscall.Close(fd)
			return sendTo(fd, name, 0, mapped(to, port))
		}},
		{"datagram with a short name of netlink's length", func(to net.IP, port int, name string) error {
			return withSocket(to, syscall.SOCK_DGRAM, func(fd int) error { return sendTo(fd, name, 0, sockaddr(to, port)[:12]) })
		}},
		{"datagram from a copied descriptor", func(to net.IP, port int, name string) error {
			return withSocket(to, syscall.SOCK_DGRAM, func(fd int) error {
				other, err := syscall.Dup(fd)
				if err != nil {
					return err
				}
				defer syscall.Close(other)
				return sendMsg(other, name, 0, sockaddr(to, port))
			})
		}},
		{"datagram with the flags of the handing over", func(to net.IP, port int, name string) error {
			return withSocket(to, syscall.SOCK_DGRAM, func(fd int) error { return sendMsg(fd, name, 0x4080, sockaddr(to, port)) })
		}},
		{"race of a datagram's name", func(to net.IP, port int, name string) error {
			return raceAddress(sockaddr(allowed, allowedPort), sockaddr(to, port), func(address []byte) error {
				return withSocket(allowed, syscall.SOCK_DGRAM, func(fd int) error {
					// That it was sent says nothing of where to.
					sendTo(fd, name, 0, address)
					sendMsg(fd, name, 0, address)
					return syscall.EACCES
				})
			})
		}},
		{"race of a datagram's connection", func(to net.IP, port int, name string) error {
			return raceAddress(sockaddr(allowed, allowedPort), sockaddr(to, port), func(address []byte) error {
				return withSocket(allowed, syscall.SOCK_DGRAM, func(fd int) error {
					rawConnect(fd, address)
					return tellPeer(fd, to, port, name)
				})
			})
		}},
	}
}

// What needs no place: how a socket or the process could be made to go elsewhere.
func oneTime(isUdp bool) map[string]func() error {
	option := func(family, kind, level, name int, value []byte) func() error {
		return func() error {
			fd, err := syscall.Socket(family, kind, 0)
			if err != nil {
				return err
			}
			defer syscall.Close(fd)
			return syscall.SetsockoptString(fd, level, name, string(value))
		}
	}
	// Loose source route by 127.0.0.9 (RFC 791), then an end of options.
	route := []byte{131, 7, 4, 127, 0, 0, 9, 0}
	ways := map[string]func() error{
		"source route":             option(syscall.AF_INET, syscall.SOCK_STREAM, syscall.IPPROTO_IP, ipOptions, route),
		"routing header":           option(syscall.AF_INET6, syscall.SOCK_STREAM, syscall.IPPROTO_IPV6, ipv6RoutingHeader, nil),
		"device":                   option(syscall.AF_INET, syscall.SOCK_STREAM, syscall.SOL_SOCKET, soBindToDevice, []byte("lo\x00")),
		"listener among our files": stolenListener,
		"filter of its own": func() error {
			// An empty program is refused by the kernel itself, with EINVAL.
			number := uintptr(sysSeccomp)
			if arch() == 1 {
				number = sysSeccompArm
			}
			_, _, errno := syscall.RawSyscall(number, 1, 1<<3, uintptr(unsafe.Pointer(&[16]byte{})))
			return refusedOnly(errno)
		},
		"filter by prctl": func() error {
			_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetSeccomp, 2, uintptr(unsafe.Pointer(&[16]byte{})))
			return refusedOnly(errno)
		},
		"pair of unix sockets": func() error {
			_, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_DGRAM, 0)
			return err
		},
		"raw socket":    func() error { return opened(syscall.AF_INET, syscall.SOCK_RAW, syscall.IPPROTO_UDP) },
		"ping socket":   func() error { return opened(syscall.AF_INET, syscall.SOCK_DGRAM, syscall.IPPROTO_ICMP) },
		"packet socket": func() error { return opened(syscall.AF_PACKET, syscall.SOCK_DGRAM, 0) },
		"MPTCP":         func() error { return opened(syscall.AF_INET, syscall.SOCK_STREAM, 262) },
		"UDP-Lite":      func() error { return opened(syscall.AF_INET, syscall.SOCK_DGRAM, 136) },
	}
	if isUdp {
		ways["multicast group"] = option(syscall.AF_INET, syscall.SOCK_DGRAM, syscall.IPPROTO_IP, ipAddMembership, []byte{239, 1, 2, 3, 127, 0, 0, 1})
	} else {
		ways["datagrams"] = func() error { return opened(syscall.AF_INET, syscall.SOCK_DGRAM, 0) }
	}
	return ways
}

func refusedOnly(errno syscall.Errno) error {
	if errno == sysSeccompRefused {
		return errno
	}
	return nil
}

func opened(family, kind, protocol int) error {
	fd, err := syscall.Socket(family, kind, protocol)
	if err == nil {
		syscall.Close(fd)
	}
	return err
}

// Who holds the listener answers the calls that it tells of.
func stolenListener() error {
	for fd := 3; fd < 64; fd++ {
		id := make([]byte, 8)
		// SECCOMP_IOCTL_NOTIF_ID_VALID: an unknown id is ENOENT; what is no listener says ENOTTY or EINVAL.
		_, _, errno := syscall.RawSyscall(syscall.SYS_IOCTL, uintptr(fd), 0x40082102, uintptr(unsafe.Pointer(&id[0])))
		if errno == syscall.ENOENT {
			return nil
		}
	}
	return syscall.EBADF
}

func sockaddr(ip net.IP, port int) []byte {
	if four := ip.To4(); four != nil {
		out := make([]byte, 16)
		binary.LittleEndian.PutUint16(out, syscall.AF_INET)
		binary.BigEndian.PutUint16(out[2:], uint16(port))
		copy(out[4:], four)
		return out
	}
	return sockaddr6(ip, port)
}

func sockaddr6(ip net.IP, port int) []byte {
	out := make([]byte, 28)
	binary.LittleEndian.PutUint16(out, syscall.AF_INET6)
	binary.BigEndian.PutUint16(out[2:], uint16(port))
	copy(out[8:], ip.To16())
	return out
}

func mapped(ip net.IP, port int) []byte { return sockaddr6(ip, port) }

func familyOf(ip net.IP) int {
	if ip.To4() != nil {
		return syscall.AF_INET
	}
	return syscall.AF_INET6
}

// Blocking: so that a call that waits for us would be seen.
func withSocket(ip net.IP, kind int, then func(fd int) error) error {
	fd, err := syscall.Socket(familyOf(ip), kind, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	return then(fd)
}

func stream(to net.IP, port int, name string, before func(fd int) error) error {
	return withSocket(to, syscall.SOCK_STREAM, func(fd int) error {
		if before != nil {
			before(fd)
		}
		return connectAndSend(fd, sockaddr(to, port), name)
	})
}

func connectAs(family int, address []byte, name string) error {
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	return connectAndSend(fd, address, name)
}

func connectAndSend(fd int, address []byte, name string) error {
	if err := rawConnect(fd, address); err != nil {
		return err
	}
	_, err := syscall.Write(fd, []byte(name))
	return err
}

// A socket of the broker's does not wait: its connection has begun.
func rawConnect(fd int, address []byte) error {
	_, _, errno := syscall.Syscall(syscall.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&address[0])), uintptr(len(address)))
	if errno != 0 && errno != syscall.EINPROGRESS {
		return errno
	}
	time.Sleep(time.Millisecond)
	return nil
}

func sendTo(fd int, name string, flags int, address []byte) error {
	text := []byte(name)
	_, _, errno := syscall.Syscall6(syscall.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)),
		uintptr(flags), uintptr(unsafe.Pointer(&address[0])), uintptr(len(address)))
	if errno != 0 {
		return errno
	}
	return nil
}

func message(name string, address []byte) *syscall.Msghdr {
	text := []byte(name)
	vector := &syscall.Iovec{Base: &text[0]}
	vector.SetLen(len(text))
	return &syscall.Msghdr{Name: &address[0], Namelen: uint32(len(address)), Iov: vector, Iovlen: 1}
}

func sendMsg(fd int, name string, flags int, address []byte) error {
	_, _, errno := syscall.Syscall(syscall.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(message(name, address))), uintptr(flags))
	if errno != 0 {
		return errno
	}
	return nil
}

func sendMmsg(fd int, name string, flags int, address []byte) error {
	type row struct {
		header syscall.Msghdr
		length uint32
		_      uint32
	}
	number := uintptr([2]int{307, 269}[arch()])
	rows := []row{{header: *message(name, address)}}
	_, _, errno := syscall.Syscall6(number, uintptr(fd), uintptr(unsafe.Pointer(&rows[0])), 1, uintptr(flags), 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// Says its name only where it was not to come to.
func tellPeer(fd int, to net.IP, port int, name string) error {
	peer, err := syscall.Getpeername(fd)
	if err != nil {
		return err
	}
	at := peerText(peer)
	syscall.Write(fd, []byte(name))
	if at == net.JoinHostPort(to.String(), fmt.Sprint(port)) {
		return nil
	}
	return syscall.EACCES
}

func peerText(peer syscall.Sockaddr) string {
	switch at := peer.(type) {
	case *syscall.SockaddrInet4:
		return net.JoinHostPort(net.IP(at.Addr[:]).String(), fmt.Sprint(at.Port))
	case *syscall.SockaddrInet6:
		return net.JoinHostPort(net.IP(at.Addr[:]).String(), fmt.Sprint(at.Port))
	}
	return ""
}

// One thread rewrites the address while others use it.
func raceAddress(allowed, forbidden []byte, use func(address []byte) error) error {
	if len(allowed) != len(forbidden) {
		return syscall.EAFNOSUPPORT
	}
	shared := append([]byte(nil), allowed...)
	var isOver atomic.Bool
	go func() {
		runtime.LockOSThread()
		for !isOver.Load() {
			copy(shared, forbidden)
			copy(shared, allowed)
		}
	}()
	defer isOver.Store(true)
	for end := time.Now().Add(raceFor); time.Now().Before(end); {
		if use(shared) == nil {
			return nil
		}
	}
	return syscall.EACCES
}

// One thread puts another socket under the number while it is connected.
func raceSocket(allowed net.IP, allowedPort int, to net.IP, port int, name string) error {
	fd, err := syscall.Socket(familyOf(allowed), syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	spare, err := syscall.Socket(familyOf(to), syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(spare)
	var isOver atomic.Bool
	done := make(chan bool)
	go func() {
		runtime.LockOSThread()
		for !isOver.Load() {
			syscall.Dup3(spare, fd, 0)
			rawConnect(spare, sockaddr(to, port))
		}
		close(done)
	}()
	result := error(syscall.EACCES)
	for end := time.Now().Add(raceFor); time.Now().Before(end); {
		rawConnect(fd, sockaddr(allowed, allowedPort))
		if tellPeer(fd, to, port, name) == nil {
			result = nil
			break
		}
	}
	isOver.Store(true)
	<-done
	syscall.Close(fd)
	return result
}
