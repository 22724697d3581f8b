import { credentials, type Metadata, Server, ServerCredentials } from '@grpc/grpc-js'
import { SagaService } from '@switchyard/contracts/saga'

/** HTTP/2 without TLS. */
export const insecure = credentials.createInsecure()

/** Starts a gRPC server on loopback that accepts every SagaStarted and stores the metadata of the calls. */
export async function startGrpcEcho() {
  const seen: Metadata[] = []
  const server = new Server()
  server.addService(
    { sagaStarted: SagaService.sagaStarted },
    {
      sagaStarted: (call: { metadata: Metadata }, answer: (error: null, response: object) => void) => {
        seen.push(call.metadata)
        answer(null, { isSuccess: true, message: 'recorded' })
      },
    },
  )
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    )
  })
  return { port, seen, stop: () => new Promise<void>((resolve) => server.tryShutdown(() => resolve())) }
}
