import { useQueryClient } from '@tanstack/react-query'
import { send } from '../../api/client'
import { useSession } from '../../api/session'
import { ActionDialog } from '../../components/action-dialog'
import { Badge, type Tone } from '../../components/badge'
import { Button } from '../../components/button'
import type { Column } from '../../components/data-table'
import { Time } from '../../components/time'
import type { SagaCommand } from '../../generated/types.gen'
import type { SagaKey } from './saga-queries'

export type Kind = 'retry' | 'skip' | 'compensate' | 'cancel'

export const kinds: Record<Kind, { name: string; explained: string }> = {
  retry: { name: 'Retry step', explained: 'The orchestrator tries the step again and goes on from there.' },
  skip: { name: 'Skip step', explained: 'The orchestrator goes on as if the step had been done.' },
  compensate: { name: 'Compensate saga', explained: 'The orchestrator undoes what the saga has done.' },
  cancel: {
    name: 'Cancel saga',
    explained: 'The orchestrator begins no further step and undoes the others.',
  },
}

export const nameOf = (kind: string): string => kinds[kind as Kind]?.name ?? kind

const states: Record<string, { words: string; tone: Tone }> = {
  waiting_for_approval: { words: 'waiting for approval', tone: 'warn' },
  pending: { words: 'pending', tone: 'warn' },
  leased: { words: 'at the orchestrator', tone: 'busy' },
  succeeded: { words: 'succeeded', tone: 'good' },
  failed: { words: 'failed', tone: 'bad' },
  unknown: { words: 'unknown', tone: 'bad' },
}

export const commandStates = [...Object.keys(states), 'refused', 'denied', 'withdrawn', 'expired'].map(
  (value) => ({ value, label: states[value]?.words ?? value }),
)

export const isOpen = ({ ended_at }: SagaCommand) => ended_at === null

/** Polling interval of commands while one of them is open. */
export const openPeriodMs = 2000

export const commandsKey = ({ tenant, sagaId }: SagaKey) => ['saga-commands', tenant ?? '', sagaId]

type Decision = 'approve' | 'deny' | 'withdraw' | 'deliver_again'

export interface Deciding {
  command: SagaCommand
  decision: Decision
}

export const decisions: Record<Decision, { name: string; explained: string }> = {
  approve: { name: 'Approve', explained: 'The orchestrator gets the command.' },
  deny: { name: 'Deny', explained: 'No orchestrator gets the command.' },
  withdraw: { name: 'Withdraw', explained: 'No orchestrator gets the command any more.' },
  deliver_again: {
    name: 'Deliver again',
    explained:
      'An orchestrator has had the command and has not said what became of it. Look at the saga first: when it was done, it may be done twice.',
  },
}

/** Confirms a decision, and makes it. */
export function DecisionDialog({ command, decision, onClose }: Deciding & { onClose: () => void }) {
  const client = useQueryClient()
  const { name, explained } = decisions[decision]
  const decide = async () => {
    await send<SagaCommand>(
      'POST',
      `/sagas/commands/${command.id}/${decision}`,
      {},
      { tenant: command.tenant },
    )
    await client.invalidateQueries({ queryKey: ['saga-commands'] })
    onClose()
  }
  return (
    <ActionDialog title={`${name}: ${nameOf(command.kind)}`} action={name} run={decide} onClose={onClose}>
      <p className="mb-3 text-sm text-quiet">{explained}</p>
      <p className="mb-3 whitespace-pre-wrap wrap-anywhere">
        {nameOf(command.kind)} of <bdi>{command.saga_id}</bdi>, asked by <bdi>{command.author.username}</bdi>:{' '}
        <bdi>{command.reason}</bdi>
      </p>
    </ActionDialog>
  )
}

/** The possible decisions about a command by its state. */
export const possible: Record<string, Decision[]> = {
  waiting_for_approval: ['approve', 'deny', 'withdraw'],
  pending: ['withdraw'],
  unknown: ['deliver_again'],
}

/** @param onDecide unset: this session cannot decide */
export const commandColumns = (onDecide?: (deciding: Deciding) => void): Column<SagaCommand>[] => [
  { header: 'Asked', below: true, cell: ({ created_at }) => <Time at={created_at} /> },
  {
    header: 'Command',
    cell: ({ kind, activity_id }) => (
      <>
        {nameOf(kind)}
        {activity_id !== null && (
          <div className="text-quiet wrap-anywhere" dir="auto">
            {activity_id}
          </div>
        )}
      </>
    ),
  },
  {
    header: 'State',
    cell: (command) => (
      <>
        <CommandState command={command} />
        {onDecide && <Decisions command={command} onDecide={onDecide} />}
      </>
    ),
  },
  {
    header: 'Reason',
    below: true,
    cell: ({ reason }) => (
      <span dir="auto" className="line-clamp-2 max-w-md">
        {reason}
      </span>
    ),
  },
  {
    header: 'By',
    below: true,
    cell: ({ author, decided_by }) => (
      <>
        <span dir="auto">{author.username}</span>
        {decided_by !== null && (
          <div className="text-quiet" dir="auto">
            decided by {decided_by}
          </div>
        )}
      </>
    ),
  },
]

const CommandState = ({ command: { state, message, deliveries } }: { command: SagaCommand }) => (
  <>
    <Badge tone={states[state]?.tone ?? 'plain'}>{states[state]?.words ?? state}</Badge>
    {deliveries > 1 && <div className="text-quiet">delivered {deliveries} times</div>}
    {message !== null && (
      <div className="line-clamp-3 max-w-md whitespace-pre-wrap wrap-anywhere" dir="auto">
        {message}
      </div>
    )}
  </>
)

function Decisions({ command, onDecide }: { command: SagaCommand; onDecide: (deciding: Deciding) => void }) {
  const { user } = useSession()
  const own = command.author.id === user?.id
  const offered = (possible[command.state] ?? []).filter((decision) => decision !== 'approve' || !own)
  return (
    <div className="mt-1 flex flex-wrap gap-2 empty:hidden">
      {offered.map((decision) => (
        <Button key={decision} onClick={() => onDecide({ command, decision })}>
          {decisions[decision].name}
        </Button>
      ))}
    </div>
  )
}
