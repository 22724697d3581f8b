import { randomUUID } from 'node:crypto'
import { onTaken, type Pooled } from '@switchyard/db'
import { conflict, forbidden, invalid, invalidParameters, notFound } from '@switchyard/domain'
import { type CommandKind, canBeAsked, isAboutStep, isStepOpen, type SagaKey } from '@switchyard/domain/saga'
import type { SagaOrder, SagaSearch } from '../shapes/search.js'
import {
  answerCommand,
  type CommandAnswer,
  type CommandLease,
  type CommandLeaseKey,
  leasePending,
  returnCommands,
  type WantedCommands,
} from './lease-store.js'
import {
  type BatchDecision,
  type BatchKey,
  type CommandKey,
  changeBatchByDecision,
  changeByDecision,
  type Decision,
  expireCommands,
  findBatch,
  getCommand,
  insertCommands,
  type Operator,
  type SagaCommand,
} from './store.js'
import { type CommandTarget, findStepStatus, listCommandTargets, listSagaIds } from './target-store.js'
import type { CommandWaiting } from './waiting.js'

export { exceptIdsMax } from './lease-store.js'
export { type BatchDecision, type Decision, getCommand, listCommands, type Operator } from './store.js'

/** Most open commands of one operator. */
const openMax = 1000

export interface CommandDependencies {
  /** Connections with a time limit for each statement, separate from those that store events. */
  database: Pooled
  waiting: CommandWaiting
  /** Whether another user must approve each command. */
  needsApproval: boolean
}

/** The command that an operator requests, for one saga or for many. */
export interface CommandRequest {
  kind: CommandKind
  reason: string
  expiresInSeconds: number
}

/**
 * Requests a command from the orchestrator of a saga.
 *
 * @param activityId the step of retry and skip; undefined: the step at which the saga stands
 * @throws DomainError not-found | conflict when the saga has an open command or no service, when it has
 *   ended, or when no step, or not this one, is left to do
 */
export async function requestCommand(
  { database, waiting, needsApproval }: CommandDependencies,
  { tenant, sagaId }: SagaKey,
  { activityId, ...request }: CommandRequest & { activityId: string | undefined },
  operator: Operator,
): Promise<SagaCommand> {
  await expireCommands(database)
  const [target] = await listCommandTargets(database, tenant, [sagaId])
  if (!target) throw notFound('Saga')
  const step =
    activityId === undefined ? undefined : await findStepStatus(database, { tenant, sagaId, activityId })
  if (step === null) throw notFound('Activity')
  const subject = subjectOf(
    request.kind,
    activityId === undefined ? target : { ...target, stepId: activityId },
  )
  if (typeof subject === 'string') throw conflict(problems[subject])
  if (step !== undefined && !isStepOpen(step))
    throw conflict(`The step is ${step}, so there is nothing to ${request.kind}`)
  const state = needsApproval ? 'waiting_for_approval' : 'pending'
  const commands = { tenant, ...request, state, batchId: null, sagas: [subject] } as const
  const [command] = await insertCommands(database, commands, operator, openMax)
  if (!command) throw conflict(problems.busy)
  waiting.announce([command])
  return command
}

const problems = {
  without_service: 'No event has named the service of the saga, so nobody can be asked',
  without_step: 'The saga has no step that stands still: name one with activity_id',
  busy: 'The saga has a command that has not ended',
  ended: 'The saga has ended, and nothing of this kind is left to do',
}

/** Returns the step of a command of this kind for a saga, or the reason why the command is impossible. */
function subjectOf(kind: CommandKind, target: CommandTarget) {
  const { sagaId, serviceName, stepId, hasOpenCommand } = target
  if (serviceName === null) return 'without_service'
  if (!canBeAsked(kind, target)) return 'ended'
  if (hasOpenCommand) return 'busy'
  if (!isAboutStep(kind)) return { sagaId, serviceName, activityId: null }
  return stepId === null ? 'without_step' : { sagaId, serviceName, activityId: stepId }
}

/** Most sagas of one request. */
const batchMax = 500

/** The sagas that a filter finds. */
export interface Found {
  tenant: string
  search: SagaSearch
  order: SagaOrder
}

/** The sagas of a filter that would get a command, and the reasons why the others would not. */
export interface BatchPlan {
  matched: number
  leftOut: Record<keyof typeof problems, number>
  sagas: { sagaId: string; serviceName: string; activityId: string | null }[]
}

/**
 * Returns the effect of a request for all sagas of a filter.
 *
 * @throws DomainError invalid-parameters when the filter finds too many sagas
 */
export async function planBatch(
  { database }: Pick<CommandDependencies, 'database'>,
  found: Found,
  kind: CommandKind,
): Promise<BatchPlan> {
  await expireCommands(database)
  const ids = await listSagaIds(database, found, batchMax + 1)
  if (ids.length > batchMax) throw invalidParameters([`filter finds more than ${batchMax} sagas: narrow it`])
  const leftOut = { without_service: 0, without_step: 0, busy: 0, ended: 0 }
  const subjects = (await listCommandTargets(database, found.tenant, ids)).map((target) =>
    subjectOf(kind, target),
  )
  const sagas = subjects.filter((subject) => typeof subject !== 'string')
  for (const subject of subjects) if (typeof subject === 'string') leftOut[subject] += 1
  return { matched: subjects.length, leftOut, sagas }
}

/**
 * Requests the same command for all sagas of a filter, except those for which it is impossible.
 *
 * @param expectedCount number of sagas that the operator expects
 * @throws DomainError conflict when the filter finds another number | invalid-parameters when it finds too
 *   many
 */
export async function requestBatch(
  deps: CommandDependencies,
  found: Found,
  request: CommandRequest,
  expectedCount: number,
  operator: Operator,
): Promise<BatchPlan & { batchId: string; created: number }> {
  const { database, waiting, needsApproval } = deps
  const plan = await planBatch(deps, found, request.kind)
  if (plan.matched !== expectedCount)
    throw conflict(`The filter finds ${plan.matched} sagas and not ${expectedCount}`)
  const batchId = randomUUID()
  const state = needsApproval ? 'waiting_for_approval' : 'pending'
  const commands = { tenant: found.tenant, ...request, state, batchId, sagas: plan.sagas } as const
  const created = await insertCommands(database, commands, operator, openMax)
  waiting.announce(created)
  return { ...plan, batchId, created: created.length }
}

/**
 * Approves, denies, withdraws or redelivers a command.
 *
 * @throws DomainError not-found | forbidden when authors approve their own commands | conflict when the state
 *   does not allow it
 */
export async function decideCommand(
  { database, waiting }: Pick<CommandDependencies, 'database' | 'waiting'>,
  key: CommandKey,
  decision: Decision,
  operator: Operator,
  expiresInSeconds: number | null = null,
): Promise<SagaCommand> {
  const command = await getCommand(database, key)
  requireOtherThanAuthor(decision, command, operator)
  const changed = await changeByDecision(database, key, decision, operator, expiresInSeconds).catch(
    onTaken((cause) => conflict(problems.busy, { cause })),
  )
  if (!changed) throw conflict(`The command is ${(await getCommand(database, key)).state}`)
  waiting.announce([changed])
  return changed
}

/**
 * Makes a decision about all commands of a batch whose state still allows it.
 *
 * @throws DomainError not-found | forbidden when authors approve their own commands | conflict when no state
 *   allows it
 */
export async function decideBatch(
  { database, waiting }: Pick<CommandDependencies, 'database' | 'waiting'>,
  key: BatchKey,
  decision: BatchDecision,
  operator: Operator,
): Promise<{ batchId: string; decided: number; leftOut: number }> {
  await expireCommands(database)
  const batch = await findBatch(database, key)
  if (!batch) throw notFound('Batch')
  requireOtherThanAuthor(decision, batch, operator)
  const changed = await changeBatchByDecision(database, key, decision, operator)
  if (changed.length === 0) throw conflict(`No command of the batch can be ${participles[decision]} any more`)
  waiting.announce(changed)
  return { batchId: key.batchId, decided: changed.length, leftOut: batch.size - changed.length }
}

const participles: Record<BatchDecision, string> = {
  approve: 'approved',
  deny: 'denied',
  withdraw: 'withdrawn',
}

/** @throws DomainError forbidden when authors approve their own commands */
function requireOtherThanAuthor(decision: Decision, { authorId }: { authorId: number }, { id }: Operator) {
  if (decision === 'approve' && authorId === id)
    throw forbidden('another user than the one who has asked must approve the command')
}

/**
 * Leases commands, and waits for one when there is none. If the caller has disconnected, the leased commands
 * are returned, because they cannot have arrived.
 *
 * @throws DomainError rate-limited | unavailable when too many calls wait
 */
export async function leaseCommands(
  { database, waiting }: Pick<CommandDependencies, 'database' | 'waiting'>,
  wanted: WantedCommands,
  { waitMs, sender, signal }: { waitMs: number; sender: string; signal: AbortSignal },
): Promise<CommandLease[]> {
  const leave = waiting.enter(sender)
  try {
    const endMs = performance.now() + waitMs
    for (;;) {
      if (signal.aborted) return []
      const leased = await leasePending(database, wanted)
      if (signal.aborted) {
        const tokens = leased.map(({ leaseToken }) => leaseToken)
        await returnCommands(database, tokens, { tenants: null, service: null }, null)
      }
      const leftMs = endMs - performance.now()
      if (leased.length > 0 || leftMs <= 0 || waiting.isClosed) return leased
      await waiting.wait(wanted, leftMs, signal)
    }
  } finally {
    leave()
  }
}

/**
 * Stores the answer of an orchestrator. A returned command becomes available to another orchestrator.
 *
 * @param key null: no lease can have this key
 * @throws DomainError invalid when the command has another answer, was returned, or was leased again
 */
export async function acknowledgeCommand(
  { database, waiting }: Pick<CommandDependencies, 'database' | 'waiting'>,
  key: CommandLeaseKey | null,
  { answer, message }: { answer: CommandAnswer | 'return'; message: string | null },
): Promise<void> {
  const store = async (lease: CommandLeaseKey) => {
    if (answer !== 'return') return answerCommand(database, lease, answer, message)
    const returned = await returnCommands(database, [lease.token], lease, message)
    waiting.announce(returned)
    return returned.length > 0
  }
  if (key === null || !(await store(key)))
    throw invalid('this lease has ended, or its command has another answer')
}
