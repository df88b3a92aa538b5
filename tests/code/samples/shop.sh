#!/usr/bin/env bash
set -eu
. "$(dirname "$0")/lib/log.sh"
source ./prices.sh

LIMIT=10
readonly REGION=eu

function total {
  local sum=0
  sum=$((sum + $(price_of "$1")))
  echo "$sum"
}

# Charges a card.
pay() {
  if [ "$LIMIT" -gt 3 ]; then
    log_line "${REGION}"
  fi
  total "$1" | charge
}

trap cleanup EXIT
pay "$@"
