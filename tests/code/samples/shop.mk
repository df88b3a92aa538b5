include lib/common.mk
.PHONY: build test-all

VERSION := 1
export REGION ?= eu

build: deps
	go build -ldflags $(VERSION)

test-all: build
	go test

%.o: %.c
	cc $<

define shout
echo $(1)
endef

ifdef FAST
fast: build
	./run
endif
