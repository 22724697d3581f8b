import { randomUUID } from 'node:crypto'
import { credentials } from '@grpc/grpc-js'
import { type CommonResponse, SagaClient } from '@switchyard/contracts/saga'

type Callback = (error: Error | null, response: CommonResponse) => void

/**
 * Reports a saga with one activity from start to end, with one call for each event, as an orchestrator does.
 * Prints a line for each call and returns the exit code.
 */
export async function reportSaga(address: string, sagaId: string): Promise<number> {
  const client = new SagaClient(address, credentials.createInsecure())
  const activityId = randomUUID()
  const saga = { sagaId, serviceName: 'booking' }
  const started = {
    activityId,
    sagaId,
    timeOutSeconds: 30,
    parameterData: Buffer.from(JSON.stringify({ seats: 2 })),
    order: 1,
    addTime: new Date().toISOString(),
  }
  const ended = { activityId, sagaId, resultData: Buffer.from(JSON.stringify({ booked: true })) }
  try {
    await print('SagaStarted', sagaId, (done) => client.sagaStarted(saga, done))
    await print('ActivityExecuteStarted', activityId, (done) => client.activityExecuteStarted(started, done))
    await print('ActivityEnded', activityId, (done) => client.activityEnded(ended, done))
    await print('SagaEnded', sagaId, (done) => client.sagaEnded(saga, done))
    return 0
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    return 1
  } finally {
    client.close()
  }
}

async function print(operation: string, id: string, call: (done: Callback) => unknown): Promise<void> {
  const response = await new Promise<CommonResponse>((resolve, reject) => {
    call((error, answer) => (error ? reject(error) : resolve(answer)))
  })
  if (!response.isSuccess) throw new Error(`${operation} was refused: ${response.message} ${response.errors}`)
  process.stdout.write(`${operation} ${id} ${response.message}\n`)
}
