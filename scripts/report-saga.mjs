// Reports an example saga over gRPC: `node scripts/report-saga.mjs [SAGA_ID]`. GRPC_PORT chooses the port.
import { randomUUID } from 'node:crypto'
import { bootstrap, exitWhenStopped, run } from './bootstrap.mjs'

await run(async (stop) => {
  await bootstrap(stop)
  exitWhenStopped(stop)
  const { reportSaga } = await import('../packages/dev-env/dist/report-saga.js')
  return await reportSaga(`localhost:${process.env.GRPC_PORT || 50051}`, process.argv[2] ?? randomUUID())
})
