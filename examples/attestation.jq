.attestation
| "tier: \(.tier)   policy: \(.policy)",
  (.layers[] | "\(.state | . + " " * (14 - length))\(.name | . + " " * ([24 - length, 1] | max))\(.proof)")
