import { type CommandHandlers, CommandReturned, type SagaClient } from '@switchyard/saga-client'
import type { Outcome, Saga } from './orchestrator.js'

/**
 * Executes commands of operators for the sagas of this process, and returns commands for other sagas to the
 * process that has them. A complete orchestrator stores its sagas in a database, with the ids of the executed
 * commands, so that it knows them after a crash.
 */
export function obeyCommands(reporter: SagaClient, sagas: ReadonlyMap<string, Saga>): () => Promise<void> {
  const find = (sagaId: string): Saga => {
    const saga = sagas.get(sagaId)
    if (!saga) throw new CommandReturned('this process does not have the trip')
    return saga
  }
  const say = async (sagaId: string, obey: (saga: Saga) => Promise<Outcome>, but = ''): Promise<string> => {
    const saga = find(sagaId)
    const outcome = await obey(saga)
    if (outcome === 'stuck') throw new Error('the trip is stuck', { cause: saga.because })
    return `the trip is ${outcome}${but}`
  }
  const handlers: CommandHandlers = {
    retry: ({ sagaId, activityId }) => say(sagaId, (saga) => saga.retry(activityId)),
    skip: ({ sagaId, activityId }) =>
      say(
        sagaId,
        (saga) => saga.skip(activityId),
        ', but for the step that was skipped: somebody else undoes it',
      ),
    compensate: ({ sagaId }) => say(sagaId, (saga) => saga.compensate()),
    cancel: ({ sagaId }) => say(sagaId, (saga) => saga.cancel()),
  }
  return reporter.onCommand(handlers)
}
