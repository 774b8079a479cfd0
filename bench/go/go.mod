module tinyhost.bench

go 1.22
