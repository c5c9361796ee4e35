module sonde.test/takenovercore

go 1.21
