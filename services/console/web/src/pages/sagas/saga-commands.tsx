import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { getPage, send } from '../../api/client'
import { useMay, useSession } from '../../api/session'
import { ActionDialog, textOf } from '../../components/action-dialog'
import { Badge, type Tone } from '../../components/badge'
import { Button } from '../../components/button'
import { type Column, DataTable } from '../../components/data-table'
import { SelectField, TextArea } from '../../components/fields'
import { Panel } from '../../components/page'
import { Empty, Shown } from '../../components/states'
import { Time } from '../../components/time'
import type { SagaActivity, SagaCommand, SagaDetail } from '../../generated/types.gen'
import { type SagaKey, sagaPath, sagaQueryKey } from './saga-queries'

const shownMax = 20
const openPeriodMs = 2000
const reasonCharsMax = 1000

type Kind = 'retry' | 'skip' | 'compensate' | 'cancel'

const kinds: Record<Kind, { name: string; explained: string }> = {
  retry: { name: 'Retry step', explained: 'The orchestrator tries the step again and goes on from there.' },
  skip: { name: 'Skip step', explained: 'The orchestrator goes on as if the step had been done.' },
  compensate: { name: 'Compensate saga', explained: 'The orchestrator undoes what the saga has done.' },
  cancel: {
    name: 'Cancel saga',
    explained: 'The orchestrator begins no further step and undoes the others.',
  },
}

const nameOf = (kind: string): string => kinds[kind as Kind]?.name ?? kind

const states: Record<string, { words: string; tone: Tone }> = {
  waiting_for_approval: { words: 'waiting for approval', tone: 'warn' },
  pending: { words: 'pending', tone: 'warn' },
  leased: { words: 'at the orchestrator', tone: 'busy' },
  succeeded: { words: 'succeeded', tone: 'good' },
  failed: { words: 'failed', tone: 'bad' },
  unknown: { words: 'unknown', tone: 'bad' },
}

const isOpen = ({ ended_at }: SagaCommand) => ended_at === null

const commandsKey = (id: SagaKey) => [...sagaQueryKey(id), 'commands']

/** What operators have asked of the orchestrator of the saga, and buttons to ask for more. */
export function SagaCommands({ id, saga }: { id: SagaKey; saga: SagaDetail }) {
  const mayChange = useMay('sagas.change')
  const [asking, setAsking] = useState<Kind>()
  const [deciding, setDeciding] = useState<Deciding>()
  const query = useQuery({
    queryKey: commandsKey(id),
    queryFn: ({ signal }) =>
      getPage<SagaCommand>(`${sagaPath(id)}/commands`, { tenant: id.tenant, per_page: shownMax }, signal),
    refetchInterval: ({ state }) => (state.data?.rows.some(isOpen) ? openPeriodMs : false),
  })
  const isBusy = query.data?.rows.some(isOpen) ?? true
  return (
    <Panel
      name="Commands"
      flush
      actions={mayChange && <Kinds saga={saga} disabled={isBusy} onChoose={setAsking} />}
    >
      <Shown query={query}>
        {({ rows }) => (
          <DataTable
            label="Commands"
            rows={rows}
            rowKey={(command) => command.id}
            columns={columnsFor(mayChange ? (given) => setDeciding(given) : undefined)}
            empty={
              <Empty title="Nobody has asked anything of the orchestrator">
                Its answers to commands, such as trying a step again, appear here.
              </Empty>
            }
          />
        )}
      </Shown>
      {asking && <AskDialog id={id} saga={saga} kind={asking} onClose={() => setAsking(undefined)} />}
      {deciding && <DecisionDialog id={id} {...deciding} onClose={() => setDeciding(undefined)} />}
    </Panel>
  )
}

function Kinds({
  saga,
  disabled,
  onChoose,
}: {
  saga: SagaDetail
  disabled: boolean
  onChoose: (kind: Kind) => void
}) {
  const offered = (Object.keys(kinds) as Kind[]).filter(
    (kind) => (kind !== 'retry' && kind !== 'skip') || saga.activities.length > 0,
  )
  return (
    <div className="flex flex-wrap gap-2">
      {offered.map((kind) => (
        <Button key={kind} disabled={disabled || saga.service_name === null} onClick={() => onChoose(kind)}>
          {kinds[kind].name}…
        </Button>
      ))}
    </div>
  )
}

/** Steps that have neither succeeded nor been undone, of which the last one stands still. */
const isUnfinished = ({ status }: SagaActivity) =>
  !['NotStarted', 'Executed', 'Revoked', 'Compensated'].includes(status)

function AskDialog({
  id,
  saga,
  kind,
  onClose,
}: {
  id: SagaKey
  saga: SagaDetail
  kind: Kind
  onClose: () => void
}) {
  const client = useQueryClient()
  const { name, explained } = kinds[kind]
  const isAboutStep = kind === 'retry' || kind === 'skip'
  const ask = async (form: FormData) => {
    const step = textOf(form, 'step')
    const body = { kind, reason: textOf(form, 'reason'), ...(step && { activity_id: step }) }
    await send<SagaCommand>('POST', `${sagaPath(id)}/commands`, body, { tenant: id.tenant })
    await client.invalidateQueries({ queryKey: commandsKey(id) })
    onClose()
  }
  return (
    <ActionDialog title={name} action={name} run={ask} onClose={onClose}>
      <p className="mb-3 text-sm text-quiet">
        {explained} It may refuse. The command waits an hour for an orchestrator of{' '}
        <span dir="auto">{saga.service_name}</span>.
      </p>
      {isAboutStep && (
        <SelectField
          label="Step"
          name="step"
          defaultValue={saga.activities.findLast(isUnfinished)?.activity_id}
        >
          {saga.activities.map(({ activity_id, order, status }) => (
            <option key={activity_id} value={activity_id}>
              {order === null ? '' : `${order}: `}
              {activity_id} ({status})
            </option>
          ))}
        </SelectField>
      )}
      <TextArea
        label="Reason"
        name="reason"
        hint="The orchestrator gets it, and it stays in the list."
        required
        rows={3}
        maxLength={reasonCharsMax}
      />
    </ActionDialog>
  )
}

type Decision = 'approve' | 'deny' | 'withdraw' | 'deliver_again'

interface Deciding {
  command: SagaCommand
  decision: Decision
}

const decisions: Record<Decision, { name: string; explained: string }> = {
  approve: { name: 'Approve', explained: 'The orchestrator gets the command.' },
  deny: { name: 'Deny', explained: 'No orchestrator gets the command.' },
  withdraw: { name: 'Withdraw', explained: 'No orchestrator gets the command any more.' },
  deliver_again: {
    name: 'Deliver again',
    explained:
      'An orchestrator has had the command and has not said what became of it. Look at the saga first: when it was done, it may be done twice.',
  },
}

function DecisionDialog({ id, command, decision, onClose }: Deciding & { id: SagaKey; onClose: () => void }) {
  const client = useQueryClient()
  const { name, explained } = decisions[decision]
  const decide = async () => {
    await send<SagaCommand>('POST', `/sagas/commands/${command.id}/${decision}`, {}, { tenant: id.tenant })
    await client.invalidateQueries({ queryKey: commandsKey(id) })
    onClose()
  }
  return (
    <ActionDialog title={`${name}: ${nameOf(command.kind)}`} action={name} run={decide} onClose={onClose}>
      <p className="mb-3 text-sm text-quiet">{explained}</p>
      <p className="mb-3 whitespace-pre-wrap" dir="auto">
        {command.reason}
      </p>
    </ActionDialog>
  )
}

const possible: Record<string, Decision[]> = {
  waiting_for_approval: ['approve', 'deny', 'withdraw'],
  pending: ['withdraw'],
  unknown: ['deliver_again'],
}

const columnsFor = (onDecide: ((deciding: Deciding) => void) | undefined): Column<SagaCommand>[] => [
  { header: 'Asked', cell: ({ created_at }) => <Time at={created_at} /> },
  {
    header: 'Command',
    cell: ({ kind, activity_id }) => (
      <>
        {nameOf(kind)}
        {activity_id !== null && (
          <div className="text-quiet" dir="auto">
            {activity_id}
          </div>
        )}
      </>
    ),
  },
  {
    header: 'State',
    cell: ({ state, message, deliveries }) => (
      <>
        <Badge tone={states[state]?.tone ?? 'plain'}>{states[state]?.words ?? state}</Badge>
        {deliveries > 1 && <div className="text-quiet">delivered {deliveries} times</div>}
        {message !== null && (
          <div className="line-clamp-3 max-w-md whitespace-pre-wrap" dir="auto">
            {message}
          </div>
        )}
      </>
    ),
  },
  {
    header: 'Reason',
    wide: true,
    cell: ({ reason }) => (
      <span dir="auto" className="line-clamp-2 max-w-md">
        {reason}
      </span>
    ),
  },
  {
    header: 'By',
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
  ...(onDecide
    ? [{ header: 'Actions', cell: (command: SagaCommand) => <Decisions {...{ command, onDecide }} /> }]
    : []),
]

function Decisions({ command, onDecide }: { command: SagaCommand; onDecide: (deciding: Deciding) => void }) {
  const { user } = useSession()
  const own = command.author.id === user?.id
  const offered = (possible[command.state] ?? []).filter((decision) => decision !== 'approve' || !own)
  return (
    <div className="flex flex-wrap gap-2">
      {offered.map((decision) => (
        <Button key={decision} onClick={() => onDecide({ command, decision })}>
          {decisions[decision].name}
        </Button>
      ))}
    </div>
  )
}
