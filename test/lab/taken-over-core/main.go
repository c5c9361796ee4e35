// A stand-in for sing-box that a server has taken over: it starts as a core does, tries whatever could harm Sonde or its machine, and reports
// to its server what succeeded, as one line of JSON.
//
// What it tries is said by the path of its server's transport, which a link's author chooses: base64url of JSON (aims).
package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

type aims struct {
	// Files that it wants to read, by what they are called in the report.
	Files map[string]string `json:"files"`
	// Folders that it wants to write into.
	Folders map[string]string `json:"folders"`
	// TCP ports on loopback.
	Ports map[string]int `json:"ports"`
	// A port of datagrams, and a path of a unix socket.
	Datagrams int    `json:"datagrams"`
	Unix      string `json:"unix"`
	// A copy of this program that belongs to root, setuid.
	Setuid string `json:"setuid"`
	// Where it is not to come to; without it that is not tried.
	Elsewhere *elsewhere `json:"elsewhere"`
}

type config struct {
	Inbounds []struct {
		Port int `json:"listen_port"`
	} `json:"inbounds"`
	Outbounds []struct {
		Type      string `json:"type"`
		Password  string `json:"password"`
		Server    string `json:"server"`
		Port      int    `json:"server_port"`
		Transport struct {
			Path string `json:"path"`
		} `json:"transport"`
	} `json:"outbounds"`
}

const sysSeccompRefused = syscall.EPERM

func main() {
	if len(os.Args) > 1 && os.Args[1] == "whoami" {
		fmt.Print(os.Geteuid())
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "version" {
		fmt.Println("sing-box version 1.14.1\n\nTags: with_quic,with_utls,with_grpc")
		return
	}
	if len(os.Args) > 2 && os.Args[1] == "listen" {
		listenFor(os.Args[2])
		return
	}
	text, _ := io.ReadAll(os.Stdin)
	var given config
	if json.Unmarshal(text, &given) != nil || len(given.Inbounds) == 0 {
		os.Exit(1)
	}
	listener, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", given.Inbounds[0].Port))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go serve(listener)
	for _, outbound := range given.Outbounds {
		// What has no path of a transport travels in datagrams.
		isUdp := outbound.Transport.Path == ""
		text := strings.TrimPrefix(outbound.Transport.Path, "/")
		if isUdp {
			text = outbound.Password
		}
		plain, err := base64.RawURLEncoding.DecodeString(text)
		var wanted aims
		if err != nil || json.Unmarshal(plain, &wanted) != nil {
			continue
		}
		var found map[string]string
		if wanted.Elsewhere == nil {
			found = try(wanted)
		} else {
			found = tryElsewhere(outbound.Server, outbound.Port, isUdp, *wanted.Elsewhere)
		}
		report(isUdp, fmt.Sprintf("%s:%d", outbound.Server, outbound.Port), found)
	}
	time.Sleep(time.Minute)
}

// Says what arrives at an address, in TCP and UDP, a line each.
func listenFor(address string) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	datagrams, err := net.ListenPacket("udp", address)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go func() {
		text := make([]byte, 4096)
		for {
			length, from, err := datagrams.ReadFrom(text)
			if err != nil {
				return
			}
			fmt.Printf("udp from %s: %s\n", from, text[:length])
		}
	}()
	fmt.Println("ready")
	for {
		socket, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer socket.Close()
			text := make([]byte, 4096)
			socket.SetReadDeadline(time.Now().Add(5 * time.Second))
			length, _ := socket.Read(text)
			fmt.Printf("tcp from %s: %s\n", socket.RemoteAddr(), text[:length])
		}()
	}
}

// Lets everybody in, as a core does with the password (RFC 1928, 1929).
func serve(listener net.Listener) {
	for {
		socket, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer socket.Close()
			bytes := make([]byte, 4096)
			if _, err := socket.Read(bytes); err == nil {
				socket.Write([]byte{5, 2, 1, 0})
			}
			time.Sleep(time.Minute)
		}()
	}
}

func report(isUdp bool, server string, reached map[string]string) {
	network := "tcp"
	if isUdp {
		network = "udp"
	}
	socket, err := net.DialTimeout(network, server, 5*time.Second)
	if err != nil {
		fmt.Fprintln(os.Stderr, "no report:", err)
		return
	}
	line, _ := json.Marshal(reached)
	socket.Write(append(line, '\n'))
	socket.Close()
}

// "reached", or why not.
func try(wanted aims) map[string]string {
	found := map[string]string{}
	say := func(name string, err error) {
		if err == nil {
			found[name] = "reached"
		} else {
			found[name] = err.Error()
		}
	}
	for name, path := range wanted.Files {
		say("read "+name, readable(path))
	}
	for name, path := range wanted.Folders {
		say("write "+name, writable(path))
	}
	for name, port := range wanted.Ports {
		say("connect "+name, connects("tcp", fmt.Sprintf("127.0.0.1:%d", port)))
	}
	say("datagrams", sends(wanted.Datagrams))
	say("unix socket", connects("unix", wanted.Unix))
	parent := os.Getppid()
	for _, name := range []string{"environ", "maps", "auxv"} {
		say("parent's "+name, readable(fmt.Sprintf("/proc/%d/%s", parent, name)))
	}
	say("parent's memory", opens(fmt.Sprintf("/proc/%d/mem", parent)))
	say("parent's descriptors", lists(fmt.Sprintf("/proc/%d/fd", parent)))
	say("list of processes", lists("/proc"))
	say("list of /", lists("/"))
	say("ptrace", ptrace(parent))
	say("process_vm_readv", remoteRead(parent))
	say("signal to parent", syscall.Kill(parent, 0))
	say("program of the system", exec.Command("/bin/sh", "-c", "exit 0").Run())
	say("setuid", setuid(wanted.Setuid))
	for name, call := range calls {
		_, _, errno := syscall.RawSyscall6(call.number[arch()], call.args[0], call.args[1], call.args[2], call.args[3], 0, 0)
		// Another error than a refusal: it was looked at.
		if errno == sysSeccompRefused || errno == syscall.ENOSYS {
			found[name] = errno.Error()
		} else {
			found[name] = "reached"
		}
	}
	if names := os.Environ(); len(names) > 0 {
		found["environment"] = "reached"
	} else {
		found["environment"] = "empty"
	}
	return found
}

func arch() int {
	if runtime.GOARCH == "arm64" {
		return 1
	}
	return 0
}

// Numbers on x86-64 and arm64.
var calls = map[string]struct {
	number [2]uintptr
	args   [4]uintptr
}{
	"io_uring":          {[2]uintptr{425, 425}, [4]uintptr{1}},
	"bpf":               {[2]uintptr{321, 280}, [4]uintptr{^uintptr(0)}},
	"perf_event_open":   {[2]uintptr{298, 241}, [4]uintptr{}},
	"keyctl":            {[2]uintptr{250, 219}, [4]uintptr{0, ^uintptr(2), 0, 0}},
	"unshare":           {[2]uintptr{272, 97}, [4]uintptr{0x10000000}},
	"userfaultfd":       {[2]uintptr{323, 282}, [4]uintptr{0xffff}},
	"mount":             {[2]uintptr{165, 40}, [4]uintptr{}},
	"open_by_handle_at": {[2]uintptr{304, 265}, [4]uintptr{}},
}

func readable(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.Read(make([]byte, 1))
	if err == io.EOF {
		return nil
	}
	return err
}

func opens(path string) error {
	file, err := os.Open(path)
	if err == nil {
		file.Close()
	}
	return err
}

func writable(folder string) error {
	path := folder + "/taken-over"
	err := os.WriteFile(path, []byte("x"), 0o600)
	if err == nil {
		os.Remove(path)
	}
	return err
}

func lists(folder string) error {
	_, err := os.ReadDir(folder)
	return err
}

func connects(network string, address string) error {
	socket, err := net.DialTimeout(network, address, 2*time.Second)
	if err == nil {
		socket.Close()
	}
	return err
}

func sends(port int) error {
	socket, err := net.Dial("udp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	defer socket.Close()
	_, err = socket.Write([]byte("x"))
	return err
}

func ptrace(pid int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := syscall.PtraceAttach(pid)
	if err == nil {
		var status syscall.WaitStatus
		syscall.Wait4(pid, &status, 0, nil)
		syscall.PtraceDetach(pid)
	}
	return err
}

// Where it may read, address 1 is a fault.
func remoteRead(pid int) error {
	local := make([]byte, 8)
	mine := [2]uintptr{uintptr(unsafe.Pointer(&local[0])), 8}
	theirs := [2]uintptr{1, 8}
	number := [2]uintptr{310, 270}[arch()]
	_, _, errno := syscall.RawSyscall6(number, uintptr(pid), uintptr(unsafe.Pointer(&mine)), 1, uintptr(unsafe.Pointer(&theirs)), 1, 0)
	if errno == syscall.EFAULT || errno == 0 {
		return nil
	}
	return errno
}

func setuid(program string) error {
	said, err := exec.Command(program, "whoami").Output()
	if err != nil {
		return err
	}
	if !bytes.Equal(bytes.TrimSpace(said), []byte("0")) {
		return fmt.Errorf("is user %s", said)
	}
	return nil
}
