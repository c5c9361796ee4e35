module sonde.test/lab/amneziawg-go-1.5

go 1.24.4

tool github.com/amnezia-vpn/amneziawg-go

require (
	github.com/amnezia-vpn/amneziawg-go v0.2.13 // indirect
	github.com/tevino/abool v1.2.0 // indirect
	go.uber.org/atomic v1.11.0 // indirect
	golang.org/x/crypto v0.39.0 // indirect
	golang.org/x/net v0.41.0 // indirect
	golang.org/x/sys v0.33.0 // indirect
	golang.zx2c4.com/wintun v0.0.0-20230126152724-0fa3db229ce2 // indirect
)
