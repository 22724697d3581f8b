import { request } from 'node:https'
import { type ChannelCredentials, credentials, Metadata } from '@grpc/grpc-js'
import { type CommonResponse, SagaClient } from '@switchyard/contracts/saga'

export const url = 'http://127.0.0.1:8080'
export const grpcAddress = 'localhost:50051'

/** Reports the start of a saga; rejects with the gRPC status. */
export function reportStart(
  sagaId: string,
  {
    token,
    serviceName = 'orders',
    channel = credentials.createInsecure(),
  }: { token?: string; serviceName?: string; channel?: ChannelCredentials },
): Promise<CommonResponse> {
  const client = new SagaClient(grpcAddress, channel)
  const metadata = new Metadata()
  if (token) metadata.set('authorization', `Bearer ${token}`)
  return new Promise<CommonResponse>((resolve, reject) => {
    const options = { deadline: Date.now() + 20_000 }
    client.sagaStarted({ sagaId, serviceName }, metadata, options, (error, response) =>
      error ? reject(error) : resolve(response),
    )
  }).finally(() => client.close())
}

/** Returns the status of an answer over HTTPS, and the serial number of the server's certificate. */
export const askWithTls = (path: string, options: object) =>
  new Promise<{ status: number | undefined; serialNumber: string }>((resolve, reject) => {
    const port = Number(new URL(url).port)
    const sent = request({ host: '127.0.0.1', servername: 'localhost', port, path, agent: false, ...options })
    sent.once('response', (answer) => {
      const { serialNumber } = (answer.socket as import('node:tls').TLSSocket).getPeerCertificate()
      answer.resume().once('end', () => resolve({ status: answer.statusCode, serialNumber }))
    })
    sent.once('error', reject)
    sent.end()
  })
