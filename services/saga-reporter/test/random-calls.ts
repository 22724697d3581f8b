import fc from 'fast-check'
import type { Fields, Operation } from './grpc-client.js'

const saga = fc.constantFrom('s1', 's2', 's3')
const activityOf = fc
  .constantFrom('a', 'b')
  .chain((name) => saga.map((sagaId) => ({ sagaId, activityId: `${sagaId}-${name}` })))
const errors = fc.constantFrom('no stock', 'e'.repeat(20_000))
/** A random call about one of three sagas with two activities each. */
export const randomCall: fc.Arbitrary<[Operation, Fields]> = fc.oneof(
  saga.map((sagaId): [Operation, Fields] => ['SagaStarted', { sagaId, serviceName: 'booking' }]),
  fc
    .tuple(saga, fc.constantFrom('', '2030-01-01 00:00:00.000'))
    .map(([sagaId, serviceName]): [Operation, Fields] => ['SagaEnded', { sagaId, serviceName }]),
  fc
    .tuple(activityOf, fc.constantFrom(0, 30), fc.constantFrom('', 'x', 'p'.repeat(20_000)))
    .map(([ids, timeOutSeconds, parameter]): [Operation, Fields] => [
      'ActivityExecuteStarted',
      { ...ids, timeOutSeconds, order: 1, parameterData: Buffer.from(parameter) },
    ]),
  fc
    .tuple(activityOf, fc.boolean(), fc.constantFrom('', 'done', 'r'.repeat(20_000)))
    .map(([{ sagaId, activityId }, named, result]): [Operation, Fields] => [
      'ActivityEnded',
      { activityId, sagaId: named ? sagaId : '', resultData: Buffer.from(result) },
    ]),
  fc
    .tuple(activityOf, errors)
    .map(([{ activityId }, text]): [Operation, Fields] => [
      'ActivityExecuteAborted',
      { activityId, errors: text },
    ]),
  fc
    .tuple(activityOf, fc.boolean(), errors)
    .map(([{ sagaId, activityId }, gaveUp, text]): [Operation, Fields] => [
      'ActivityCompensateAborted',
      { activityId, sagaId: gaveUp ? sagaId : '', errors: text },
    ]),
  activityOf.map(({ activityId }): [Operation, Fields] => ['ActivityCompensated', { activityId }]),
  activityOf.map(({ activityId }): [Operation, Fields] => ['ActivityRevoked', { activityId }]),
  fc
    .tuple(activityOf, fc.nat(3), fc.nat(1))
    .map(([{ activityId }, retries, activityRetryType]): [Operation, Fields] => [
      'ActivityRetried',
      { activityId, retries, activityRetryType },
    ]),
)

/**
 * Returns random calls about three sagas with two activities each, in an order that no orchestrator would
 * send.
 */
export const randomCalls = (count: number): [Operation, Fields][] => fc.sample(randomCall, count)
