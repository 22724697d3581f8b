import { canBeAsked, isAboutStep, isStepOpen } from '@switchyard/domain/saga-command'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { getPage, send } from '../../api/client'
import { useMay } from '../../api/session'
import { ActionDialog, textOf } from '../../components/action-dialog'
import { Button } from '../../components/button'
import { DataTable } from '../../components/data-table'
import { SelectField, TextArea } from '../../components/fields'
import { Panel } from '../../components/page'
import { Empty, Shown } from '../../components/states'
import type { SagaActivity, SagaCommand, SagaDetail } from '../../generated/types.gen'
import {
  commandColumns,
  commandsKey,
  type Deciding,
  DecisionDialog,
  isOpen,
  type Kind,
  kinds,
  openPeriodMs,
} from './command-parts'
import { type SagaKey, sagaPath } from './saga-queries'

const shownMax = 20
const reasonCharsMax = 1000

/** The commands of operators to the orchestrator of the saga, and buttons to request more. */
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
            columns={commandColumns(mayChange ? setDeciding : undefined)}
            empty={
              <Empty title="Nobody has asked anything of the orchestrator">
                Its answers to commands, such as trying a step again, appear here.
              </Empty>
            }
          />
        )}
      </Shown>
      {asking && <AskDialog id={id} saga={saga} kind={asking} onClose={() => setAsking(undefined)} />}
      {deciding && <DecisionDialog {...deciding} onClose={() => setDeciding(undefined)} />}
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
    (kind) => canBeAsked(kind, saga) && (!isAboutStep(kind) || saga.activities.some(isOpenStep)),
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

const isOpenStep = ({ status }: SagaActivity) => isStepOpen(status)

/** Returns whether a step is unfinished. The saga stands at the last of these steps. */
const isUnfinished = (step: SagaActivity) => isOpenStep(step) && step.status !== 'NotStarted'

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
        {explained} It may refuse. The command is about this saga alone,{' '}
        <bdi className="wrap-anywhere">{saga.saga_id}</bdi>, and waits an hour for an orchestrator of{' '}
        <bdi>{saga.service_name}</bdi>.
      </p>
      {isAboutStep(kind) && (
        <SelectField
          label="Step"
          name="step"
          defaultValue={saga.activities.findLast(isUnfinished)?.activity_id}
        >
          {saga.activities.filter(isOpenStep).map(({ activity_id, order, status }) => (
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
