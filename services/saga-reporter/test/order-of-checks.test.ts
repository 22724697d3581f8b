import { status } from '@grpc/grpc-js'
import { CommonResponse } from '@switchyard/contracts/saga'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { connectRaw, frame } from './grpc/raw-calls.js'
import { encode } from './grpc-client.js'
import { createTokens, startHarness } from './harness.js'

let harness: Awaited<ReturnType<typeof startHarness>>
let tokens: Awaited<ReturnType<typeof createTokens>>
let raw: Awaited<ReturnType<typeof connectRaw>>
beforeAll(async () => {
  harness = await startHarness({ SAGA_AUTH: 'token' })
  tokens = await createTokens(harness.database)
  raw = await connectRaw(harness.grpcPort)
})
afterAll(async () => {
  raw?.close()
  await harness?.close()
})

const undecodable = Buffer.from([0x0a, 0xff])

it('a call that breaks several rules is refused by the first step of docs/one-request.md that it fails', async () => {
  const report = (message: Buffer, headers: Record<string, string>) =>
    raw.call(frame(message), { ':path': '/svc.Sagas.Server.Grpc.Saga/SagaStarted', ...headers })
  const refusedAs = async (code: status, details: RegExp, message: Buffer, headers: Record<string, string>) =>
    expect(await report(message, headers)).toMatchObject({
      status: String(code),
      details: expect.stringMatching(details),
    })

  const unknown = { authorization: `Bearer ${tokens.unknown}` }
  await refusedAs(status.INVALID_ARGUMENT, /x-tenant/, undecodable, { ...unknown, 'x-tenant': 'é' })
  await refusedAs(status.UNAUTHENTICATED, /./, undecodable, unknown)
  await refusedAs(status.PERMISSION_DENIED, /./, undecodable, { authorization: `Bearer ${tokens.reader}` })
  const known = { authorization: `Bearer ${tokens.reporter}` }
  await refusedAs(status.INVALID_ARGUMENT, /./, undecodable, known)

  const invalid = await report(encode('SagaStarted', { sagaId: '', serviceName: 'booking' }), known)
  expect(invalid.status).toBe(String(status.OK))
  expect(CommonResponse.decode(invalid.body.subarray(5))).toMatchObject({ isSuccess: false })
  const stored = await report(encode('SagaStarted', { sagaId: 's', serviceName: 'booking' }), known)
  expect(CommonResponse.decode(stored.body.subarray(5))).toMatchObject({ isSuccess: true })
})
