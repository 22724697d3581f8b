import { promisify } from 'node:util'
import { Client, credentials, type handleUnaryCall, Server, ServerCredentials } from '@grpc/grpc-js'
import { SagaService } from '@switchyard/contracts/saga'

/** Starts a server of only the ten operations, which forwards every call unchanged to a reporter. */
export async function startOlderServer(grpcPort: number) {
  const server = new Server({ 'grpc.max_receive_message_length': -1 })
  const upstream = new Client(`127.0.0.1:${grpcPort}`, credentials.createInsecure())
  const same = (bytes: Buffer) => bytes
  const calls = { count: 0 }
  for (const { path } of Object.values(SagaService)) {
    const handle: handleUnaryCall<Buffer, Buffer> = ({ request, metadata }, callback) => {
      calls.count += 1
      upstream.makeUnaryRequest(path, same, same, request, metadata.clone(), callback)
    }
    server.register(path, handle, same, same, 'unary')
  }
  const bind = promisify(server.bindAsync).bind(server)
  const port = await bind('127.0.0.1:0', ServerCredentials.createInsecure())
  const close = () => {
    server.forceShutdown()
    upstream.close()
  }
  return { address: `127.0.0.1:${port}`, calls, close }
}
