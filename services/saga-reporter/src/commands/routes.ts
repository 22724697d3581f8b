import type { Caller } from '@switchyard/domain/access'
import { commandKinds, commandStates, isAboutStep } from '@switchyard/domain/saga'
import {
  administrator,
  auditAuthor,
  type Call,
  created,
  endpoint,
  filledText,
  integer,
  ok,
  pageParameters,
  pageReply,
  type Route,
  rowsOf,
  text,
} from '@switchyard/service-kit/http'
import { z } from 'zod'
import { filterParameter, searchOf, tenantParameter } from '../shapes/parameters.js'
import { sagaReader, tenantRoute } from '../tenants.js'
import type { BatchDecision, CommandDependencies, Decision, Operator } from './commands.js'
import * as commands from './commands.js'
import {
  batchPreviewShape,
  batchShape,
  commandShape,
  decidedBatchShape,
  presentBatch,
  presentBatchPreview,
  presentCommand,
} from './present.js'

const base = '/sagas/commands'

/** Endpoints for commands to the orchestrators of sagas. */
export function commandRoutes(deps: CommandDependencies): Route[] {
  return [
    tenantRoute('GET', base, sagaReader, listCommands(deps)),
    tenantRoute('POST', base, administrator, createBatch(deps), { refusesUnknown: true }),
    tenantRoute('POST', `${base}/preview`, administrator, previewBatch(deps), {
      refusesUnknown: true,
    }),
    ...(['approve', 'deny', 'withdraw'] as const).map((decision) =>
      tenantRoute(
        'POST',
        `${base}/batches/:batch_id/${decision}`,
        administrator,
        decideBatch(deps, decision),
      ),
    ),
    tenantRoute('GET', `${base}/:id`, sagaReader, getCommand(deps)),
    tenantRoute('POST', `${base}/:id/approve`, administrator, decideCommand(deps, 'approve')),
    tenantRoute('POST', `${base}/:id/deny`, administrator, decideCommand(deps, 'deny')),
    tenantRoute('POST', `${base}/:id/withdraw`, administrator, decideCommand(deps, 'withdraw')),
    tenantRoute('POST', `${base}/:id/deliver_again`, administrator, deliverAgain(deps)),
    tenantRoute('GET', '/sagas/:id/commands', sagaReader, listCommandsOfSaga(deps)),
    tenantRoute('POST', '/sagas/:id/commands', administrator, createCommand(deps), {
      refusesUnknown: true,
    }),
  ]
}

const operatorOf = (caller: Caller, call: Call): Operator => ({
  id: caller.user.id,
  username: caller.user.username,
  audit: auditAuthor(caller, call),
})

const expiry = { usual: 3600, most: 7 * 24 * 3600 }

const expiresIn = () =>
  integer(10, expiry.most)
    .default(expiry.usual)
    .meta({ description: 'Seconds after which the command is no longer delivered: 10 to 604800' })

const requestParameters = {
  kind: z.enum(commandKinds),
  reason: filledText(1000).meta({ description: 'The reason, which the orchestrator also receives' }),
  expires_in: expiresIn(),
}

const commandId = () => z.uuid({ error: 'is invalid' })

const createCommand = (deps: CommandDependencies) =>
  endpoint({
    summary: 'Create a command for the orchestrator of a saga: retry or skip a step, compensate, or cancel',
    replies: { 201: commandShape },
    refusals: [409],
    input: z
      .object({
        id: text(),
        ...tenantParameter,
        ...requestParameters,
        activity_id: filledText().optional().meta({
          description:
            'The step of `retry` and `skip`. Unset: the last step that has neither succeeded nor been undone',
        }),
      })
      .refine(({ kind, activity_id }) => activity_id === undefined || isAboutStep(kind), {
        path: ['activity_id'],
        error: 'is only for retry and skip',
      }),
    async handle({ id, tenant, kind, reason, activity_id, expires_in }, caller: Caller, call) {
      const request = { kind, reason, activityId: activity_id, expiresInSeconds: expires_in }
      const saga = { tenant, sagaId: id }
      return created(
        presentCommand(await commands.requestCommand(deps, saga, request, operatorOf(caller, call))),
      )
    },
  })

const previewBatch = (deps: CommandDependencies) =>
  endpoint({
    summary: 'Count the sagas that match a filter and would get a command',
    replies: { 200: batchPreviewShape },
    input: z.object({ ...tenantParameter, kind: requestParameters.kind, filter: filterParameter }),
    handle: async ({ tenant, kind, filter }) =>
      ok(presentBatchPreview(await commands.planBatch(deps, { tenant, ...searchOf(tenant, filter) }, kind))),
  })

const createBatch = (deps: CommandDependencies) =>
  endpoint({
    summary: 'Create the same command for all sagas that match a filter',
    replies: { 201: batchShape },
    refusals: [409],
    input: z.object({
      ...tenantParameter,
      ...requestParameters,
      filter: filterParameter,
      expected_count: integer(0).meta({
        description: 'The `matched` of the preview; the request is refused when the number has changed',
      }),
    }),
    async handle({ tenant, kind, reason, expires_in, filter, expected_count }, caller: Caller, call) {
      const found = { tenant, ...searchOf(tenant, filter) }
      const request = { kind, reason, expiresInSeconds: expires_in }
      const operator = operatorOf(caller, call)
      return created(
        presentBatch(await commands.requestBatch(deps, found, request, expected_count, operator)),
      )
    },
  })

const listCommandsOfSaga = ({ database }: CommandDependencies) =>
  endpoint({
    summary: 'List the commands for a saga, newest first',
    replies: { 200: z.array(commandShape) },
    input: z.object({ id: text(), ...tenantParameter, ...pageParameters }),
    async handle({ id, tenant, ...page }, _caller, call) {
      const found = await commands.listCommands(database, { tenant, sagaId: id }, rowsOf(page))
      return pageReply(found.commands.map(presentCommand), page, found.total, call)
    },
  })

const listCommands = ({ database }: CommandDependencies) =>
  endpoint({
    summary: 'List the commands for all sagas, newest first',
    replies: { 200: z.array(commandShape) },
    input: z.object({
      ...tenantParameter,
      ...pageParameters,
      state: z.enum(commandStates).optional(),
      service_name: filledText().optional(),
      batch_id: z.uuid({ error: 'is invalid' }).optional(),
    }),
    async handle({ tenant, state, service_name, batch_id, ...page }, _caller, call) {
      const filter = { tenant, state, serviceName: service_name, batchId: batch_id }
      const found = await commands.listCommands(database, filter, rowsOf(page))
      return pageReply(found.commands.map(presentCommand), page, found.total, call)
    },
  })

const getCommand = ({ database }: CommandDependencies) =>
  endpoint({
    summary: 'Get a command',
    replies: { 200: commandShape },
    input: z.object({ id: commandId(), ...tenantParameter }),
    handle: async (key) => ok(presentCommand(await commands.getCommand(database, key))),
  })

const summaries: Record<Exclude<Decision, 'deliver_again'>, string> = {
  approve: 'Approve a command that another user requested',
  deny: 'Deny a command that waits for approval',
  withdraw: 'Withdraw a command that no orchestrator has received',
}

const decideCommand = (deps: CommandDependencies, decision: keyof typeof summaries) =>
  endpoint({
    summary: summaries[decision],
    replies: { 200: commandShape },
    refusals: [409],
    input: z.object({ id: commandId(), ...tenantParameter }),
    handle: async (key, caller: Caller, call) =>
      ok(presentCommand(await commands.decideCommand(deps, key, decision, operatorOf(caller, call)))),
  })

const batchSummaries: Record<BatchDecision, string> = {
  approve: 'Approve the commands of a batch that another user requested',
  deny: 'Deny the commands of a batch that wait for approval',
  withdraw: 'Withdraw the commands of a batch that no orchestrator has received',
}

const decideBatch = (deps: CommandDependencies, decision: BatchDecision) =>
  endpoint({
    summary: batchSummaries[decision],
    replies: { 200: decidedBatchShape },
    refusals: [409],
    input: z.object({ batch_id: z.uuid({ error: 'is invalid' }), ...tenantParameter }),
    async handle({ batch_id: batchId, tenant }, caller: Caller, call) {
      const key = { tenant, batchId }
      const done = await commands.decideBatch(deps, key, decision, operatorOf(caller, call))
      return ok({ batch_id: done.batchId, decided: done.decided, left_out: done.leftOut })
    },
  })

const deliverAgain = (deps: CommandDependencies) =>
  endpoint({
    summary: 'Deliver a command with an unknown result again',
    replies: { 200: commandShape },
    refusals: [409],
    input: z.object({ id: commandId(), ...tenantParameter, expires_in: expiresIn() }),
    handle: async ({ expires_in, ...key }, caller: Caller, call) =>
      ok(
        presentCommand(
          await commands.decideCommand(deps, key, 'deliver_again', operatorOf(caller, call), expires_in),
        ),
      ),
  })
