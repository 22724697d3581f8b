// Reports an example saga over gRPC.
import { randomUUID } from 'node:crypto'
import { readArguments } from './setup/arguments.mjs'
import { bootstrap, exitWhenStopped, run } from './setup/bootstrap.mjs'
import { commandOf } from './setup/installed.mjs'

const { operands } = readArguments(
  `${commandOf('report-saga', 'node ops/report-saga.mjs')} [SAGA_ID]
  Reports an example saga over gRPC to localhost. GRPC_PORT chooses the port, SAGA_ID the saga.`,
  { operands: ['SAGA_ID?'] },
)

await run(async (stop) => {
  await bootstrap(stop, { names: ['packages/local-servers'] })
  exitWhenStopped(stop)
  const { reportSaga } = await import('../packages/local-servers/dist/bundle/report-saga.js')
  return await reportSaga(`localhost:${process.env.GRPC_PORT || 50051}`, operands[0] ?? randomUUID())
})
