module example.com/word-count

go 1.20
