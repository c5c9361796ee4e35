module sonde.test/lab/amneziawg-go-1.0

go 1.24.4

tool github.com/amnezia-vpn/amneziawg-go

require (
	github.com/amnezia-vpn/amneziawg-go v0.2.12 // indirect
	github.com/tevino/abool/v2 v2.1.0 // indirect
	golang.org/x/crypto v0.21.0 // indirect
	golang.org/x/net v0.21.0 // indirect
	golang.org/x/sys v0.18.0 // indirect
	golang.zx2c4.com/wintun v0.0.0-20230126152724-0fa3db229ce2 // indirect
)
