#!/bin/sh
# Stands where the Prisma CLI looks for its native schema engine, so that it does not try to download one.
# Generating the client needs no schema engine; migrations run on the WebAssembly build (src/migrations).
echo 'Switchyard ships no native schema engine: use npm run db:migrate, pnpm generate migration and pnpm check drift.' >&2
exit 1
