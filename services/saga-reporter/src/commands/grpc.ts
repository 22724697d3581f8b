import {
  type AcknowledgeCommandRequest,
  type AcknowledgeCommandResponse,
  CommandResult,
  CommandKind as Kind,
  type LeaseCommandsRequest,
  type LeaseCommandsResponse,
  type LeasedCommand,
  type SagaCommandsServer,
  SagaCommandsService,
} from '@switchyard/contracts/saga-commands'
import { invalidParameters } from '@switchyard/domain'
import { ownTenant } from '@switchyard/domain/access'
import type { CommandKind } from '@switchyard/domain/saga'
import type { Logger } from '@switchyard/service-kit/observability'
import { type AdmitReporter, type Reporter, requireOwnSagas } from '../access/access.js'
import { type GrpcService, limitRequests, unary } from '../grpc/grpc.js'
import { isUuid, readService, readToken, shownText, within } from '../shapes/grpc-parameters.js'
import type { Peer } from '../shapes/peer.js'
import type { CommandDependencies } from './commands.js'
import * as commands from './commands.js'
import type { CommandAnswer, CommandLease, WantedCommands } from './lease-store.js'

export interface SagaCommandsDependencies extends Pick<CommandDependencies, 'database' | 'waiting'> {
  admitReporter: AdmitReporter
  logger: Logger
}

const requestBytesMax = 64 * 1024

/** The service `switchyard.sagas.v1.SagaCommands`, for callers that may report events. */
export function sagaCommandsService({
  admitReporter,
  logger,
  ...deps
}: SagaCommandsDependencies): GrpcService {
  const implementation: SagaCommandsServer = {
    leaseCommands: unary<LeaseCommandsRequest, LeaseCommandsResponse, Reporter>(
      async (request, call, reporter) => {
        const gone = new AbortController()
        call.once('cancelled', () => gone.abort())
        if (call.cancelled) gone.abort()
        return lease(deps, request, reporter, { deadline: Number(call.getDeadline()), signal: gone.signal })
      },
      logger,
    ),
    acknowledgeCommand: unary<AcknowledgeCommandRequest, AcknowledgeCommandResponse, Reporter>(
      (request, _call, { peer }) => acknowledge(deps, request, peer),
      logger,
    ),
  }
  return {
    name: 'switchyard.sagas.v1.SagaCommands',
    definition: limitRequests(SagaCommandsService, requestBytesMax),
    implementation,
    admit: admitReporter,
  }
}

type Dependencies = Pick<CommandDependencies, 'database' | 'waiting'>

/** Time before its deadline at which a call ends, so that its answer arrives. */
const beforeDeadlineMs = 500

async function lease(
  deps: Dependencies,
  request: LeaseCommandsRequest,
  { peer, address }: Reporter,
  { deadline, signal }: { deadline: number; signal: AbortSignal },
): Promise<LeaseCommandsResponse> {
  const { waitSeconds, ...wanted } = readRequest(request, ownTenant(peer.tenants))
  requireOwnSagas(peer, wanted)
  const waitMs = Math.min(waitSeconds * 1000, deadline - Date.now() - beforeDeadlineMs)
  const leased = await commands.leaseCommands(deps, wanted, { waitMs, sender: peer.name ?? address, signal })
  return { commands: leased.map(toLeasedCommand) }
}

async function acknowledge(
  deps: Dependencies,
  { leaseToken, result, message }: AcknowledgeCommandRequest,
  { tenants, service }: Peer,
): Promise<AcknowledgeCommandResponse> {
  const answer = answers[result]
  if (!answer) throw invalidParameters(['result does not have a valid value'])
  const token = readToken(leaseToken)
  const key = token === null ? null : { token, tenants, service }
  await commands.acknowledgeCommand(deps, key, { answer, message: shownText(message) || null })
  return {}
}

const answers: Partial<Record<CommandResult, CommandAnswer | 'return'>> = {
  [CommandResult.COMMAND_RESULT_SUCCEEDED]: 'succeed',
  [CommandResult.COMMAND_RESULT_FAILED]: 'fail',
  [CommandResult.COMMAND_RESULT_REFUSED]: 'refuse',
  [CommandResult.COMMAND_RESULT_RETURNED]: 'return',
}

const limits = {
  commands: { least: 1, most: 100, usual: 1 },
  leaseSeconds: { least: 1, most: 3600, usual: 60 },
  waitSeconds: { least: 0, most: 60, usual: 0 },
  exceptIds: { least: 0, most: commands.exceptIdsMax, usual: 0 },
}

/**
 * @param tenantOtherwise the tenant when the request names none
 * @throws DomainError invalid-parameters
 */
function readRequest(
  request: LeaseCommandsRequest,
  tenantOtherwise: string,
): WantedCommands & { waitSeconds: number } {
  const { exceptIds } = request
  within('the number of except_ids', exceptIds.length, limits.exceptIds)
  if (!exceptIds.every(isUuid)) throw invalidParameters(['except_ids does not have valid values'])
  return {
    ...readService(request, tenantOtherwise),
    take: within('max', request.max || undefined, limits.commands),
    leaseSeconds: within('lease_seconds', request.leaseSeconds || undefined, limits.leaseSeconds),
    waitSeconds: within('wait_seconds', request.waitSeconds, limits.waitSeconds),
    worker: shownText(request.worker),
    exceptIds: new Set(exceptIds),
  }
}

const kinds: Record<CommandKind, Kind> = {
  retry: Kind.COMMAND_KIND_RETRY,
  compensate: Kind.COMMAND_KIND_COMPENSATE,
  skip: Kind.COMMAND_KIND_SKIP,
  cancel: Kind.COMMAND_KIND_CANCEL,
}

/** Returns a leased command as a message of `switchyard.sagas.v1`. */
const toLeasedCommand = (command: CommandLease): LeasedCommand => ({
  id: command.id,
  tenant: command.tenant,
  sagaId: command.sagaId,
  kind: kinds[command.kind],
  activityId: command.activityId ?? '',
  reason: command.reason,
  requestedBy: command.authorName,
  leaseToken: command.leaseToken,
  leasedUntil: command.dueAt,
  delivery: command.deliveries,
})
