import { credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import {
  type AcknowledgeCommandResponse,
  CommandResult,
  type LeaseCommandsRequest,
  type LeaseCommandsResponse,
  SagaCommandsClient,
} from '@switchyard/contracts/saga-commands'
import type { Grpc } from '../grpc-client.js'

/** Reports a saga whose second step has failed, and returns its id. */
export async function reportFailedSaga(grpc: Grpc, token: string, serviceName: string, name: string) {
  const sagaId = `${serviceName}-${name}`
  const events = [
    ['SagaStarted', { serviceName }],
    ['ActivityExecuteStarted', { activityId: `${sagaId}-1`, order: 0 }],
    ['ActivityEnded', { activityId: `${sagaId}-1` }],
    ['ActivityExecuteStarted', { activityId: `${sagaId}-2`, order: 1 }],
    ['ActivityExecuteAborted', { activityId: `${sagaId}-2`, errors: 'no' }],
  ] as const
  for (const [operation, fields] of events)
    await grpc.report(operation, { sagaId, ...fields }, { metadata: { 'private-token': token } })
  return sagaId
}

/** A command as the API returns it. */
export interface Shown {
  id: string
  saga_id: string
  state: string
  [name: string]: unknown
}

const usual = { tenant: '', max: 0, leaseSeconds: 0, waitSeconds: 0, worker: 'test', exceptIds: [] }

/** Returns an orchestrator that leases and answers commands over gRPC. */
export function openOrchestrator(port: number, bearer: string) {
  const client = new SagaCommandsClient(`127.0.0.1:${port}`, credentials.createInsecure())
  const bearing = (token: string | null) => {
    const metadata = new Metadata()
    if (token !== null) metadata.set('authorization', `Bearer ${token}`)
    return metadata
  }
  const answer = <Response>(
    call: (callback: (error: ServiceError | null, response: Response) => void) => unknown,
  ) =>
    new Promise<Response>((resolve, reject) => {
      call((error, response) => (error ? reject(error) : resolve(response)))
    })
  return {
    client,
    lease: async (
      serviceName: string,
      given: Partial<LeaseCommandsRequest> = {},
      token: string | null = bearer,
    ) => {
      const { commands } = await answer<LeaseCommandsResponse>((callback) =>
        client.leaseCommands({ ...usual, serviceName, ...given }, bearing(token), callback),
      )
      return commands
    },
    acknowledge: (
      leaseToken: string | undefined,
      result = CommandResult.COMMAND_RESULT_SUCCEEDED,
      message = '',
      token: string | null = bearer,
    ) =>
      answer<AcknowledgeCommandResponse>((callback) =>
        client.acknowledgeCommand(
          { leaseToken: leaseToken ?? '', result, message },
          bearing(token),
          callback,
        ),
      ),
    close: () => client.close(),
  }
}

/** Returns the status with which a call ends. */
export const codeOf = (work: Promise<unknown>): Promise<number | undefined> =>
  work.then(
    () => status.OK,
    (error: ServiceError) => error.code,
  )

/** Returns an operator who requests commands over HTTP. */
export function openOperator(baseUrl: string) {
  const send = (method: string, path: string, token: string | null, body?: object) =>
    fetch(`${baseUrl}/api/v4/sagas/${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', ...(token && { 'PRIVATE-TOKEN': token }) },
      ...(body && { body: JSON.stringify(body) }),
    })
  return async (method: string, path: string, token: string | null, body?: object) => {
    const response = await send(method, path, token, body)
    // biome-ignore lint/suspicious/noExplicitAny: the tests compare what they read
    return { status: response.status, body: (await response.json()) as any }
  }
}
