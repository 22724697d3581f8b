import { type CommandHandlers, CommandRefused, type SagaClient } from '@switchyard/saga-client'
import type { Saga } from './orchestrator.js'

/**
 * Does what operators ask of the sagas of this process. A whole orchestrator keeps its sagas in a database, with the id of each
 * command that it has obeyed beside them, so that it knows them after a crash.
 */
export function obeyCommands(reporter: SagaClient, sagas: ReadonlyMap<string, Saga>): () => Promise<void> {
  const find = (sagaId: string): Saga => {
    const saga = sagas.get(sagaId)
    if (!saga) throw new CommandRefused('this process does not have the trip')
    return saga
  }
  const handlers: CommandHandlers = {
    retry: async ({ sagaId, activityId }) => `the trip is ${await find(sagaId).retry(activityId)}`,
    skip: async ({ sagaId, activityId }) => `the trip is ${await find(sagaId).skip(activityId)}`,
    compensate: async ({ sagaId }) => `the trip is ${await find(sagaId).compensate()}`,
    cancel: ({ sagaId }) => find(sagaId).cancel(),
  }
  return reporter.onCommand(handlers)
}
